/** Completions of raw prompts, tokens and templates, on the engine and over its `fetch`. */
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TextCompletion, TextCompletionCreateParamsNonStreaming } from '../../../src/chat/text-types.ts';
import { createEngine, type Engine } from '../../../src/engine/engine.ts';
import { eosTokenId, tokenizer } from '../worker/scripted.ts';
import { scriptedEngine } from './both-ways.ts';
import { liveWorker } from './in-process-worker.ts';

type Body = Omit<TextCompletionCreateParamsNonStreaming, 'stream'>;

const text = '<think>\nHm é 🌞.\n</think>\n\n<tool_call> there ';
const ids = tokenizer.encode(text);

let engine: Engine;
beforeAll(async () => {
  engine = await scriptedEngine([{ text }]);
});
afterAll(() => engine?.close());

/** The answer whole and streamed, which must be one. */
async function both(body: Body, on = engine): Promise<{ whole: TextCompletion; chunks: TextCompletion[] }> {
  const whole = await on.completions.create(body);
  const chunks: TextCompletion[] = [];
  const stream = await on.completions.create({
    ...body,
    stream: true,
    stream_options: { include_usage: true },
  });
  for await (const chunk of stream) chunks.push(structuredClone(chunk));
  for (const { index, ...choice } of whole.choices) {
    const parts = chunks.flatMap(({ choices }) => choices.filter((part) => part.index === index));
    expect(parts.map((part) => part.text).join('')).toBe(choice.text);
    expect(parts.slice(0, -1).every(({ finish_reason }) => finish_reason === null)).toBe(true);
    expect(parts.at(-1)).toMatchObject({
      finish_reason: choice.finish_reason,
      stop_reason: choice.stop_reason,
    });
    expect(parts.flatMap(({ logprobs }) => logprobs?.tokens ?? [])).toEqual(choice.logprobs?.tokens ?? []);
    expect(parts.flatMap(({ token_ids }) => token_ids ?? [])).toEqual(choice.token_ids ?? []);
  }
  const { prompt_tokens_details: _, ...usage } = chunks.at(-1)!.usage!;
  expect(whole.usage).toMatchObject(usage);
  return { whole, chunks };
}

