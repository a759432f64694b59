/** What holds an answer also holds one that goes on with a message, with the embedded model. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatCompletionMessageParam, ChatCompletionTool } from '../../../src/chat/types.ts';
import { createEngine, type Engine } from '../../../src/engine/engine.ts';
import { liveWorker } from './in-process-worker.ts';

const tools: ChatCompletionTool[] = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      parameters: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
    },
  },
];
const endingIn = (last: Partial<ChatCompletionMessageParam>): ChatCompletionMessageParam[] => [
  { role: 'user', content: "What's the weather in Paris in celsius?" },
  { role: 'assistant', content: null, ...last } as ChatCompletionMessageParam,
];

describe('a continued message', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await createEngine({ worker: () => liveWorker() as unknown as Worker });
  }, 120_000);
  afterAll(() => engine?.close());

  it('ends in a call that is required', async () => {
    const { choices } = await engine.chat.completions.create({
      messages: endingIn({ content: 'I will look.' }),
      continue_final_message: true,
      echo: true,
      tools,
      tool_choice: 'required',
      temperature: 0,
      max_tokens: 80,
    });
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: 'I will look.',
        reasoning: null,
        tool_calls: [{ function: { name: 'get_weather' } }],
      },
    });
  }, 180_000);

  it('thinks on, to the end of its budget, and then answers in the form that was asked for', async () => {
    const { choices, usage } = await engine.chat.completions.create({
      messages: endingIn({ reasoning: 'The user asks' }),
      continue_final_message: true,
      structured_outputs: { choice: ['warm', 'cold'] },
      thinking_token_budget: 5,
      max_tokens: 60,
      seed: 1,
    });
    expect(['warm', 'cold']).toContain(choices[0]!.message.content);
    expect(choices[0]!.message.reasoning).not.toContain('think>');
    expect(usage!.completion_tokens_details!.reasoning_tokens).toBeLessThanOrEqual(5);
  }, 180_000);

  it('is the same answer in two parts as in one', async () => {
    const whole = await engine.chat.completions.create({
      messages: endingIn({}).slice(0, 1),
      tools,
      temperature: 0,
      max_tokens: 120,
    });
    const { reasoning, tool_calls } = whole.choices[0]!.message;
    // Cut at a space, where the tokens of both parts are those of the whole.
    const part = reasoning!.slice(0, reasoning!.indexOf(' '));
    const rest = await engine.chat.completions.create({
      messages: endingIn({ reasoning: part }),
      tools,
      temperature: 0,
      max_tokens: 120,
      continue_final_message: true,
      echo: true,
    });
    expect(rest.choices[0]!.message.reasoning).toBe(reasoning);
    expect(rest.choices[0]!.message.tool_calls?.map((call) => call.function)).toEqual(
      tool_calls?.map((call) => call.function),
    );
  }, 180_000);
});
