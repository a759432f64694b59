import { describe, expect, it } from 'vitest';
import { BadRequestError, DeviceLostError, ModelLoadError } from '../../../src/errors.ts';
import type { FromWorker, ScriptedTurn } from '../../../src/protocol.ts';
import type { Backend, Sequence } from '../../../worker/backends/backend.ts';
import type { Model } from '../../../worker/model.ts';
import {
  Bench,
  contextLength,
  eosTokenId,
  job,
  scriptedBench,
  scriptedModel,
  template,
  tokenizer,
} from './scripted.ts';

const isTokens = (request: number, from: number) => (message: FromWorker) =>
  message.type === 'tokens' && message.request === request && message.from === from;

/** A scripted model whose backends are changed by `wrap`; counts what is opened and closed. */
function wrapped(
  wrap: (backend: Backend) => Partial<Backend>,
  turns: ScriptedTurn[] = [{ text: 'one two three' }],
) {
  const counts = {
    backends: 0,
    closedBackends: 0,
    sequences: 0,
    closedSequences: 0,
    truncated: [] as number[],
  };
  const inner = scriptedModel(turns);
  const createBackend = async (): Promise<Backend> => {
    const backend = await inner.createBackend();
    counts.backends++;
    const counted = (sequence: Sequence): Sequence => {
      counts.sequences++;
      return {
        get length() {
          return sequence.length;
        },
        bytes: 0,
        forward: (ids, rows) => sequence.forward(ids, rows),
        truncate: (length) => {
          counts.truncated.push(length);
          return sequence.truncate(length);
        },
        close: () => {
          counts.closedSequences++;
          sequence.close();
        },
      };
    };
    const open = async () => counted(await backend.open());
    const base: Backend = {
      report: backend.report,
      capacity: backend.capacity,
      width: backend.width,
      canTruncate: true,
      prefillPiece: 64,
      reducer: null,
      lost: backend.lost,
      open,
      copy: async (sequence, length) => counted(await backend.copy(sequence, length)),
      memory: () => null,
      close: async () => {
        counts.closedBackends++;
      },
    };
    return { ...base, ...wrap({ ...base, open }) };
  };
  const model: Model = { ...inner, createBackend };
  const bench = new Bench(async () => ({ model, backend: await createBackend() }));
  bench.load();
  return { bench, counts };
}

/** The sequence with another pass; a spread alone would keep the length that it has now. */
const withForward = (sequence: Sequence, forward: Sequence['forward']): Sequence => ({
  ...sequence,
  get length() {
    return sequence.length;
  },
  forward,
});

