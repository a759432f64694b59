/** OpenAI's Agents SDK with its model for chat completions. */
import {
  Agent,
  handoff,
  MaxTurnsExceededError,
  type Model,
  OpenAIChatCompletionsModel,
  Runner,
  type RunStreamEvent,
  tool,
} from '@openai/agents';
import { removeAllTools } from '@openai/agents-core/extensions';
import OpenAI from 'openai';
import { z } from 'zod';
import type { Engine } from '../../../../src/index.ts';
import { baseURL, cities, cutEngine, embeddedEngine, limitBeforeEnd, model, question } from './engines.ts';

function chatModel(engine: Engine): Model {
  const client = new OpenAI({ baseURL, apiKey: '-', fetch: engine.fetch, dangerouslyAllowBrowser: true });
  return new OpenAIChatCompletionsModel(client, model);
}

const runner = () => new Runner({ tracingDisabled: true });

function weatherTool(ran: unknown[]) {
  return tool({
    name: 'get_weather',
    description: 'Get the current weather for a location.',
    strict: true,
    parameters: z.object({
      location: z.string().describe('City name'),
      unit: z.enum(['celsius', 'fahrenheit']).describe('Temperature unit'),
    }),
    execute: (input) => {
      ran.push(input);
      return JSON.stringify(cities[input.location] ?? { error: 'unknown city' });
    },
  });
}

/** The same without a grammar, which would not let the model end inside a call. */
function looseWeatherTool(ran: unknown[]) {
  return tool({
    name: 'get_weather',
    description: 'Get the current weather for a location.',
    strict: false,
    parameters: {
      type: 'object',
      properties: { location: { type: 'string' } },
      required: ['location'],
      additionalProperties: true,
    },
    execute: (input) => {
      ran.push(input);
      return 'sunny';
    },
  });
}

function calculatorTool(ran: unknown[]) {
  return tool({
    name: 'calculator',
    description: 'Evaluate a math expression.',
    strict: true,
    parameters: z.object({ expression: z.string().describe('The expression') }),
    execute: (input) => {
      ran.push(input);
      const [left, right] = input.expression.split('*').map(Number);
      return JSON.stringify({ result: (left ?? 0) * (right ?? 0) });
    },
  });
}

/** An agent that can only hand over, to one that has two tools. */
function desk(engine: Engine, ran: unknown[]) {
  const expert = new Agent({
    name: 'expert',
    model: chatModel(engine),
    tools: [weatherTool(ran), calculatorTool(ran)],
  });
  const reception = new Agent({
    name: 'reception',
    model: chatModel(engine),
    // The expert reads the question, and not that it was handed over, which the embedded model knows nothing of.
    handoffs: [handoff(expert, { inputFilter: removeAllTools })],
    modelSettings: { toolChoice: 'required' },
  });
  return { expert, reception };
}

/** What is asked of the reception, streamed or not. */
export async function handOff(asked: string, streamed: boolean) {
  const engine = await embeddedEngine();
  const ran: unknown[] = [];
  const { reception } = desk(engine, ran);
  const events: string[] = [];
  if (!streamed) {
    const result = await runner().run(reception, asked);
    return {
      ran,
      events,
      last: result.lastAgent?.name,
      answer: result.finalOutput,
      usage: result.state.usage,
    };
  }
  const result = await runner().run(reception, asked, { stream: true });
  for await (const event of result as AsyncIterable<RunStreamEvent>) {
    const kind = event.type === 'run_item_stream_event' ? event.name : event.type;
    if (kind !== events.at(-1)) events.push(kind);
  }
  await result.completed;
  return { ran, events, last: result.lastAgent?.name, answer: result.finalOutput, usage: result.state.usage };
}

/** The model is cut inside the arguments of its call, by `end`. */
export async function cut(end: 'length' | 'stop') {
  const engine = await cutEngine();
  const ran: unknown[] = [];
  const agent = new Agent({
    name: 'expert',
    model: chatModel(engine),
    tools: [looseWeatherTool(ran)],
    modelSettings: end === 'length' ? { maxTokens: await limitBeforeEnd(engine) } : {},
  });
  // A turn without a message or a call is none to the runner, which asks again until its turns are used up.
  const error = await runner()
    .run(agent, question, { maxTurns: 1 })
    .catch((error) => error);
  const result = await runner().run(agent, question, { stream: true, maxTurns: 1 });
  const raw: unknown[] = [];
  const streamedError = await (async () => {
    for await (const event of result) if (event.type === 'raw_model_stream_event') raw.push(event.data);
  })().catch((error) => error);
  return {
    ran,
    whole: {
      isOutOfTurns: error instanceof MaxTurnsExceededError,
      response: error.state?._lastTurnResponse?.providerData,
    },
    streamed: { isOutOfTurns: streamedError instanceof MaxTurnsExceededError, raw },
  };
}
