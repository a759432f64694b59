/** web-llm as a backend: the package as it is, over a runtime that is made up. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BadRequestError, InvalidLogitsError, ModelLoadError } from '../../../../src/errors.ts';
import {
  answers,
  chatConfig,
  eosTokenId,
  modelFiles,
  startWebLlm,
  tokenizer,
  vocabularySize,
  withFakeBrowser,
} from '../../../web-llm/engine.ts';

/** The answer is content from its first token on. */
const plain = { chat_template_kwargs: { enable_thinking: false } };
const messages = [{ role: 'user' as const, content: 'Weather in Rome?' }];
const schema = {
  type: 'object',
  properties: { a: { type: 'integer' } },
  required: ['a'],
  additionalProperties: false,
};

let restore = () => {};
beforeAll(() => {
  restore = withFakeBrowser();
});
afterAll(() => restore());

describe.each(['pipeline', 'public'] as const)('by the %s route', (route) => {
  const start = (answer: Parameters<typeof startWebLlm>[0], more: Parameters<typeof startWebLlm>[1] = {}) =>
    startWebLlm(answer, { ...more, options: { webLlm: { route } } });

  it('reasoning, content and calls are split, and usage counts the tokens', async () => {
    const text =
      '<think>\nI look.\n</think>\n\nMoment.\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>';
    const { engine, log } = await start(answers(text));
    const tools = [{ type: 'function' as const, function: { name: 'f', parameters: { type: 'object' } } }];
    const answer = await engine.chat.completions.create({ messages, tools, tool_choice: 'none' });
    const called = await engine.chat.completions.create({ messages, tools });
    expect(answer.usage!.completion_tokens).toBe(tokenizer.encode(text).length + 1);
    expect(called.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { reasoning: 'I look.', content: 'Moment.', tool_calls: [{ function: { name: 'f' } }] },
    });
    // The prompt is ours, token by token.
    const read = log.passes.flat();
    const prompt = (await engine.applyChatTemplate({ messages, tools, tool_choice: 'none' })).tokens;
    expect(read.slice(0, prompt.length)).toEqual([...prompt]);
    await engine.close();
  });

  it('a schema holds, whichever token the model likes best', async () => {
    const { engine } = await start(() => tokenizer.encode('}')[0]!);
    const answer = await engine.chat.completions.create({
      messages,
      max_tokens: 60,
      chat_template_kwargs: { enable_thinking: false },
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
    });
    expect(JSON.parse(answer.choices[0]!.message.content!)).toEqual({ a: expect.any(Number) });
    await engine.close();
  });

  it('a stop string is cut off before anything of it is told', async () => {
    const { engine } = await start(answers('hello END of it'));
    let told = '';
    const stream = await engine.chat.completions.create({ ...plain, messages, stop: 'END of', stream: true });
    for await (const { choices } of stream) told += choices[0]?.delta.content ?? '';
    expect(told).toBe('hello ');
    await engine.close();
  });

  it('top-k, min-p, log probabilities and several choices are honoured', async () => {
    const row = new Float32Array(chatConfig.vocab_size).fill(-10);
    const [a, b] = [tokenizer.encode('a')[0]!, tokenizer.encode('b')[0]!];
    row[a] = 2;
    row[b] = 1;
    const { engine } = await start(() => row);
    const answer = await engine.chat.completions.create({
      ...plain,
      messages,
      n: 2,
      max_tokens: 3,
      temperature: 1,
      top_k: 1,
      logprobs: true,
      top_logprobs: 2,
    });
    expect(answer.choices.map(({ message }) => message.content)).toEqual(['aaa', 'aaa']);
    expect(answer.choices[1]!.logprobs!.content![0]!.top_logprobs.map(({ token }) => token)).toEqual([
      'a',
      'b',
    ]);
    const others = (vocabularySize - 2) * Math.exp(-12);
    expect(answer.choices[0]!.logprobs!.content![0]!.logprob).toBeCloseTo(
      -Math.log(1 + Math.exp(-1) + others),
      4,
    );
    await engine.close();
  });

  it('a prompt that goes on from the last answer reads only what is new', async () => {
    const { engine, log } = await start(() => tokenizer.encode('a')[0]!);
    const prompt = tokenizer.encode('The weather in Rome:');
    await engine.completions.create({ prompt, max_tokens: 2 });
    const known = log.passes.flat();
    const longer = [...known, ...tokenizer.encode(' And then?')];
    const { usage, choices } = await engine.completions.create({ prompt: longer, max_tokens: 3 });
    expect(choices[0]!.text).toBe('aaa');
    expect(usage!.prompt_tokens_details!.cached_tokens).toBe(known.length);
    const read = log.passes.flat().slice(0, longer.length);
    expect(read).toEqual(longer);
    // Another prompt begins anew on the one KV cache.
    const other = await engine.completions.create({ prompt: [...longer].reverse(), max_tokens: 3 });
    expect(other.usage!.prompt_tokens_details!.cached_tokens).toBe(0);
    expect(other.choices[0]!.text).toBe('aaa');
    await engine.close();
  });

  it('a request whose device was lost goes on where it hung, in a new worker', async () => {
    let losses = 0;
    const ids = [...tokenizer.encode('Paris'), eosTokenId];
    const { engine } = await start((state) => {
      // By the last token, for what is read again is no prompt.
      const next = ids[ids.indexOf(state.tokens.at(-1)!) + 1]!;
      if (losses > 0 || state.generated < 1) return next;
      losses++;
      state.lose();
      return new Promise<never>(() => {});
    });
    const answer = await engine.chat.completions.create({ ...plain, messages });
    expect(answer.choices[0]!.message.content).toBe('Paris');
    expect(engine.state).toMatchObject({ status: 'ready', recoveries: 1 });
    await engine.close();
  });

  it('a prompt beyond the context is refused', async () => {
    const { engine } = await start(answers('Hi'));
    const long = [{ role: 'user' as const, content: 'word '.repeat(2000) }];
    await expect(engine.chat.completions.create({ ...plain, messages: long })).rejects.toThrow(
      BadRequestError,
    );
    await engine.close();
  });
});

