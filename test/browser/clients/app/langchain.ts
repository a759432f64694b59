/** LangChain's chat model for OpenAI. */
import { HumanMessage, type ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';
import type { Engine } from '../../../../src/index.ts';
import { baseURL, cities, cutEngine, embeddedEngine, limitBeforeEnd, model, question } from './engines.ts';

const chat = (engine: Engine, more: ConstructorParameters<typeof ChatOpenAI>[0] = {}) =>
  new ChatOpenAI({
    model,
    apiKey: '-',
    configuration: { baseURL, fetch: engine.fetch, dangerouslyAllowBrowser: true },
    ...more,
  });

function weatherTool(ran: unknown[]) {
  return tool(
    async (input) => {
      ran.push(input);
      return JSON.stringify(cities[input.location] ?? { error: 'unknown city' });
    },
    {
      name: 'get_weather',
      description: 'Get the current weather for a location.',
      schema: z.object({
        location: z.string().describe('City name'),
        unit: z.enum(['celsius', 'fahrenheit']).optional().describe('Temperature unit'),
      }),
    },
  );
}

export async function stream() {
  const engine = await embeddedEngine();
  const chunks = [];
  let reasoning = '';
  let whole: Awaited<ReturnType<ChatOpenAI['invoke']>> | undefined;
  for await (const chunk of await chat(engine).stream('What is the capital of France?')) {
    chunks.push(chunk.text);
    reasoning += chunk.additional_kwargs.reasoning_content ?? '';
    whole = whole ? whole.concat(chunk) : chunk;
  }
  return {
    chunks: chunks.filter((text) => text !== '').length,
    text: chunks.join(''),
    reasoning,
    usage: whole?.usage_metadata,
    finish: whole?.response_metadata.finish_reason,
  };
}

/** A call, its result, and the answer. */
export async function tools() {
  const engine = await embeddedEngine();
  const ran: unknown[] = [];
  const weather = weatherTool(ran);
  const bound = chat(engine).bindTools([weather]);
  const asked = new HumanMessage(question);
  const called = await bound.invoke([asked]);
  const results: ToolMessage[] = [];
  for (const call of called.tool_calls ?? [])
    results.push(await weather.invoke({ ...call, type: 'tool_call' }));
  const answer = await bound.invoke([asked, called, ...results]);
  return { ran, calls: called.tool_calls, answer: answer.text };
}

export async function structured() {
  const engine = await embeddedEngine();
  const schema = z.object({ city: z.string().max(12), degrees: z.int().min(-90).max(60), dry: z.boolean() });
  const ask = (method: 'jsonSchema' | 'functionCalling') =>
    chat(engine).withStructuredOutput(schema, { name: 'report', method }).invoke(question);
  return { jsonSchema: await ask('jsonSchema'), functionCalling: await ask('functionCalling') };
}

/** The model is cut inside the arguments of its call, by `end`. */
export async function cut(end: 'length' | 'stop') {
  const engine = await cutEngine();
  const ran: unknown[] = [];
  const maxTokens = end === 'length' ? await limitBeforeEnd(engine) : undefined;
  const bound = chat(engine, { maxTokens, __includeRawResponse: true }).bindTools([weatherTool(ran)]);
  const whole = await bound.invoke(question);
  let streamed: typeof whole | undefined;
  const raw: unknown[] = [];
  for await (const chunk of await bound.stream(question)) {
    raw.push(chunk.additional_kwargs.__raw_response);
    streamed = streamed ? streamed.concat(chunk) : chunk;
  }
  const outcome = (message: typeof whole | undefined) => ({
    finish: message?.response_metadata.finish_reason,
    calls: message?.tool_calls,
    invalid: message?.invalid_tool_calls,
  });
  return {
    ran,
    whole: { ...outcome(whole), raw: whole.additional_kwargs.__raw_response },
    streamed: { ...outcome(streamed), raw },
  };
}
