import type { OnnxBackend } from '../../../worker/backends/onnx/backend.ts';
import { CachedSequence } from '../../../worker/backends/onnx/sequence.ts';
import type { DecodeWay } from '../../../worker/backends/onnx/session.ts';
import { PrefixCache } from '../../../worker/cache/prefix.ts';
import type { Model } from '../../../worker/model.ts';
import { keptModel } from './kept-models.ts';
import { type Ended, type Job, runJob } from './requests.ts';

/** How a request ended and what it left. */
interface Outcome extends Omit<Ended, 'prompt'> {
  /** Tokens of prompt and answer that the cache knows. */
  known: number;
  /** Logits behind them, after one more token. */
  row: number[];
  /** Steps begun while their token was being read. */
  begun: number;
}

/** Steps begun before their token was read, `isOn` or not: then each waits for its token. */
class Steps {
  isOn = true;
  begun = 0;
  /** Tokens that are being read. */
  #reading = 0;
  readonly #undo: () => void;

  constructor({ reducer }: OnnxBackend) {
    const { best, top } = reducer!;
    const counted = async <Result>(read: Promise<Result>) => {
      this.#reading++;
      try {
        return await read;
      } finally {
        this.#reading--;
      }
    };
    reducer!.best = (...given) => counted(best.apply(reducer, given));
    reducer!.top = (...given) => counted(top.apply(reducer, given));
    const { prototype } = CachedSequence;
    const descriptor = Object.getOwnPropertyDescriptor(prototype, 'next')!;
    const steps = this;
    Object.defineProperty(prototype, 'next', {
      configurable: true,
      get(this: CachedSequence) {
        const next = steps.isOn ? (descriptor.get!.call(this) as CachedSequence['next']) : null;
        return (
          next && {
            token: next.token,
            forward: () => {
              if (steps.#reading > 0) steps.begun++;
              return next.forward();
            },
          }
        );
      },
    });
    this.#undo = () => {
      Object.defineProperty(prototype, 'next', descriptor);
      // What the class has shows again.
      for (const method of ['best', 'top']) Reflect.deleteProperty(reducer!, method);
    };
  }

  restore(): void {
    this.#undo();
  }
}

async function runAll(model: Model, prefixes: PrefixCache, steps: Steps, jobs: Job[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const job of jobs) {
    const begunBefore = steps.begun;
    const { prompt, ...ended } = await runJob(model, prefixes, job);
    const all = [...prompt, ...ended.ids];
    const sequence = await prefixes.lend(Uint32Array.from([...all, 1]));
    const known = sequence.length;
    const logits = await sequence.forward([...all.slice(known), 1], 1);
    const row = [...(await logits.read(0))];
    logits.release();
    await sequence.truncate(known);
    prefixes.giveBack(sequence);
    outcomes.push({ ...ended, known, row, begun: steps.begun - begunBefore });
  }
  return outcomes;
}

/**
 * The same requests with steps that are begun before their token is read, and with steps that wait for it.
 *
 * @param count the first so many requests
 */
export async function bothWays(way: DecodeWay, count: number) {
  const { model, backend } = await keptModel(way);
  const steps = new Steps(backend);
  try {
    const prefixes = new PrefixCache(backend);
    const first: Job = { maxTokens: 4 };
    const ahead = await runAll(model, prefixes, steps, [first]);
    const all: Job[] = [
      { maxTokens: 8, stopTokenIds: [ahead[0]!.ids[2]!] },
      { sampling: { temperature: 1.5, topK: 20, topP: 0.95, seed: 3 } },
      { maxTokens: 8, early: 'cut' },
      { maxTokens: 8, early: 'abort' },
      { sampling: { temperature: 0, repetitionPenalty: 1.3 } },
      { maxTokens: 2, sampling: { temperature: 1.5, topK: 0, seed: 3 } },
      { choices: 2, maxTokens: 2 },
    ];
    const others = all.slice(0, count - 1);
    ahead.push(...(await runAll(model, prefixes, steps, others)));
    steps.isOn = false;
    const waiting = await runAll(model, new PrefixCache(backend), steps, [first, ...others]);
    return { decode: backend.report.decode, ahead, waiting };
  } finally {
    steps.restore();
  }
}