describe('a request', () => {
  it('goes through its states and gives the script, the EOS included', async () => {
    const bench = scriptedBench([{ text: 'one two' }]);
    bench.generate(1);
    const done = await bench.done(1);
    const expected = [...tokenizer.encode('one two'), eosTokenId];
    expect(bench.tokens(1)).toEqual(expected);
    expect([...new Set(bench.states(1))]).toEqual([
      'queued',
      'rendering',
      'prefilling',
      'decoding',
      'ending',
    ]);
    expect(done.choices).toEqual([{ choice: 0, reason: 'eos', completionTokens: expected.length }]);
    const prompt = template.render(job());
    expect(done.usage).toEqual({
      promptTokens: prompt.ids.length,
      cachedTokens: 0,
      completionTokens: expected.length,
    });
    const started = bench.messages.find((message) => message.type === 'started');
    expect(started).toMatchObject({ prompt: prompt.text, promptTokenIds: prompt.ids });
    expect(done.timings.timeToFirstToken).toBeGreaterThan(0);
    expect(done.timings.tokensPerSecond).toBeGreaterThan(0);
  });

  it('reports the prefill in pieces', async () => {
    const bench = scriptedBench([{ text: 'ok' }]);
    bench.generate(1, { messages: [{ role: 'user', content: 'x '.repeat(70) }] });
    const { usage } = await bench.done(1);
    expect(usage.promptTokens).toBeGreaterThan(128);
    const progress = bench.messages.flatMap((message) =>
      message.type === 'state' && message.state === 'prefilling' ? [[message.done, message.total]] : [],
    );
    expect(progress.map(([done]) => done)).toEqual([0, 64, 128, usage.promptTokens]);
    expect(progress.every(([, total]) => total === usage.promptTokens)).toBe(true);
  });

  it('ends with length at maxTokens, and at the end of the context', async () => {
    const bench = scriptedBench([{ ids: new Array(400).fill(5), open: true }]);
    bench.generate(1, { maxTokens: 7 });
    expect((await bench.done(1)).choices).toEqual([{ choice: 0, reason: 'length', completionTokens: 7 }]);
    bench.generate(2, { maxTokens: 100_000 });
    const { usage, choices } = await bench.done(2);
    expect(choices[0]!.reason).toBe('length');
    expect(usage.promptTokens + usage.completionTokens).toBe(contextLength);
  });

  it('is refused before the model runs when the prompt does not fit, or an option is out of range', async () => {
    const bench = scriptedBench([{ text: 'fine' }]);
    bench.generate(1, { messages: [{ role: 'user', content: 'x '.repeat(300) }] });
    expect(await bench.failed(1)).toMatchObject({
      name: 'BadRequestError',
      code: 'context_length_exceeded',
      param: 'messages',
    });
    bench.generate(2, { sampling: { topP: 3 } });
    expect(await bench.failed(2)).toMatchObject({ status: 400, param: 'top_p' });
    bench.generate(3);
    expect((await bench.done(3)).choices[0]!.reason).toBe('eos');
    expect(bench.states(1)).not.toContain('prefilling');
  });

  it('with n choices gives each its own turn after one prefill', async () => {
    const { bench, counts } = wrapped(() => ({}), [{ text: 'one' }, { text: 'two three' }]);
    bench.generate(1, { choices: 3 });
    const done = await bench.done(1);
    const one = [...tokenizer.encode('one'), eosTokenId];
    const two = [...tokenizer.encode('two three'), eosTokenId];
    expect([0, 1, 2].map((choice) => bench.tokens(1, choice))).toEqual([one, two, one]);
    expect(done.usage.completionTokens).toBe(2 * one.length + two.length);
    expect(counts).toMatchObject({ sequences: 3, truncated: [] });
  });

  const long = [{ text: 'one two three four five six seven eight nine ten eleven twelve' }];
  const choicesInOrder = ({ messages }: Bench) =>
    messages.flatMap((message) => (message.type === 'tokens' ? [message.choice] : []));

  it('with n choices lets them go on in turn', async () => {
    const { bench } = wrapped(() => ({}), long);
    bench.generate(1, { choices: 3 });
    await bench.done(1);
    const written = [...tokenizer.encode(long[0]!.text), eosTokenId];
    expect(written.length).toBeGreaterThan(16);
    for (const choice of [0, 1, 2]) expect(bench.tokens(1, choice)).toEqual(written);
    const eight = (choice: number) => new Array<number>(8).fill(choice);
    const turns = [...eight(0), ...eight(1), ...eight(2)];
    expect(choicesInOrder(bench).slice(0, 48)).toEqual([...turns, ...turns]);
  });

  const full: Partial<Backend> = {
    copy: () => Promise.reject(new BadRequestError('full', { code: 'context_length_exceeded' })),
  };
  it.each([
    ['there is no room for copies', () => full],
    [
      'captured steps are those of one sequence',
      (backend: Backend) => ({ report: { ...backend.report, decode: 'captured' as const } }),
    ],
  ])('with n choices writes one after the other where %s', async (_why, wrap) => {
    const { bench, counts } = wrapped(wrap, long);
    bench.generate(1, { choices: 2 });
    const { usage } = await bench.done(1);
    expect(bench.tokens(1, 1)).toEqual(bench.tokens(1, 0));
    const order = choicesInOrder(bench);
    expect(order).toEqual([...order].sort());
    expect(counts.sequences).toBe(1);
    expect(counts.truncated).toContain(usage.promptTokens - 1);
  });

  it('with n choices ends them all when it is aborted', async () => {
    const { bench } = wrapped(() => ({}), [{ ...long[0]!, delay: 2 }]);
    const second = bench.next((message) => message.type === 'tokens' && message.choice === 1);
    bench.generate(1, { choices: 2 });
    await second;
    bench.send({ type: 'abort', request: 1 });
    expect((await bench.done(1)).choices.map(({ reason }) => reason)).toEqual(['abort', 'abort']);
    bench.generate(2);
    expect((await bench.done(2)).choices[0]!.reason).toBe('eos');
  });

  it('with n choices prefills again where the backend cannot cut back', async () => {
    const { bench, counts } = wrapped(() => ({ canTruncate: false }));
    bench.generate(1, { choices: 2 });
    await bench.done(1);
    expect(bench.tokens(1, 1)).toEqual(bench.tokens(1, 0));
    expect(counts).toMatchObject({ sequences: 2, closedSequences: 1, truncated: [] });
  });

  it('reports a fresh seed when none is given, and the given one otherwise', async () => {
    const bench = scriptedBench([{ text: 'a' }]);
    bench.generate(1, { sampling: { seed: 11 } });
    bench.generate(2);
    await bench.done(2);
    const seeds = bench.messages.flatMap((message) => (message.type === 'started' ? [message.seed] : []));
    expect(seeds[0]).toBe(11);
    expect(Number.isInteger(seeds[1])).toBe(true);
  });
});

