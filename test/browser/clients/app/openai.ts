/** OpenAI's own client. */
import OpenAI from 'openai';
import { zodFunction, zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import type { Engine } from '../../../../src/index.ts';
import { baseURL, cities, cutEngine, embeddedEngine, limitBeforeEnd, model, question } from './engines.ts';

const openai = (engine: Engine) =>
  new OpenAI({ baseURL, apiKey: '-', fetch: engine.fetch, dangerouslyAllowBrowser: true });

const place = z.object({
  location: z.string().describe('City name'),
  unit: z.enum(['celsius', 'fahrenheit']).describe('Temperature unit'),
});

const messages = [{ role: 'user' as const, content: question }];

function weatherTool(ran: unknown[]) {
  return zodFunction({
    name: 'get_weather',
    description: 'Get the current weather for a location.',
    parameters: place,
    function: (input) => {
      ran.push(input);
      return cities[input.location] ?? { error: 'unknown city' };
    },
  });
}

/** The helper's events. */
export async function stream() {
  const client = openai(await embeddedEngine());
  const events: string[] = [];
  const note = (event: string) => () => {
    if (event !== events.at(-1)) events.push(event);
  };
  const stream = client.chat.completions
    .stream({ model, messages, tools: [weatherTool([])] })
    .on('chunk', note('chunk'))
    .on('tool_calls.function.arguments.done', note('call done'))
    .on('end', note('end'));
  const { choices } = await stream.finalChatCompletion();
  return { events, called: choices[0]?.message.tool_calls?.[0]?.function.parsed_arguments };
}

export async function parse() {
  const client = openai(await embeddedEngine());
  const schema = z.object({ city: z.string().max(12), degrees: z.int().min(-90).max(60), dry: z.boolean() });
  const response_format = zodResponseFormat(schema, 'report');
  const { choices } = await client.chat.completions.parse({ model, messages, response_format });
  return choices[0]?.message.parsed;
}

export async function runTools() {
  const client = openai(await embeddedEngine());
  const ran: unknown[] = [];
  const runner = client.chat.completions.runTools({
    model,
    messages,
    tools: [weatherTool(ran)],
    stream: true,
  });
  return { answer: await runner.finalContent(), ran };
}

/** The model is cut inside the arguments of its call, by `end`. */
export async function cut(end: 'length' | 'stop') {
  const engine = await cutEngine();
  const client = openai(engine);
  const ran: unknown[] = [];
  const max_tokens = end === 'length' ? await limitBeforeEnd(engine) : null;
  // Not strict: a grammar would not let the model end inside a call.
  const tool = {
    type: 'function' as const,
    function: {
      name: 'get_weather',
      description: 'Get the current weather for a location.',
      parameters: { type: 'object', properties: { location: { type: 'string' } } },
      function: (args: string) => {
        ran.push(args);
        return 'sunny';
      },
    },
  };
  const params = { model, messages, tools: [tool], max_tokens };
  const whole = await client.chat.completions
    .runTools(params)
    .finalChatCompletion()
    .catch((error) => String(error));
  const runner = client.chat.completions.runTools({ ...params, stream: true });
  const raw: unknown[] = [];
  runner.on('chunk', (chunk) => raw.push(chunk));
  await runner.done();
  return { ran, whole, streamed: { raw } };
}