describe('by the pipeline route', () => {
  it('logits stay on the device, and each mask goes there', async () => {
    const { engine, log } = await startWebLlm(() => tokenizer.encode('}')[0]!);
    const { device } = engine.state;
    expect(device).toMatchObject({ device: 'webgpu', sampling: 'gpu', dtype: 'q4f32_1', limits: [] });
    await engine.chat.completions.create({
      ...plain,
      messages,
      max_tokens: 60,
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
    });
    expect(log.rowsRead).toBe(0);
    expect(log.masks.length).toBe(log.points.length);
    // Rows are wider than the vocabulary: what has no text never comes.
    for (const mask of log.masks) expect(mask[vocabularySize / 32]).toBe(0);
    await engine.close();
  });

  it("the caller's messages stay as they were, and no empty thinking shows", async () => {
    const { engine } = await startWebLlm(answers('Sunny.'));
    const given = structuredClone(messages);
    const tools = [{ type: 'function' as const, function: { name: 'f', parameters: { type: 'object' } } }];
    for (let round = 0; round < 2; round++) {
      const answer = await engine.chat.completions.create({ ...plain, messages: given, tools });
      expect(answer.choices[0]!.message).toMatchObject({ content: 'Sunny.', reasoning: null });
    }
    expect(given).toEqual(messages);
    await engine.close();
  });

  it('penalties and biases are what was asked for, and a seed gives the same tokens', async () => {
    const row = new Float32Array(chatConfig.vocab_size).fill(-10);
    for (let id = 300; id < 340; id++) row[id] = 1;
    const run = async () => {
      const { engine, log } = await startWebLlm(() => row);
      const answer = await engine.chat.completions.create({
        messages,
        max_tokens: 6,
        temperature: 1,
        seed: 7,
        frequency_penalty: 1,
        logit_bias: { 300: 2 },
        return_token_ids: true,
      });
      await engine.close();
      return { ids: (answer.choices[0] as { token_ids?: number[] }).token_ids!, log };
    };
    const [one, two] = [await run(), await run()];
    expect(one.ids).toEqual(two.ids);
    expect(one.log.biases[0]).toEqual({ 300: 2 });
    expect(one.log.biases[1]).toEqual({
      300: one.ids[0] === 300 ? 1 : 2,
      ...(one.ids[0] !== 300 && { [one.ids[0]!]: -1 }),
    });
    expect(new Set(one.log.seeds).size).toBe(6);
  });

  it('a token that may not come is an error', async () => {
    const { engine } = await startWebLlm(() => new Float32Array(chatConfig.vocab_size).fill(Number.NaN));
    await expect(engine.chat.completions.create({ ...plain, messages })).rejects.toThrow(InvalidLogitsError);
    await engine.close();
  });
});