describe('cut', () => {
  it('ends the choice at that token, truncates the cache and counts no further', async () => {
    const { bench, counts } = wrapped(() => ({}), [{ text: 'one two three four five six', delay: 2 }]);
    const seen = bench.next(isTokens(1, 3));
    bench.generate(1);
    await seen;
    bench.send({ type: 'cut', request: 1, choice: 0, at: 2 });
    const done = await bench.done(1);
    expect(done.choices).toEqual([{ choice: 0, reason: 'cut', completionTokens: 2 }]);
    expect(done.usage.completionTokens).toBe(2);
    expect(counts.truncated).toEqual([done.usage.promptTokens + 2]);
  });

  it('reaches a choice that has ended while the request lives', async () => {
    const bench = scriptedBench([{ text: 'one two three' }, { text: 'four five six', delay: 2 }]);
    const second = bench.next((message) => message.type === 'tokens' && message.choice === 1);
    bench.generate(1, { choices: 2 });
    await second;
    bench.send({ type: 'cut', request: 1, choice: 0, at: 1 });
    const { choices } = await bench.done(1);
    expect(choices[0]).toEqual({ choice: 0, reason: 'cut', completionTokens: 1 });
    expect(choices[1]!.reason).toBe('eos');
  });

  it('at the end of what was said changes nothing, and is ignored for requests and choices that do not run', async () => {
    const bench = scriptedBench([{ text: 'one' }, { text: 'two', delay: 2 }]);
    const second = bench.next((message) => message.type === 'tokens' && message.choice === 1);
    bench.generate(1, { choices: 2 });
    await second;
    bench.send({ type: 'cut', request: 1, choice: 0, at: bench.tokens(1, 0).length });
    bench.send({ type: 'cut', request: 1, choice: 9, at: 0 });
    bench.send({ type: 'cut', request: 77, choice: 0, at: 0 });
    const { choices } = await bench.done(1);
    expect(choices.map(({ reason }) => reason)).toEqual(['eos', 'eos']);
  });
});