describe('completions.create', () => {
  it('gives text as the model writes it, markup and white space included', async () => {
    const { whole, chunks } = await both({ prompt: 'Once', max_tokens: 60 });
    expect(whole).toMatchObject({ object: 'text_completion', model: 'scripted' });
    expect(whole.id).toMatch(/^cmpl-[0-9a-f]{32}$/);
    expect(whole.choices).toEqual([
      { index: 0, text, logprobs: null, finish_reason: 'stop', stop_reason: null },
    ]);
    expect(whole.usage).toMatchObject({
      prompt_tokens: tokenizer.encode('Once').length,
      completion_tokens: ids.length + 1,
    });
    expect(chunks.length).toBeGreaterThan(3);
  });

  it('ends after 16 tokens where nothing is said', async () => {
    const { choices, usage } = await engine.completions.create({ prompt: 'Once' });
    expect(choices[0]).toMatchObject({ finish_reason: 'length' });
    expect(usage!.completion_tokens).toBe(16);
  });

  const prompts: [string, Body['prompt'], number[][]][] = [
    ['a text', '<|im_start|>user\nHi', [tokenizer.encode('<|im_start|>user\nHi')]],
    ['ids', [5, 6, 7], [[5, 6, 7]]],
    ['texts', ['a', 'b'], [tokenizer.encode('a'), tokenizer.encode('b')]],
    [
      'several ids',
      [
        [5, 6],
        [7, 8],
      ],
      [
        [5, 6],
        [7, 8],
      ],
    ],
  ];
  it.each(prompts)('takes %s, n choices each, by their index', async (_name, prompt, expected) => {
    const { whole } = await both({ prompt, n: 2, max_tokens: 60, return_token_ids: true });
    expect(whole.choices.map(({ index }) => index)).toEqual(
      Array.from({ length: 2 * expected.length }, (_, index) => index),
    );
    for (const [index, choice] of whole.choices.entries()) {
      expect(choice.prompt_token_ids).toEqual(expected[Math.floor(index / 2)]);
      expect(choice.token_ids).toEqual([...ids, eosTokenId]);
    }
    expect(whole.usage).toMatchObject({
      prompt_tokens: expected.reduce((sum, part) => sum + part.length, 0),
      completion_tokens: whole.choices.length * (ids.length + 1),
    });
  });

  it('echoes the prompt', async () => {
    const mixed = ['Once ', [5, 6]] as unknown as string[];
    const { whole } = await both({ prompt: mixed, echo: true, max_tokens: 60 });
    const { prompt } = await engine.detokenize({ tokens: [5, 6] });
    expect(whole.choices.map((choice) => choice.text)).toEqual([`Once ${text}`, prompt + text]);
  });

  it('stops at strings and tokens, and says at which', async () => {
    const { whole } = await both({ prompt: 'Once', stop: ['x', '</think>'], max_tokens: 60 });
    expect(whole.choices[0]).toMatchObject({
      text: '<think>\nHm é 🌞.\n',
      finish_reason: 'stop',
      stop_reason: '</think>',
    });
    const dot = ids.at(tokenizer.encode('<think>\nHm é 🌞').length)!;
    const { whole: token } = await both({ prompt: 'Once', stop_token_ids: [dot], max_tokens: 60 });
    expect(token.choices[0]).toMatchObject({ text: '<think>\nHm é 🌞', stop_reason: dot });
  });

  it('has logprobs a token, where each begins, and names for parts of characters', async () => {
    const { whole } = await both({ prompt: 'Once', logprobs: 2, max_tokens: 60 });
    const { tokens, text_offset, token_logprobs, top_logprobs } = whole.choices[0]!.logprobs!;
    expect(tokens).toHaveLength(ids.length + 1);
    expect(token_logprobs.every((value) => value !== null && value <= 0)).toBe(true);
    expect(top_logprobs!.every((top, at) => top![tokens[at]!] === token_logprobs[at])).toBe(true);
    expect(tokens.filter((token) => token.startsWith('bytes:\\x')).length).toBeGreaterThan(1);
    for (const [at, token] of tokens.slice(0, -1).entries()) {
      if (!token.startsWith('bytes:')) expect(text.slice(text_offset[at]!).startsWith(token)).toBe(true);
    }
    expect(text_offset.at(-1)).toBe(text.length);
    expect(whole.choices[0]).not.toHaveProperty('token_ids');
    const bare = await engine.completions.create({ prompt: 'Once', logprobs: 0 });
    expect(bare.choices[0]!.logprobs!.top_logprobs).toBeNull();
  });

  it('shows control tokens where they are asked for', async () => {
    const odd = await scriptedEngine([{ text: 'a<|im_start|>b' }]);
    const asked = { prompt: 'Once', logprobs: 1 };
    expect((await both(asked, odd)).whole.choices[0]!.text).toBe('ab');
    const { whole } = await both({ ...asked, skip_special_tokens: false }, odd);
    expect(whole.choices[0]!.text).toBe('a<|im_start|>b');
    expect(whole.choices[0]!.logprobs!.text_offset).toEqual([0, 1, 13, 14]);
    await odd.close();
  });

  it('aborts all prompts when the loop is left', async () => {
    const slow = await scriptedEngine([{ text, delay: 2 }]);
    const stream = await slow.completions.create({ prompt: ['a', 'b', 'c'], stream: true, max_tokens: 60 });
    for await (const chunk of stream) {
      expect(chunk.choices[0]!.index).toBe(0);
      break;
    }
    expect(stream.controller.signal.aborted).toBe(true);
    // The model is free: the next request does not wait for three answers.
    const next = await slow.completions.create({ prompt: 'd', max_tokens: 1 });
    expect(next.usage!.completion_tokens).toBe(1);
    await slow.close();
  });

  const refused: [string, object, string][] = [
    ['no prompt', { prompt: undefined }, 'prompt'],
    ['an empty text', { prompt: '' }, 'prompt'],
    ['no prompts', { prompt: [] }, 'prompt'],
    ['a prompt that is a number', { prompt: 5 }, 'prompt'],
    ['an id that there is none of', { prompt: [5, 2048] }, 'prompt[1]'],
    ['mixed prompts', { prompt: ['a', 5] }, 'prompt[1]'],
    ['an id of the second prompt', { prompt: [[5], [-1]] }, 'prompt[1][0]'],
    ['a prompt as long as the context', { prompt: Array.from({ length: 256 }, () => 5) }, 'prompt'],
    ['suffix', { suffix: 'end' }, 'suffix'],
    ['more than are given', { best_of: 3, n: 2 }, 'best_of'],
    ['logprobs like those of a chat', { logprobs: true }, 'logprobs'],
    ['too many logprobs', { logprobs: 21 }, 'logprobs'],
    ['no tokens without echo', { max_tokens: 0 }, 'max_tokens'],
    ['messages', { messages: [] }, 'messages'],
    ['another model', { model: 'gpt' }, 'model'],
    ['stream_options without a stream', { stream_options: { include_usage: true } }, 'stream_options'],
    ['tools', { tools: [] }, 'tools'],
  ];
  it.each(refused)('refuses %s', async (_name, body, param) => {
    const asked = engine.completions.create({ prompt: 'Once', ...body } as Body);
    await expect(asked).rejects.toMatchObject({ param, status: param === 'model' ? 404 : 400 });
  });
});

