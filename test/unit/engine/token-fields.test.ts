/** Logprobs, token ids, bias and ends by tokens, the whole way from the request to the answer. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectCompletion } from '../../../src/chat/collector.ts';
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionTool,
  ServedChunk,
} from '../../../src/chat/types.ts';
import { createEngine, type Engine } from '../../../src/engine/engine.ts';
import type { ScriptedTurn } from '../../../src/protocol.ts';
import { eosTokenId, scriptedModel, tokenizer } from '../worker/scripted.ts';
import { liveWorker, scriptedWorker } from './in-process-worker.ts';

type Body = ChatCompletionCreateParamsNonStreaming;

const messages = [{ role: 'user' as const, content: 'Weather in Rome?' }];
const tools: ChatCompletionTool[] = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
];
const thought = '<think>\nI look.\n</think>\n\n';
const call = (city: string) =>
  `<tool_call>\n{"name": "get_weather", "arguments": {"city": "${city}"}}\n</tool_call>`;
const { bytes, offsets } = scriptedModel([{ text: '' }]).table;
const bytesOf = (id: number) => [...bytes.subarray(offsets[id]!, offsets[id + 1]!)];
const idOf = (text: string) => {
  const [id, ...more] = tokenizer.encode(text);
  if (id === undefined || more.length > 0) throw new Error(`${text} is no token`);
  return id;
};

const engines = new Map<string, Promise<Engine>>();
afterAll(async () => {
  for (const engine of engines.values()) await (await engine).close();
});

/** An engine that always gives this one answer. */
async function scripted(turn: ScriptedTurn) {
  const key = JSON.stringify(turn);
  const engine =
    engines.get(key) ?? createEngine({ worker: () => scriptedWorker([turn]) as unknown as Worker });
  engines.set(key, engine);
  return (await engine).chat.completions;
}

/** The answer whole and streamed, which must be one. */
async function both(turn: ScriptedTurn, body: Omit<Body, 'messages'>): Promise<ChatCompletion> {
  const completions = await scripted(turn);
  const whole = await completions.create({ ...body, messages });
  const chunks: ChatCompletionChunk[] = [];
  const stream = await completions.create({
    ...body,
    messages,
    stream: true,
    stream_options: { include_usage: true },
  });
  for await (const chunk of stream) chunks.push(chunk);
  const told = async function* () {
    yield* chunks;
  };
  const { choices, usage, prompt_token_ids } = await collectCompletion(told());
  // Each answer has its own ids of calls, and the second one finds its prompt read.
  const plain = (value: unknown) =>
    JSON.parse(
      JSON.stringify(value).replaceAll(/chatcmpl-tool-[0-9a-f]+|"cached_tokens":\d+/g, (found) =>
        found.startsWith('c') ? 'id' : '"cached_tokens":0',
      ),
    ) as unknown;
  expect(plain({ choices, usage, prompt_token_ids })).toEqual(
    plain({ choices: whole.choices, usage: whole.usage, prompt_token_ids: whole.prompt_token_ids }),
  );
  return whole;
}

const told = { logprobs: true, top_logprobs: 2, return_token_ids: true };

