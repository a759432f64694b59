/**
 * Whatever befalls an engine, in whichever state of its request: the request ends as the table says, in its whole answer or
 * in one error, and the next one is answered.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { createEngine, type Engine } from '../../../src/engine/engine.ts';
import { DeviceLostError, WebGPUUnavailableError } from '../../../src/errors.ts';
import type { FromWorker, ScriptedTurn } from '../../../src/protocol.ts';
import type { Backend, Logits, Sequence } from '../../../worker/backends/backend.ts';
import { scriptedModel } from '../worker/scripted.ts';
import { InProcessWorker } from './in-process-worker.ts';

/** Of several pieces. */
const messages = [{ role: 'user' as const, content: 'x '.repeat(60) }];
const turns: ScriptedTurn[] = [{ text: '<think>\nHm.\n</think>\n\nOne two three four.', delay: 2 }];
const answer = 'One two three four.';

/** What a test breaks. */
class Bed {
  readonly workers: InProcessWorker[] = [];
  /** Of the backend that was made last. */
  lose: (error: Error) => void = () => {};
  /** What becomes of the next pass. */
  pass: 'good' | 'hangs' | 'fails' | 'no number' = 'good';
  /** What becomes of backends that are made from now on. */
  making: 'good' | Error = 'good';
  /** Sees what the workers send. */
  onSend: (message: FromWorker) => void = () => {};
  onLoad: (worker: InProcessWorker) => void = () => {};
  engine!: Engine;

  async start(): Promise<this> {
    this.engine = await createEngine({ worker: () => this.#worker() as unknown as Worker });
    return this;
  }

  get worker(): InProcessWorker {
    return this.workers.at(-1)!;
  }

  /** A worker that crashes sends nothing more; what it computes is nobody's. */
  crash(): void {
    this.worker.crash();
    this.worker.terminate();
  }

  #worker(): InProcessWorker {
    const worker = new InProcessWorker(async ({ answered }) => {
      this.onLoad(worker);
      const model = scriptedModel(turns, answered);
      const createBackend = async () => this.#backend(await model.createBackend());
      return { model: { ...model, createBackend }, backend: await createBackend() };
    });
    worker.onSend = (message) => this.onSend(message);
    this.workers.push(worker);
    return worker;
  }

  #backend(inner: Backend): Backend {
    if (this.making !== 'good') throw this.making;
    this.pass = 'good';
    const lost = new Promise<Error>((resolve) => {
      this.lose = resolve;
    });
    const guard = (sequence: Sequence): Sequence => ({
      get length() {
        return sequence.length;
      },
      bytes: 0,
      forward: async (ids, rows) => {
        if (this.pass === 'hangs') return new Promise<Logits>(() => {});
        if (this.pass === 'fails') {
          this.pass = 'good';
          throw new Error('a kernel is missing');
        }
        const logits = await sequence.forward(ids, rows);
        if (this.pass !== 'no number' || rows === 0) return logits;
        this.pass = 'good';
        return { ...logits, read: async () => new Float32Array(inner.width).fill(Number.NaN) };
      },
      truncate: (length) => sequence.truncate(length),
      close: () => sequence.close(),
    });
    const { report, capacity, width, canTruncate, reducer } = inner;
    return {
      report,
      capacity,
      width,
      canTruncate,
      reducer,
      prefillPiece: 16,
      lost,
      open: async () => guard(await inner.open()),
      copy: async (sequence, length) => guard(await inner.copy(sequence, length)),
      memory: () => null,
      close: async () => {},
    };
  }
}

/** When the fault comes: at the first message for which this holds, of the second request. */
const states: Record<string, (message: FromWorker) => boolean> = {
  // Behind the first request, which is being decoded.
  queued: (message) => message.type === 'tokens' && message.from === 2,
  prefilling: (message) => message.type === 'state' && message.state === 'prefilling' && message.done === 32,
  decoding: (message) => message.type === 'tokens' && message.from === 4,
  'at its end': (message) => message.type === 'state' && message.state === 'ending',
};

const lostDevice = (bed: Bed) => {
  bed.pass = 'hangs';
  bed.lose(new DeviceLostError('The GPU device was lost.'));
};
const goneForGood: Record<string, (bed: Bed) => void> = {
  'the worker dies, and so do all others': (bed) => {
    bed.onLoad = (worker) => setTimeout(() => worker.crash());
    bed.crash();
  },
  'the device is lost, and the adapter is gone': (bed) => {
    bed.making = new WebGPUUnavailableError('There is no adapter.');
    lostDevice(bed);
  },
};
const faults: Record<string, { break: (bed: Bed) => void; error: Partial<Record<string, string>> }> = {
  'the worker dies': { break: (bed) => bed.crash(), error: {} },
  'the device is lost': { break: lostDevice, error: {} },
  'a pass fails': {
    break: (bed) => {
      bed.pass = 'fails';
    },
    error: { prefilling: 'TokenprismError', decoding: 'TokenprismError' },
  },
  'the logits are no numbers': {
    break: (bed) => {
      bed.pass = 'no number';
    },
    error: { prefilling: 'InvalidLogitsError', decoding: 'InvalidLogitsError' },
  },
};

let bed: Bed;
afterEach(async () => {
  await bed.engine?.close();
});

const outcome = (answered: ReturnType<typeof ask>): Promise<string | null> =>
  answered.then(
    ({ choices }) => choices[0]!.message.content,
    (error: Error) => error.name,
  );
const ask = () => bed.engine.chat.completions.create({ messages });

