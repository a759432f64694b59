import type { FromWorker, GenerateJob } from '../../../src/protocol.ts';
import type { OnnxBackend } from '../../../worker/backends/onnx/backend.ts';
import type { DecodeWay } from '../../../worker/backends/onnx/session.ts';
import { PrefixCache } from '../../../worker/cache/prefix.ts';
import { loadModel } from '../../../worker/load.ts';
import type { Model } from '../../../worker/model.ts';
import { GenerateRequest } from '../../../worker/request.ts';
import { openBackend, wasm } from './numbers.ts';

/** A request; `early` ends it when its second token has come. */
export type Job = Partial<GenerateJob> & { early?: 'cut' | 'abort' | null };

/** How a request ended. */
export interface Ended {
  prompt: number[];
  ids: number[];
  reason: string;
  /** Tokens that count. */
  tokens: number;
  cachedTokens: number;
}

/** The embedded model, running in the given way, its tokens chosen on the GPU; without drafts. */
export async function openModel(way: DecodeWay): Promise<{ model: Model; backend: OnnxBackend }> {
  const loaded = await loadModel(
    {
      type: 'load',
      model: { kind: 'folder', url: new URL('/models/tiny/', location.href).href },
      backend: { kind: 'onnx', device: 'wasm', dtype: 'auto' },
      wasmUrl: null,
      drafts: false,
    },
    () => {},
    new AbortController().signal,
    { fetch: fetch.bind(window), store: null, wasm },
  );
  // A load does not take a way.
  await loaded.backend.close();
  const backend = (await openBackend(way)) as OnnxBackend;
  await backend.sampleOnGpu(loaded.model.report.vocabularySize);
  return { model: loaded.model, backend };
}

export async function runJob(model: Model, prefixes: PrefixCache, { early, ...job }: Job): Promise<Ended> {
  const ids: number[] = [];
  let prompt: number[] = [];
  let last: FromWorker | null = null;
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
      last = message;
      if (message.type === 'started') prompt = [...message.promptTokenIds];
      if (message.type !== 'tokens') return;
      ids.push(...message.ids);
      if (ids.length === 2 && early === 'cut') request.cut(0, 1);
      if (ids.length === 2 && early === 'abort') request.abort();
    },
  );
  await request.run(model, async () => prefixes);
  const end = last as FromWorker | null;
  if (end?.type !== 'done') throw new Error(JSON.stringify(end));
  const { completionTokens: tokens, cachedTokens } = end.usage;
  return { prompt, ids, reason: end.choices[0]!.reason, tokens, cachedTokens };
}

let kept: { model: Model; backend: OnnxBackend; prefixes: PrefixCache } | null = null;

/** Keeps a model for `runKept`. */
export async function keepModel(way: DecodeWay) {
  const { model, backend } = await openModel(way);
  kept = { model, backend, prefixes: new PrefixCache(backend) };
  return backend.report;
}

/** How a request of the model kept ended, and what is allocated on the GPU then. */
export async function runKept(job: Job) {
  const { model, backend, prefixes } = kept!;
  const { reason, ids } = await runJob(model, prefixes, job);
  return { reason, answer: ids.join(), ...backend.memory()! };
}

/** What is left on the GPU when the model kept was closed. */
export async function closeKept() {
  const { backend } = kept!;
  kept = null;
  await backend.close();
  return backend.memory();
}