describe('logprobs, token ids and usage', () => {
  const answers: Record<string, ScriptedTurn> = {
    content: { text: `${thought}Sun é 🌞 here.` },
    calls: { text: `${thought}Moment.\n${call('Rome')}\n${call('Pisa')}` },
    'a cut call': { text: `${thought}${call('Rome').slice(0, -20)}`, open: true },
  };
  const ways: Record<string, Omit<Body, 'messages'>> = {
    plain: {},
    'with tools': { tools },
    'with tools and no choice': { tools, tool_choice: 'none' },
    'with a required call': { tools, tool_choice: 'required' },
    'with one call': { tools, parallel_tool_calls: false },
    'with a stop string': { stop: ['here', 'ment'] },
    'with a limit': { max_tokens: 9 },
    'with three choices': { n: 3, max_tokens: 20 },
  };
  for (const [answer, turn] of Object.entries(answers)) {
    it.each(Object.entries(ways))(`tell of the same tokens: ${answer}, %s`, async (_name, way) => {
      const { choices, usage, prompt_token_ids } = await both(turn, { max_tokens: 80, ...way, ...told });
      expect(prompt_token_ids).toHaveLength(usage!.prompt_tokens);
      let count = 0;
      for (const { logprobs, token_ids } of choices) {
        const entries = logprobs!.content!;
        expect(entries.map(({ bytes }) => bytes)).toEqual(token_ids!.map(bytesOf));
        expect(entries.every(({ top_logprobs }) => top_logprobs.length >= 1)).toBe(true);
        count += entries.length;
      }
      expect(count).toBe(usage!.completion_tokens);
    });
  }

  it('are the same over engine.fetch, which holds calls back', async () => {
    const body = { messages, tools, ...told };
    await both(answers.calls!, body);
    const engine = await engines.get(JSON.stringify(answers.calls!))!;
    const whole = await engine.chat.completions.create(body);
    const response = await engine.fetch('http://engine/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, stream: true }),
    });
    const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'));
    const served = async function* () {
      for (const line of lines) yield JSON.parse(line.slice(6)) as ServedChunk;
    };
    const { choices, prompt_token_ids } = await collectCompletion(served());
    expect(choices[0]).toMatchObject({
      logprobs: whole.choices[0]!.logprobs,
      token_ids: whole.choices[0]!.token_ids,
    });
    expect(choices[0]!.message.tool_calls).toHaveLength(2);
    expect(prompt_token_ids).toEqual(whole.prompt_token_ids);
  });

  it('hold all that the model wrote, its end included', async () => {
    const text = `${thought}Sun é 🌞 here.`;
    const { choices } = await both({ text }, told);
    expect(choices[0]!.token_ids).toEqual([...tokenizer.encode(text), eosTokenId]);
    const written = choices[0]!.logprobs!.content!.slice(0, -1).flatMap(({ bytes }) => bytes!);
    expect(new TextDecoder().decode(Uint8Array.from(written))).toBe(text);
  });

  it.each(Object.entries(ways))('are withheld with the reasoning: %s', async (_name, way) => {
    const body = { max_tokens: 80, ...way, ...told, include_reasoning: false };
    const { choices, prompt_token_ids } = await both(answers.calls!, body);
    expect(prompt_token_ids).toBeUndefined();
    for (const choice of choices) {
      expect(choice.logprobs).toBeNull();
      expect(choice).not.toHaveProperty('token_ids');
    }
  });

  it('come alone where one is asked for', async () => {
    const turn = { text: 'Sun.' };
    const ids = await both(turn, { return_token_ids: true });
    expect(ids.choices[0]!.logprobs).toBeNull();
    const logprobs = await both(turn, { logprobs: true });
    expect(logprobs.choices[0]).not.toHaveProperty('token_ids');
    expect(logprobs.choices[0]!.logprobs!.content!.every((entry) => entry.top_logprobs.length === 0)).toBe(
      true,
    );
  });
});

describe('stop tokens', () => {
  it('are no text, and count', async () => {
    const text = `${thought}Sun here.`;
    const ids = tokenizer.encode(text);
    const { choices, usage } = await both({ text }, { stop_token_ids: ids.slice(-2, -1), ...told });
    const before = new TextDecoder().decode(Uint8Array.from(ids.slice(0, -2).flatMap(bytesOf)));
    expect(choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: before.slice(thought.length) },
      token_ids: ids.slice(0, -1),
    });
    expect(usage!.completion_tokens).toBe(ids.length - 1);
  });

  it('still mean what they mean to the format', async () => {
    const turn = { text: `${thought}${call('Rome')}\n${call('Pisa')}` };
    const { choices } = await both(turn, { tools, stop_token_ids: [idOf('</tool_call>')] });
    expect(choices[0]!.finish_reason).toBe('tool_calls');
    expect(choices[0]!.message.tool_calls).toHaveLength(1);
    const thinking = await both(turn, { stop_token_ids: [idOf('</think>')] });
    expect(thinking.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { reasoning: 'I look.', content: null },
    });
  });
});