describe('a version without a private name', () => {
  const withoutSampler = {
    change(library: Record<string, unknown>) {
      const MLCEngine = library.MLCEngine as new (
        options: unknown,
      ) => { reload(...given: unknown[]): Promise<void> };
      library.MLCEngine = class extends MLCEngine {
        override async reload(...given: unknown[]): Promise<void> {
          await super.reload(...given);
          const engine = this as unknown as { loadedModelIdToPipeline: Map<string, Record<string, unknown>> };
          for (const pipeline of engine.loadedModelIdToPipeline.values())
            pipeline.forwardDecodeToken = undefined;
        }
      };
    },
  };

  it('goes by the public ones, and says what is missing', async () => {
    const { engine } = await startWebLlm(answers('Sunny.'), withoutSampler);
    expect(engine.state.device).toMatchObject({
      sampling: 'cpu',
      limits: [expect.stringMatching(/forwardDecodeToken; known to work: 0\.2\.86/)],
    });
    expect((await engine.chat.completions.create({ ...plain, messages })).choices[0]!.message.content).toBe(
      'Sunny.',
    );
    await engine.close();
  });

  it('fails where those are insisted on', async () => {
    const started = startWebLlm(answers('Hi'), {
      ...withoutSampler,
      options: { webLlm: { route: 'pipeline' } },
    });
    await expect(started).rejects.toThrow(
      /'pipeline' can't be had.*forwardDecodeToken; known to work: 0\.2\.86/,
    );
  });

  it('fails without the public ones, by name', async () => {
    const change = (library: Record<string, unknown>) => {
      library.MLCEngine = class {};
    };
    await expect(startWebLlm(answers('Hi'), { change })).rejects.toThrow(
      /lacks .*MLCEngine\.forwardTokensAndSample.* Known to work: 0\.2\.86/,
    );
  });
});

describe('a load', () => {
  it('that meets damaged files deletes them', async () => {
    const damaged = new Error('Tensor-cache record range [0, 786432) exceeds shard size 27');
    const started = startWebLlm(answers('Hi'), { files: { ...modelFiles(), 'tensor-cache.json': damaged } });
    await expect(started).rejects.toThrow(/What was stored of it was deleted: load it again/);
    await expect(started).rejects.toThrow(ModelLoadError);
  });

  it('refuses a model that the list lacks, and a model without a library', async () => {
    const listed = startWebLlm(answers('Hi'), { options: { model: 'Qwen3-0.6B-q9-MLC' } });
    await expect(listed).rejects.toThrow(/no model 'Qwen3-0\.6B-q9-MLC' in its list\. It has Qwen/);
  });

  it('ends an answer with the tokens of the chat configuration', async () => {
    const { engine } = await startWebLlm(answers('Hi'));
    expect(engine.state.model).toMatchObject({
      contextLength: 512,
      eosTokenIds: expect.arrayContaining([eosTokenId]),
    });
    await engine.close();
  });
});
