/** The embedded model writes the same with and without drafts, whatever a request asks for. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatCompletion, ChatCompletionCreateParamsNonStreaming } from '../../../src/chat/types.ts';
import { createEngine, type Engine } from '../../../src/engine/engine.ts';
import type { EngineOptions } from '../../../src/engine/options.ts';
import type { Timings } from '../../../src/protocol.ts';
import { Drafts } from '../../../worker/drafts/drafts.ts';
import { readTools } from '../engine/conversations.ts';
import { liveWorker } from '../engine/in-process-worker.ts';

/** As if tokens more cost next to nothing: then what is drafted depends on no clock. */
const fixedCosts = { pass: () => {}, chosen: () => {}, of: (tokens: number) => 1 + 0.01 * tokens };

const user = (content: string) => [{ role: 'user' as const, content }];
const weather = [
  ...user("What's the weather in Paris in celsius?"),
  {
    role: 'assistant' as const,
    content: null,
    tool_calls: [
      {
        id: 'call_1',
        type: 'function' as const,
        function: { name: 'get_weather', arguments: '{"location": "Paris", "unit": "celsius"}' },
      },
    ],
  },
  {
    role: 'tool' as const,
    tool_call_id: 'call_1',
    content: '{"location": "Paris", "temperature": 18, "unit": "celsius", "condition": "cloudy"}',
  },
];
const tools = readTools().slice(0, 2);
const strict = tools.map((tool) =>
  tool.type === 'function' ? { ...tool, function: { ...tool.function, strict: true } } : tool,
);

/** Each is asked twice, the second time with the first answer to copy from. */
const requests: Record<string, Omit<ChatCompletionCreateParamsNonStreaming, 'model'>> = {
  'greedy, copying a tool result': { messages: weather, tools, max_tokens: 60 },
  sampled: { messages: weather, tools, temperature: 1.2, top_k: 20, seed: 5, max_tokens: 40 },
  'top-p, min-p and penalties': {
    messages: user('What can you do?'),
    temperature: 1,
    top_p: 0.9,
    min_p: 0.01,
    repetition_penalty: 1.2,
    presence_penalty: 0.3,
    frequency_penalty: 0.2,
    seed: 3,
    max_tokens: 40,
  },
  'strict tools': { messages: user("What's the weather in Tokyo?"), tools: strict, max_tokens: 80 },
  'a required call, hot': {
    messages: user('What is 23 * 19?'),
    tools: strict,
    tool_choice: 'required',
    temperature: 1.3,
    seed: 8,
    thinking_token_budget: 6,
    max_tokens: 60,
  },
  'logprobs of forced text': {
    messages: user("What's the weather in Tokyo?"),
    tools: strict,
    tool_choice: 'required',
    reasoning_effort: 'none',
    logprobs: true,
    top_logprobs: 3,
    max_tokens: 30,
  },
  'a stop string': { messages: weather, tools, stop: ['18'], max_tokens: 60 },
  'stop tokens, least tokens and a bias': {
    messages: user('Hello!'),
    stop_token_ids: [13],
    min_tokens: 12,
    logit_bias: { 13: 3 },
    temperature: 0.8,
    seed: 1,
    max_tokens: 40,
  },
  'two choices': { messages: user('What is 12 * 12?'), n: 2, temperature: 1, seed: 4, max_tokens: 30 },
  'a JSON schema': {
    messages: user('Name a city.'),
    reasoning_effort: 'none',
    response_format: {
      type: 'json_schema',
      json_schema: {
        name: 'city',
        schema: {
          type: 'object',
          properties: { city: { type: 'string', maxLength: 12 }, known: { type: 'boolean' } },
          required: ['city', 'known'],
          additionalProperties: false,
        },
      },
    },
    temperature: 1.5,
    seed: 2,
    max_tokens: 40,
  },
};

describe('answers of the embedded model', () => {
  const engines: Engine[] = [];
  const engineOf = async (options: EngineOptions) => {
    const engine = await createEngine(options);
    engines.push(engine);
    return engine;
  };
  let plain: Engine;
  let drafting: Engine;
  beforeAll(async () => {
    plain = await engineOf({ worker: () => liveWorker() as unknown as Worker, drafts: false });
    const drafts = new Drafts(fixedCosts);
    drafting = await engineOf({ worker: () => liveWorker(drafts) as unknown as Worker });
  }, 120_000);
  afterAll(() => Promise.all(engines.map((engine) => engine.close())));

  /** What of an answer has to be the same. */
  const told = ({ choices, usage }: ChatCompletion) => ({
    choices: choices.map(({ logprobs: _, ...choice }) => ({
      ...choice,
      message: {
        ...choice.message,
        tool_calls: choice.message.tool_calls?.map(({ id: _id, ...call }) => call),
      },
    })),
    usage: { ...usage, prompt_tokens_details: null },
  });
  const logprobs = ({ choices }: ChatCompletion) =>
    choices.flatMap(({ logprobs }) => logprobs?.content?.map(({ logprob }) => logprob) ?? []);

  it.each(Object.entries(requests))(
    'are the same: %s',
    async (_name, request) => {
      const body = { ...request, return_token_ids: true, include_details: true };
      const expected = await plain.chat.completions.create(body);
      const timings: Timings[] = [];
      for (const _time of [1, 2]) {
        const answer = await drafting.chat.completions.create(body);
        expect(told(answer)).toEqual(told(expected));
        for (const [index, value] of logprobs(answer).entries()) {
          expect(value).toBeCloseTo(logprobs(expected)[index]!, 3);
        }
        timings.push(answer.tokenprism!.timings);
      }
      const without = expected.tokenprism!.timings;
      expect(without).toMatchObject({ draftedTokens: 0, acceptedTokens: 0 });
      const [, second] = timings as [Timings, Timings];
      expect(second.acceptedTokens).toBeGreaterThan(0);
      expect(second.draftedTokens).toBeGreaterThanOrEqual(second.acceptedTokens);
      expect(second.forwards).toBeLessThan(without.forwards);
      expect(second.forcedTokens).toBe(without.forcedTokens);
    },
    120_000,
  );
});