describe('the queue', () => {
  it('runs one request at a time, in order, also those that came while the model loaded', async () => {
    const bench = scriptedBench([{ text: 'one' }, { text: 'two' }, { text: 'three' }]);
    for (const request of [1, 2, 3]) bench.generate(request);
    await Promise.all([bench.done(1), bench.done(2), bench.done(3)]);
    expect(bench.tokens(2)).toEqual([...tokenizer.encode('two'), eosTokenId]);
    const order = bench.messages.flatMap((message) =>
      message.type === 'tokens' || message.type === 'done' ? [message.request] : [],
    );
    expect(order).toEqual([...order].sort());
  });

  it('lets queued requests be aborted, without disturbing the others', async () => {
    const bench = scriptedBench([{ text: 'one two', delay: 2 }]);
    for (const request of [1, 2, 3]) bench.generate(request);
    bench.send({ type: 'abort', request: 2 });
    expect((await bench.done(2)).choices).toEqual([{ choice: 0, reason: 'abort', completionTokens: 0 }]);
    expect(bench.states(2)).toEqual(['queued', 'ending']);
    expect((await bench.done(1)).choices[0]!.reason).toBe('eos');
    expect((await bench.done(3)).choices[0]!.reason).toBe('eos');
  });

  it('frees the model within one step of an abort', async () => {
    const { bench, counts } = wrapped(() => ({}), [{ ids: new Array(200).fill(5) }]);
    const seen = bench.next(isTokens(1, 4));
    bench.generate(1);
    bench.generate(2, { maxTokens: 2 });
    await seen;
    bench.send({ type: 'abort', request: 1 });
    const done = await bench.done(1);
    expect(done.choices[0]!.reason).toBe('abort');
    expect(done.choices[0]!.completionTokens).toBeLessThanOrEqual(6);
    expect(done.usage.completionTokens).toBe(bench.tokens(1).length);
    await bench.done(2);
    expect(counts).toMatchObject({ backends: 1, sequences: 1, closedSequences: 0 });
  });

  it('frees the model within one piece of the prefill', async () => {
    const bench = scriptedBench([{ text: 'one' }]);
    const piece = bench.next((message) => message.type === 'state' && message.done === 64);
    bench.generate(1, { messages: [{ role: 'user', content: 'x '.repeat(100) }] });
    await piece;
    bench.send({ type: 'abort', request: 1 });
    const done = await bench.done(1);
    expect(done.choices).toEqual([{ choice: 0, reason: 'abort', completionTokens: 0 }]);
    expect(bench.states(1)).not.toContain('decoding');
  });

  it('ends every request exactly once, whatever is aborted and cut when', async () => {
    const bench = scriptedBench([
      { text: 'one two three four' },
      { text: 'x', loseDeviceAt: 1 },
      { text: 'y' },
    ]);
    const requests = Array.from({ length: 40 }, (_, index) => index);
    for (const request of requests) {
      bench.generate(request, { choices: 1 + (request % 3) });
      if (request % 4 === 1) setTimeout(() => bench.send({ type: 'abort', request }), request);
      if (request % 5 === 2)
        setTimeout(() => bench.send({ type: 'cut', request, choice: 0, at: 1 }), request / 2);
    }
    await Promise.all(requests.map((request) => bench.end(request)));
    bench.send({ type: 'close' });
    await bench.next((message) => message.type === 'closed');
    for (const request of requests) {
      const ends = bench.messages.filter(
        (message) => (message.type === 'done' || message.type === 'failed') && message.request === request,
      );
      expect(ends, `request ${request}`).toHaveLength(1);
      const states = bench.states(request);
      expect(states.at(-1)).toBe('ending');
    }
  });
});