/** Breaks something when the request comes to a state; resolves with how it ends. */
async function breakIn(state: string, fault: (bed: Bed) => void): Promise<string | null> {
  const first = state === 'queued' ? outcome(ask()) : null;
  let isDue = true;
  bed.onSend = (message) => {
    if (!isDue || !states[state]!(message)) return;
    isDue = false;
    fault(bed);
  };
  const ended = await outcome(ask());
  expect(isDue, 'the fault came').toBe(false);
  await first;
  bed.onSend = () => {};
  return ended;
}

describe('a request whose engine breaks', () => {
  for (const [name, { break: fault, error }] of Object.entries(faults)) {
    it.each(Object.keys(states))(`${name}: %s`, async (state) => {
      bed = await new Bed().start();
      expect(await breakIn(state, fault)).toBe(error[state] ?? answer);
      bed.pass = 'good';
      expect(await outcome(ask())).toBe(answer);
      expect(bed.engine.state.status).toBe('ready');
    });
  }

  it.each(Object.keys(faults))('%s: idle', async (name) => {
    bed = await new Bed().start();
    expect(await outcome(ask())).toBe(answer);
    faults[name]!.break(bed);
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (bed.pass !== 'hangs') bed.pass = 'good';
    expect(await outcome(ask())).toBe(answer);
  });

  it.each(Object.keys(goneForGood))('%s: the request ends, and so do those behind it', async (name) => {
    bed = await new Bed().start();
    const start = performance.now();
    let behind: Promise<string | null> | null = null;
    const ended = await breakIn('decoding', (broken) => {
      goneForGood[name]!(broken);
      behind = outcome(ask());
    });
    const error = name.startsWith('the worker') ? 'WorkerError' : 'DeviceLostError';
    expect(ended).toBe(error);
    expect(await behind).toBe(error);
    // With pauses, and an end.
    expect(performance.now() - start).toBeGreaterThan(2900);
    expect(bed.engine.state.status).toBe('failed');
    bed.onLoad = () => {};
    bed.making = 'good';
    expect(await outcome(ask())).toBe(answer);
    expect(bed.engine.state).toMatchObject({ status: 'ready', error: null });
  });

  it('one request that breaks every worker takes no other along', async () => {
    bed = await new Bed().start();
    let running = -1;
    bed.onSend = (message) => {
      // The poisoned one asks for three tokens only.
      if (message.type === 'started') running = message.request;
      const poisoned = bed.worker.received.some(
        (sent) => sent.type === 'generate' && sent.request === running && sent.job.maxTokens === 3,
      );
      if (message.type === 'tokens' && message.from === 1 && poisoned) bed.crash();
    };
    const poisoned = outcome(bed.engine.chat.completions.create({ messages, max_tokens: 3 }));
    const others = [ask(), ask()].map(outcome);
    expect(await poisoned).toBe('WorkerError');
    expect(await Promise.all(others)).toEqual([answer, answer]);
  });

  it('a load that breaks is told by name', async () => {
    bed = new Bed();
    bed.onLoad = (worker) => worker.crash();
    await expect(bed.start()).rejects.toMatchObject({ name: 'WorkerError', code: 'worker_crashed' });
    bed.onLoad = () => {};
    bed.making = new DeviceLostError('The GPU device was lost.');
    await expect(bed.start()).rejects.toMatchObject({ name: 'DeviceLostError' });
    bed.making = 'good';
    await bed.start();
    expect(await outcome(ask())).toBe(answer);
  });
});

describe('a request whose caller breaks', () => {
  const request = { messages, stream: true } as const;
  const own = new Error('of the caller');
  const throwing = () => {
    throw own;
  };

  it.each(['queued', 'prefilling', 'decoding', 'ending'])('a callback throws: %s', async (state) => {
    bed = await new Bed().start();
    const onProgress = (progress: { state: string }) => progress.state === state && throwing();
    const asked = bed.engine.chat.completions.create({ messages }, { onProgress });
    await expect(asked).rejects.toBe(own);
    expect(await outcome(ask())).toBe(answer);
  });

  it('the loop throws, or stops reading without a word', async () => {
    bed = await new Bed().start();
    const { completions } = bed.engine.chat;
    const loop = async () => {
      for await (const _ of await completions.create(request)) throwing();
    };
    await expect(loop()).rejects.toBe(own);
    const unread = (await completions.create(request))[Symbol.asyncIterator]();
    await unread.next();
    expect(await outcome(ask())).toBe(answer);
    // What it had not read is still there.
    let text = '';
    for (let next = await unread.next(); !next.done; next = await unread.next())
      text += next.value.choices[0]?.delta.content ?? '';
    expect(text).toBe(answer);
  });

  it.each(Object.keys(states).filter((state) => state !== 'at its end'))('it aborts: %s', async (state) => {
    bed = await new Bed().start();
    const controller = new AbortController();
    const before = state === 'queued' ? outcome(ask()) : null;
    let passes = 0;
    let passesAtAbort = Infinity;
    bed.onSend = (message) => {
      if (message.type === 'tokens' || (message.type === 'state' && message.done)) passes++;
      if (passesAtAbort < Infinity || !states[state]!(message)) return;
      passesAtAbort = passes;
      controller.abort();
    };
    const { signal } = controller;
    await expect(bed.engine.chat.completions.create({ messages }, { signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
    if (before) expect(await before).toBe(answer);
    else {
      await new Promise((resolve) => setTimeout(resolve, 30));
      // One was under way, and the messages of another may have been.
      expect(passes - passesAtAbort).toBeLessThanOrEqual(2);
    }
    bed.onSend = () => {};
    expect(await outcome(ask())).toBe(answer);
  });
});
