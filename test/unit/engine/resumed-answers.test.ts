/** An answer whose worker crashes is the answer that comes without the crash, whatever was asked for and whenever. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatCompletionFunctionTool } from '../../../src/chat/types.ts';
import { createEngine, type Engine } from '../../../src/engine/engine.ts';
import type { FromWorker } from '../../../src/protocol.ts';
import type { Body } from './both-ways.ts';
import { type InProcessWorker, liveWorker } from './in-process-worker.ts';

const tool: ChatCompletionFunctionTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Get the current weather for a location.',
    parameters: {
      type: 'object',
      properties: {
        location: { type: 'string', maxLength: 12 },
        unit: { enum: ['celsius', 'fahrenheit'] },
        days: { type: 'array', items: { type: 'integer', minimum: 0, maximum: 9 }, maxItems: 3 },
      },
      required: ['location', 'unit', 'days'],
    },
  },
};

/** Hot, so that every number that is drawn counts. */
const hot = { temperature: 1.3, top_k: 40, seed: 11 };
const asked: Record<string, Partial<Body>> = {
  greedy: { temperature: 0, max_tokens: 24 },
  drawn: { ...hot, max_tokens: 24 },
  'penalties and bias': {
    ...hot,
    presence_penalty: 0.7,
    frequency_penalty: 0.4,
    repetition_penalty: 1.2,
    logit_bias: { 300: 2 },
    max_tokens: 24,
  },
  'log probabilities': { ...hot, logprobs: true, top_logprobs: 2, return_token_ids: true, max_tokens: 16 },
  'a call with a budget of thoughts': {
    ...hot,
    tools: [tool],
    tool_choice: 'required',
    parallel_tool_calls: false,
    thinking_token_budget: 6,
    max_tokens: 120,
  },
  'a call, told token by token': {
    ...hot,
    tools: [tool],
    tool_choice: 'required',
    thinking_token_budget: 3,
    logprobs: true,
    max_tokens: 90,
  },
  'JSON content': {
    ...hot,
    thinking_token_budget: 4,
    response_format: {
      type: 'json_schema',
      json_schema: {
        name: 'place',
        schema: {
          type: 'object',
          properties: { name: { type: 'string', maxLength: 10 }, number: { type: 'integer' } },
          required: ['name', 'number'],
          additionalProperties: false,
        },
      },
    },
    max_tokens: 80,
  },
  'three choices': { ...hot, n: 3, max_tokens: 14 },
  'a stop string': { ...hot, thinking_token_budget: 2, stop: ['e'], min_tokens: 9, max_tokens: 40 },
};

/** What was said before is there to be drafted from. */
const messages: Body['messages'] = [
  { role: 'user', content: 'What is the capital of France?' },
  { role: 'assistant', content: 'The capital of France is Paris. The capital of Italy is Rome.' },
  { role: 'user', content: 'What is the capital of France?' },
];

describe('an answer that goes on in a new worker', () => {
  /** Ends a worker of the engine, by the messages that it sends. */
  let fault: (message: FromWorker) => boolean = () => false;
  let engine: Engine;
  beforeAll(async () => {
    engine = await createEngine({
      worker: () => {
        const worker: InProcessWorker = liveWorker();
        worker.onSend = (message) => {
          if (fault(message)) worker.crash();
        };
        return worker as unknown as Worker;
      },
    });
  }, 120_000);
  afterAll(() => engine?.close());

  const ask = async (body: Partial<Body>) => {
    const answer = await engine.chat.completions.create({ messages, include_details: true, ...body });
    const { choices, usage, tokenprism: details } = answer;
    // Tokens that are read together have, in the last places, other logits than those that are read one by one.
    const text = JSON.stringify(choices, (key, value) => (key === 'logprob' ? value.toFixed(3) : value));
    return {
      choices: JSON.parse(text.replaceAll(/chatcmpl-tool-[0-9a-f]+/g, 'id')),
      usage,
      details: details!,
    };
  };

  /** A fault before each of these messages with tokens, counted over all workers. */
  const atTokens = (...places: number[]) => {
    let seen = 0;
    return ({ type }: FromWorker) => type === 'tokens' && places.includes(seen++);
  };
  const inPrefill = () => {
    let isDue = true;
    return (message: FromWorker) => {
      const isNow = isDue && message.type === 'state' && message.state === 'prefilling';
      if (isNow) isDue = false;
      return isNow;
    };
  };

  for (const [name, body] of Object.entries(asked)) {
    it(`is the same: ${name}`, async () => {
      fault = () => false;
      const { choices, usage, details } = await ask(body);
      const tokens = usage!.completion_tokens;
      const wanted =
        name === 'drawn' ? [inPrefill(), atTokens(0), atTokens(5, tokens)] : [atTokens(tokens >> 1)];
      for (const one of wanted) {
        const { recoveries } = engine.state;
        fault = one;
        const resumed = await ask(body);
        expect(engine.state.recoveries).toBeGreaterThan(recoveries);
        expect(resumed.choices).toEqual(choices);
        // The first worker had read the prompt before, or none had.
        const { prompt_tokens_details: _, ...expected } = usage!;
        expect(resumed.usage).toMatchObject(expected);
        expect(resumed.details.prompt).toBe(details.prompt);
        expect(resumed.details.timings.resumed).toBeGreaterThan(0);
        expect(resumed.details.timings.forcedTokens).toBe(details.timings.forcedTokens);
      }
    });
  }

  it('is the same: a raw prompt with the log probabilities of its own tokens', async () => {
    const ask = async () => {
      const { choices, usage } = await engine.completions.create({
        prompt: 'The capital of France is',
        echo: true,
        logprobs: 1,
        max_tokens: 8,
        ...hot,
      });
      const rounded = JSON.stringify(choices, (_, value) =>
        typeof value === 'number' ? value.toFixed(3) : value,
      );
      return { choices: JSON.parse(rounded), usage };
    };
    fault = () => false;
    const plain = await ask();
    // Once before they were told, then behind them.
    for (const one of [inPrefill(), atTokens(0, 5)]) {
      const { recoveries } = engine.state;
      fault = one;
      expect(await ask()).toEqual(plain);
      expect(engine.state.recoveries).toBeGreaterThan(recoveries);
    }
  });
});