describe('the embedded model', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await createEngine({ worker: () => liveWorker() as unknown as Worker });
  }, 120_000);
  afterAll(() => engine?.close());

  it('writes the same with and without logprobs, which are of its own distribution', async () => {
    const body = { messages, temperature: 1.3, top_k: 5, seed: 3, max_tokens: 8, return_token_ids: true };
    const plain = await engine.chat.completions.create(body);
    const hot = await engine.chat.completions.create({ ...body, logprobs: true, top_logprobs: 20 });
    expect(hot.choices[0]!.token_ids).toEqual(plain.choices[0]!.token_ids);
    const entries = hot.choices[0]!.logprobs!.content!;
    for (const { token, logprob, top_logprobs } of entries) {
      const share = top_logprobs.reduce((sum, entry) => sum + Math.exp(entry.logprob), 0);
      expect(top_logprobs).toHaveLength(20);
      expect(share).toBeGreaterThan(0.5);
      expect(share).toBeLessThan(1 + 1e-6);
      const sorted = top_logprobs.map((entry) => entry.logprob).sort((a, b) => b - a);
      expect(top_logprobs.map((entry) => entry.logprob)).toEqual(sorted);
      // Top-k has left five to draw from.
      expect(top_logprobs.slice(0, 5)).toContainEqual(expect.objectContaining({ token, logprob }));
    }
    // The first row is the same at any temperature and bias.
    const cold = await engine.chat.completions.create({
      messages,
      temperature: 0,
      logit_bias: { 900: 100 },
      max_tokens: 1,
      logprobs: true,
      top_logprobs: 20,
    });
    const [first] = cold.choices[0]!.logprobs!.content!;
    expect(first!.bytes).toEqual(bytesOf(900));
    expect(first!.top_logprobs.map(({ bytes }) => bytes)).toEqual(
      entries[0]!.top_logprobs.map(({ bytes }) => bytes),
    );
    for (const [index, { logprob }] of first!.top_logprobs.entries()) {
      expect(logprob).toBeCloseTo(entries[0]!.top_logprobs[index]!.logprob, 4);
    }
  }, 60_000);

  it('has logprobs for what a grammar forces: the same call, and 0 where one token may come', async () => {
    const body = {
      messages,
      tools,
      tool_choice: 'required' as const,
      temperature: 0,
      max_tokens: 30,
      reasoning_effort: 'none' as const,
      return_token_ids: true,
      include_details: true,
    };
    const plain = await engine.chat.completions.create(body);
    const scored = await engine.chat.completions.create({ ...body, logprobs: true, top_logprobs: 3 });
    expect(plain.tokenprism!.timings.forcedTokens).toBeGreaterThan(0);
    expect(scored.tokenprism!.timings.forcedTokens).toBe(0);
    expect(scored.choices[0]!.token_ids).toEqual(plain.choices[0]!.token_ids);
    const entries = scored.choices[0]!.logprobs!.content!;
    expect(entries).toHaveLength(scored.usage!.completion_tokens);
    const sure = entries.filter(({ top_logprobs }) => top_logprobs.length === 1);
    expect(sure.length).toBeGreaterThan(0);
    for (const { logprob, token, top_logprobs } of sure) {
      expect([logprob, top_logprobs[0]!.token]).toEqual([0, token]);
    }
  }, 60_000);

  it('never writes a token whose bias is -100, nor one that a grammar forbids whatever its bias', async () => {
    const short = { messages, temperature: 0, max_tokens: 6, return_token_ids: true };
    const { choices } = await engine.chat.completions.create(short);
    const banned = choices[0]!.token_ids![2]!;
    const other = await engine.chat.completions.create({ ...short, logit_bias: { [banned]: -100 } });
    expect(other.choices[0]!.token_ids).not.toContain(banned);
    const held = await engine.chat.completions.create({
      ...short,
      reasoning_effort: 'none',
      structured_outputs: { choice: ['yes', 'no'] },
      logit_bias: { [idOf('!')]: 100 },
    });
    expect(['yes', 'no']).toContain(held.choices[0]!.message.content);
  }, 60_000);

  it('goes on to its least number of tokens, unless a grammar has ended', async () => {
    const eager = { messages, temperature: 0, max_tokens: 12, logit_bias: { [eosTokenId]: 100 } };
    const length = async (more: object) =>
      (await engine.chat.completions.create({ ...eager, ...more })).usage!.completion_tokens;
    expect(await length({})).toBe(1);
    expect(await length({ min_tokens: 6 })).toBe(7);
    const held = { min_tokens: 10, reasoning_effort: 'none', structured_outputs: { choice: ['yes', 'no'] } };
    expect(await length(held)).toBeLessThan(10);
  }, 60_000);
});
