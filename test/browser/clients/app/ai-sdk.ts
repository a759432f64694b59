/** Vercel's AI SDK with its provider for OpenAI-compatible servers. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateObject, generateText, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';
import type { Engine } from '../../../../src/index.ts';
import { baseURL, cities, cutEngine, embeddedEngine, limitBeforeEnd, model, question } from './engines.ts';

const provider = (engine: Engine) =>
  createOpenAICompatible({
    name: 'engine',
    baseURL,
    fetch: engine.fetch,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });

function weatherTool(ran: unknown[]) {
  return tool({
    description: 'Get the current weather for a location.',
    inputSchema: z.object({
      location: z.string().describe('City name'),
      unit: z.enum(['celsius', 'fahrenheit']).optional().describe('Temperature unit'),
    }),
    execute: async (input) => {
      ran.push(input);
      return cities[input.location] ?? { error: 'unknown city' };
    },
  });
}

/** Two steps: a call, and the answer that its result leads to. */
export async function stream() {
  const engine = await embeddedEngine();
  const ran: unknown[] = [];
  const finished: object[] = [];
  const result = streamText({
    model: provider(engine)(model),
    prompt: question,
    tools: { get_weather: weatherTool(ran) },
    stopWhen: stepCountIs(3),
    onFinish: ({ totalUsage, finishReason }) => {
      finished.push({ totalUsage, finishReason });
    },
  });
  const parts: string[] = [];
  for await (const part of result.fullStream) if (part.type !== parts.at(-1)) parts.push(part.type);
  const steps = await result.steps;
  return {
    parts,
    ran,
    finished,
    text: await result.text,
    steps: steps.map(({ finishReason, reasoningText, usage }) => ({ finishReason, reasoningText, usage })),
    // What the second step sent back.
    sent: steps[1]?.request.body as { messages: object[] } | undefined,
  };
}

export async function object() {
  const engine = await embeddedEngine();
  const { object, usage } = await generateObject({
    model: provider(engine)(model),
    prompt: question,
    schema: z.object({ city: z.string().max(12), degrees: z.int().min(-90).max(60), dry: z.boolean() }),
  });
  return { object, usage };
}

/** The model is cut inside the arguments of its call, by `end`. */
export async function cut(end: 'length' | 'stop') {
  const engine = await cutEngine();
  const ran: unknown[] = [];
  const request = {
    model: provider(engine)(model),
    prompt: question,
    tools: { get_weather: weatherTool(ran) },
    stopWhen: stepCountIs(3),
    maxOutputTokens: end === 'length' ? await limitBeforeEnd(engine) : undefined,
  };
  const whole = await generateText(request);
  const streamed = streamText({ ...request, includeRawChunks: true });
  const raw: unknown[] = [];
  for await (const part of streamed.fullStream) if (part.type === 'raw') raw.push(part.rawValue);
  const outcome = async (result: typeof whole | typeof streamed) => ({
    finishReason: await result.finishReason,
    steps: (await result.steps).length,
    toolCalls: await result.toolCalls,
    reasoning: await result.reasoningText,
  });
  return {
    ran,
    whole: { ...(await outcome(whole)), body: whole.response.body },
    streamed: { ...(await outcome(streamed)), raw },
  };
}