describe('an answer that is resumed', () => {
  const script = tokenizer.encode('one two three');
  const resumed = (...choices: { ids: number[]; cutAt: number | null }[]) => ({
    choices: choices.length,
    resume: { promptTokenIds: template.render(job()).ids, seed: 7, choices },
  });

  it('goes on behind its tokens, and tells what is new', async () => {
    const bench = scriptedBench([{ text: 'one two three' }]);
    bench.generate(1, resumed({ ids: script.slice(0, 2), cutAt: null }));
    const { choices, usage } = await bench.done(1);
    const sent = bench.messages.flatMap((message) =>
      message.type === 'tokens' ? [[message.from, ...message.ids]] : [],
    );
    const expected = [...script, eosTokenId].map((id, from) => [from, id]);
    expect(sent).toEqual(expected.slice(2));
    expect(choices).toEqual([{ choice: 0, reason: 'eos', completionTokens: script.length + 1 }]);
    expect(usage.completionTokens).toBe(script.length + 1);
    expect(bench.messages.some(({ type }) => type === 'started')).toBe(false);
  });

  it('is done without a pass where all of it was there', async () => {
    const { bench, counts } = wrapped(() => ({}));
    const end = [...script, eosTokenId];
    const more = resumed(
      { ids: end, cutAt: null },
      { ids: script, cutAt: 2 },
      { ids: script.slice(0, 3), cutAt: null },
    );
    bench.generate(1, { ...more, maxTokens: 3, choices: 3 });
    const { choices } = await bench.done(1);
    expect(choices.map(({ reason, completionTokens }) => [reason, completionTokens])).toEqual([
      ['eos', end.length],
      ['cut', 2],
      ['length', 3],
    ]);
    expect(counts.sequences).toBe(0);
  });

  it('is left within one piece of what is read again', async () => {
    const passes: number[] = [];
    const { bench } = wrapped((backend) => ({
      open: async () => {
        const sequence = await backend.open();
        return withForward(sequence, (ids, rows) => {
          passes.push(ids.length);
          if (passes.length === 2) bench.send({ type: 'abort', request: 1 });
          return sequence.forward(ids, rows);
        });
      },
    }));
    bench.generate(1, resumed({ ids: new Array(200).fill(5), cutAt: null }));
    const { choices } = await bench.done(1);
    expect(choices).toEqual([{ choice: 0, reason: 'abort', completionTokens: 200 }]);
    // The prompt, and one piece.
    expect(passes.slice(1)).toEqual([64]);
  });
});