describe('tokenize, detokenize, applyChatTemplate', () => {
  const messages = [{ role: 'user' as const, content: 'Hi <|im_end|>' }];

  it('are of the same tokens, back and forth', async () => {
    const { tokens, count, max_model_len, token_strs } = await engine.tokenize({
      prompt: text,
      return_token_strs: true,
    });
    expect(tokens).toEqual(ids);
    expect([count, max_model_len, token_strs!.length]).toEqual([ids.length, 256, ids.length]);
    expect(await engine.detokenize({ tokens })).toEqual({ prompt: text });
    expect(await engine.tokenize({ prompt: '' })).toMatchObject({ count: 0, tokens: [], token_strs: null });
  });

  it('show the prompt that a chat has', async () => {
    const asked = { messages, reasoning_effort: 'none' as const };
    const { prompt, tokens } = await engine.applyChatTemplate(asked);
    expect(prompt).toBe(
      '<|im_start|>user\nHi <|im_end|><|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n',
    );
    expect((await engine.tokenize(asked)).tokens).toEqual(tokens);
    // Spelled by a person it is no token.
    expect(tokens.filter((id) => id === eosTokenId)).toHaveLength(1);
    const answer = await engine.chat.completions.create({ ...asked, include_details: true, max_tokens: 1 });
    expect(answer.tokenprism).toMatchObject({ prompt, prompt_token_ids: tokens });
    const bare = await engine.applyChatTemplate({ messages, add_generation_prompt: false });
    expect(prompt.startsWith(bare.prompt)).toBe(true);
  });

  it('name what is wrong', async () => {
    await expect(engine.tokenize({ prompt: 5 } as never)).rejects.toMatchObject({ param: 'prompt' });
    await expect(engine.tokenize({ prompt: 'a', tools: [] } as never)).rejects.toMatchObject({
      param: 'tools',
    });
    await expect(engine.detokenize({ tokens: [5000] })).rejects.toMatchObject({ param: 'tokens[0]' });
    await expect(engine.applyChatTemplate({ messages: [] })).rejects.toMatchObject({ param: 'messages' });
  });

  it('reject where the engine is closed', async () => {
    const closed = await scriptedEngine([{ text }]);
    await closed.close();
    await expect(closed.tokenize({ prompt: 'a' })).rejects.toMatchObject({ name: 'EngineClosedError' });
  });
});

