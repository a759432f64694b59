import type { FromWorker, GenerateJob, TokenLogprobs } from '../../../src/protocol.ts';
import type { DecodeWay } from '../../../worker/backends/onnx/session.ts';
import { PrefixCache } from '../../../worker/cache/prefix.ts';
import type { Model } from '../../../worker/model.ts';
import { GenerateRequest } from '../../../worker/request.ts';
import { keptModel, type ModelOnPage } from './kept-models.ts';

/** A request; `early` ends it when its second token has come. */
export type Job = Partial<GenerateJob> & { early?: 'cut' | 'abort' | null };

/** How a request ended. */
export interface Ended {
  prompt: number[];
  ids: number[];
  logprobs: TokenLogprobs[];
  reason: string;
  /** Tokens that count. */
  tokens: number;
  cachedTokens: number;
}

export async function runJob(model: Model, prefixes: PrefixCache, { early, ...job }: Job): Promise<Ended> {
  const ids: number[] = [];
  const logprobs: TokenLogprobs[] = [];
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
      logprobs.push(...(message.logprobs ?? []));
      if (ids.length === 2 && early === 'cut') request.cut(0, 1);
      if (ids.length === 2 && early === 'abort') request.abort();
    },
  );
  await request.run(model, async () => prefixes);
  const end = last as FromWorker | null;
  if (end?.type !== 'done') throw new Error(JSON.stringify(end));
  const { completionTokens: tokens, cachedTokens } = end.usage;
  return { prompt, ids, logprobs, reason: end.choices[0]!.reason, tokens, cachedTokens };
}

let kept: (ModelOnPage & { prefixes: PrefixCache }) | null = null;

/** Chooses the model that `runKept` asks. */
export async function keepModel(way: DecodeWay) {
  const opened = await keptModel(way);
  kept = { ...opened, prefixes: new PrefixCache(opened.backend) };
  return opened.backend.report;
}

/** How a request of that model ended, and what is allocated on the GPU then. */
export async function runKept(job: Job) {
  const { model, backend, prefixes } = kept!;
  const { reason, ids } = await runJob(model, prefixes, job);
  return { reason, answer: ids.join(), ...backend.memory()! };
}
