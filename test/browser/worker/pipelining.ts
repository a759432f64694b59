import type { FromWorker, GenerateJob } from '../../../src/protocol.ts';
import type { OnnxBackend } from '../../../worker/backends/onnx/backend.ts';
import { CachedSequence } from '../../../worker/backends/onnx/sequence.ts';
import type { DecodeWay } from '../../../worker/backends/onnx/session.ts';
import { PrefixCache } from '../../../worker/cache/prefix.ts';
import { loadModel } from '../../../worker/load.ts';
import type { Model } from '../../../worker/model.ts';
import { GenerateRequest } from '../../../worker/request.ts';
import { openBackend, wasm } from './numbers.ts';

/** Requests, one after another on one prefix cache; `early` ends one when its second token has come. */
type Job = Partial<GenerateJob> & { early?: 'cut' | 'abort' };

/** How a request ended and what it left. */
interface Outcome {
  ids: number[];
  reason: string;
  tokens: number;
  cachedTokens: number;
  /** Tokens of prompt and answer that the cache knows. */
  known: number;
  /** Logits behind them, after one more token. */
  row: number[];
  /** Steps begun while their token was being read. */
  begun: number;
}

/** The model without a device of its own. */
async function loadParts(): Promise<Model> {
  const { model, backend } = await loadModel(
    {
      type: 'load',
      model: { kind: 'folder', url: new URL('/models/tiny/', location.href).href },
      backend: { kind: 'onnx', device: 'wasm', dtype: 'auto' },
      wasmUrl: null,
      drafts: false,
    },
    () => {},
    new AbortController().signal,
    { fetch: fetch.bind(window), caches: null, wasm },
  );
  await backend.close();
  return model;
}

/** Steps begun before their token was read, `isOn` or not: then each waits for its token. */
class Steps {
  isOn = true;
  begun = 0;
  /** Tokens that are being read. */
  #reading = 0;
  readonly #undo: () => void;

  constructor({ reducer }: OnnxBackend) {
    const { best } = reducer!;
    reducer!.best = async (...given) => {
      this.#reading++;
      try {
        return await best.apply(reducer, given);
      } finally {
        this.#reading--;
      }
    };
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
    this.#undo = () => Object.defineProperty(prototype, 'next', descriptor);
  }

  restore(): void {
    this.#undo();
  }
}

async function runAll(model: Model, prefixes: PrefixCache, steps: Steps, jobs: Job[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const { early, ...job } of jobs) {
    const begunBefore = steps.begun;
    const messages: FromWorker[] = [];
    const ids: number[] = [];
    let prompt: number[] = [];
    const request: GenerateRequest = new GenerateRequest(
      1,
      {
        messages: [{ role: 'user', content: 'Hello!' }],
        tools: null,
        templateArguments: {},
        sampling: { temperature: 0 },
        maxTokens: 3,
        choices: 1,
        ...job,
      },
      (message) => {
        messages.push(message);
        if (message.type === 'started') prompt = [...message.promptTokenIds];
        if (message.type !== 'tokens') return;
        ids.push(...message.ids);
        if (ids.length === 2 && early === 'cut') request.cut(0, 1);
        if (ids.length === 2 && early === 'abort') request.abort();
      },
    );
    await request.run(model, async () => prefixes);
    const end = messages.at(-1)!;
    if (end.type !== 'done') throw new Error(JSON.stringify(end));
    const all = [...prompt, ...ids];
    const sequence = await prefixes.lend(Uint32Array.from([...all, 1]));
    const known = sequence.length;
    const logits = await sequence.forward([...all.slice(known), 1], 1);
    const row = [...(await logits.read(0))];
    logits.release();
    await sequence.truncate(known);
    prefixes.giveBack(sequence);
    outcomes.push({
      ids,
      reason: end.choices[0]!.reason,
      tokens: end.usage.completionTokens,
      cachedTokens: end.usage.cachedTokens,
      known,
      row,
      begun: steps.begun - begunBefore,
    });
  }
  return outcomes;
}

/** The same requests with steps that are begun before their token is read, and with steps that wait for it. */
export async function bothWays(way: DecodeWay) {
  const model = await loadParts();
  const backend = (await openBackend(way)) as OnnxBackend;
  await backend.sampleOnGpu(model.report.vocabularySize);
  const steps = new Steps(backend);
  try {
    const prefixes = new PrefixCache(backend);
    const first: Job = { maxTokens: 4 };
    const ahead = await runAll(model, prefixes, steps, [first]);
    const others: Job[] = [
      { maxTokens: 8, stopTokenIds: [ahead[0]!.ids[2]!] },
      { maxTokens: 8, early: 'cut' },
      { maxTokens: 8, early: 'abort' },
      { sampling: { temperature: 0, repetitionPenalty: 1.3 } },
      { maxTokens: 2, sampling: { temperature: 0.9, topK: 20, seed: 3 } },
      { choices: 2, maxTokens: 2 },
    ];
    ahead.push(...(await runAll(model, prefixes, steps, others)));
    steps.isOn = false;
    const waiting = await runAll(model, new PrefixCache(backend), steps, [first, ...others]);
    return { decode: backend.report.decode, ahead, waiting };
  } finally {
    steps.restore();
    await backend.close();
  }
}