describe('faults', () => {
  it('a lost device ends the running request; the next one works on a new backend', async () => {
    const bench = scriptedBench([{ text: 'one two three', loseDeviceAt: 2 }, { text: 'four' }]);
    bench.generate(1);
    bench.generate(2);
    expect(await bench.failed(1)).toMatchObject({ name: 'DeviceLostError', status: 503 });
    expect(bench.tokens(1)).toHaveLength(2);
    await bench.done(2);
    expect(bench.tokens(2)).toEqual([...tokenizer.encode('four'), eosTokenId]);
    expect(bench.messages.filter((message) => message.type === 'device')).toHaveLength(1);
  });

  it('a loss ends a request even when its forward pass never returns', async () => {
    let lose: (error: Error) => void = () => {};
    const { bench, counts } = wrapped((backend) => ({
      lost: new Promise((resolve) => {
        lose = resolve;
      }),
      open: async () => {
        const sequence = await backend.open();
        if (counts.backends > 1) return sequence;
        return { ...sequence, length: 0, forward: () => new Promise(() => {}), close: () => {} };
      },
    }));
    const prefilling = bench.next((message) => message.type === 'state' && message.state === 'prefilling');
    bench.generate(1);
    bench.generate(2);
    await prefilling;
    setTimeout(() => lose(new DeviceLostError('gone')), 5);
    expect(await bench.failed(1)).toMatchObject({ name: 'DeviceLostError', message: 'gone' });
    expect((await bench.done(2)).choices[0]!.reason).toBe('eos');
    expect(counts).toMatchObject({ backends: 2, closedBackends: 1 });
  });

  it('a loss between requests is met by a new backend, and no request fails', async () => {
    let lose: (error: Error) => void = () => {};
    const { bench, counts } = wrapped((backend) =>
      counts.backends > 1
        ? {}
        : {
            ...backend,
            lost: new Promise((resolve) => {
              lose = resolve;
            }),
          },
    );
    bench.generate(1);
    await bench.done(1);
    lose(new DeviceLostError('gone'));
    await new Promise((resolve) => setTimeout(resolve, 5));
    bench.generate(2);
    await bench.done(2);
    expect(counts).toMatchObject({ backends: 2, closedBackends: 1 });
  });

  it('a forward pass that fails ends the request with its error, and the backend is replaced', async () => {
    const { bench, counts } = wrapped((backend) => ({
      open: async () => {
        const sequence = await backend.open();
        if (counts.backends > 1) return sequence;
        return { ...sequence, length: 0, forward: () => Promise.reject(new Error('kernel broke')) };
      },
    }));
    bench.generate(1);
    bench.generate(2);
    expect(await bench.failed(1)).toMatchObject({ name: 'TokenprismError', message: 'kernel broke' });
    await bench.done(2);
    expect(counts).toMatchObject({ backends: 2, closedBackends: 1 });
  });

  it('what gave no numbers is not read on from by later requests, and nor is what was kept beside it', async () => {
    let isWrong = false;
    const { bench, counts } = wrapped((backend) => {
      const spoilt = (sequence: Sequence) =>
        withForward(sequence, async (ids, rows) => {
          const logits = await sequence.forward(ids, rows);
          if (!isWrong) return logits;
          return { ...logits, read: async () => new Float32Array(backend.width).fill(Number.NaN) };
        });
      return {
        open: async () => spoilt(await backend.open()),
        copy: async (sequence, length) => spoilt(await backend.copy(sequence, length)),
      };
    });
    bench.generate(1);
    await bench.done(1);
    isWrong = true;
    bench.generate(2, { messages: [{ role: 'user', content: 'Another one' }], choices: 2 });
    expect(await bench.failed(2)).toMatchObject({ name: 'InvalidLogitsError' });
    isWrong = false;
    expect(counts.sequences).toBeGreaterThan(1);
    expect(counts.closedSequences).toBe(counts.sequences);
    bench.generate(3);
    expect((await bench.done(3)).usage.cachedTokens).toBe(0);
    expect(counts.backends).toBe(1);
  });

  it('logits without a number end the request, not with a token', async () => {
    const { bench } = wrapped((backend) => ({
      open: async () => {
        const sequence = await backend.open();
        return withForward(sequence, async (ids, rows) => {
          const logits = await sequence.forward(ids, rows);
          return { ...logits, read: async () => new Float32Array(backend.width).fill(Number.NaN) };
        });
      },
    }));
    bench.generate(1);
    expect(await bench.failed(1)).toMatchObject({ name: 'InvalidLogitsError' });
    expect(bench.tokens(1)).toEqual([]);
  });

  it('a failed load is reported, and ends the requests that waited for it', async () => {
    const bench = new Bench(async () => {
      throw new ModelLoadError('no such model');
    });
    bench.load();
    bench.generate(1);
    expect(await bench.failed(1)).toMatchObject({ name: 'ModelLoadError', message: 'no such model' });
    expect(bench.messages).toContainEqual(
      expect.objectContaining({
        type: 'failed',
        request: null,
        error: expect.objectContaining({ name: 'ModelLoadError' }),
      }),
    );
  });

  it('messages out of order get an answer: generate before load, a second load, anything after close', async () => {
    const bench = new Bench(async () => {
      const model = scriptedModel([{ text: 'a' }]);
      return { model, backend: await model.createBackend() };
    });
    bench.generate(1);
    expect(await bench.failed(1)).toMatchObject({ name: 'WorkerError' });
    bench.load();
    bench.load();
    expect(bench.messages.at(-1)).toMatchObject({
      type: 'failed',
      request: null,
      error: { name: 'WorkerError' },
    });
    const closed = bench.next((message) => message.type === 'closed');
    bench.generate(2);
    bench.send({ type: 'close' });
    expect((await bench.done(2)).choices[0]!.reason).toBe('abort');
    await closed;
    bench.generate(3);
    expect(await bench.failed(3)).toMatchObject({ name: 'EngineClosedError' });
  });
});