describe('over engine.fetch', () => {
  const post = async (path: string, body: object) =>
    engine.fetch(`http://engine${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  it("answers OpenAI's client", async () => {
    const client = new OpenAI({ baseURL: 'http://engine/v1', apiKey: '-', fetch: engine.fetch });
    const whole = await client.completions.create({ model: 'scripted', prompt: 'Once', max_tokens: 60 });
    expect(whole.choices[0]!.text).toBe(text);
    let streamed = '';
    for await (const chunk of await client.completions.create({
      model: 'scripted',
      prompt: 'Once',
      max_tokens: 60,
      stream: true,
    })) {
      streamed += chunk.choices[0]?.text ?? '';
    }
    expect(streamed).toBe(text);
    const bad = client.completions.create({ model: 'scripted', prompt: 'Once', suffix: 'end' });
    await expect(bad).rejects.toMatchObject({ status: 400, param: 'suffix' });
  });

  it('answers /tokenize and /detokenize', async () => {
    const told = (await (await post('/tokenize', { prompt: text })).json()) as { tokens: number[] };
    expect(told).toEqual({ count: ids.length, max_model_len: 256, tokens: ids, token_strs: null });
    const back = (await (await post('/detokenize', { tokens: told.tokens })).json()) as object;
    expect(back).toEqual({ prompt: text });
    expect((await post('/tokenize', {})).status).toBe(400);
  });
});

describe('the embedded model', () => {
  let live: Engine;
  beforeAll(async () => {
    live = await createEngine({ worker: () => liveWorker() as unknown as Worker });
  }, 120_000);
  afterAll(() => live?.close());

  it('scores a prompt as it scored it when it wrote it', async () => {
    const { prompt } = await live.applyChatTemplate({ messages: [{ role: 'user', content: 'Hello!' }] });
    const first = await live.completions.create({
      prompt,
      max_tokens: 8,
      temperature: 0,
      logprobs: 3,
      return_token_ids: true,
    });
    const [written] = first.choices;
    const scored = await live.completions.create({
      prompt: [...written!.prompt_token_ids!, ...written!.token_ids!],
      max_tokens: 0,
      echo: true,
      logprobs: 3,
    });
    const { token_logprobs, tokens, top_logprobs, text_offset } = scored.choices[0]!.logprobs!;
    const count = written!.token_ids!.length;
    expect(token_logprobs[0]).toBeNull();
    expect(top_logprobs![0]).toBeNull();
    expect(tokens.slice(-count)).toEqual(written!.logprobs!.tokens);
    for (const [at, logprob] of token_logprobs.slice(-count).entries()) {
      expect(logprob).toBeCloseTo(written!.logprobs!.token_logprobs[at]!, 3);
    }
    expect(text_offset.at(-1)! + tokens.at(-1)!.length).toBe(scored.choices[0]!.text.length);
    expect(scored.choices[0]).toMatchObject({ finish_reason: 'length' });
    expect(scored.usage).toMatchObject({ completion_tokens: 0, prompt_tokens: tokens.length });
  }, 120_000);

  it('writes several choices in turn as it writes one', async () => {
    const body = {
      prompt: 'Once upon a',
      max_tokens: 24,
      temperature: 2,
      seed: 3,
    };
    const alone = await live.completions.create(body);
    const { whole, chunks } = await both({ ...body, n: 3 }, live);
    expect(whole.choices[0]!.text).toBe(alone.choices[0]!.text);
    expect(new Set(whole.choices.map((choice) => choice.text)).size).toBeGreaterThan(1);
    // The second has begun before the first has ended.
    const order = chunks.flatMap(({ choices }) => choices.map(({ index }) => index));
    expect(order.indexOf(1)).toBeLessThan(order.lastIndexOf(0));
  }, 120_000);

  it('holds a raw prompt to a grammar from its first token', async () => {
    const { choices } = await live.completions.create({
      prompt: 'The sun is',
      structured_outputs: { choice: [' hot.', ' cold.'] },
      max_tokens: 20,
    });
    expect([' hot.', ' cold.']).toContain(choices[0]!.text);
  }, 120_000);
});
