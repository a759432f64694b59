import type { DeviceReport, TokenLogprobs } from '../../../src/protocol.ts';
import { PrefixCache } from '../../../worker/cache/prefix.ts';
import { keptModel } from '../worker/kept-models.ts';
import { type Job, runJob } from '../worker/requests.ts';

/** Greedy; drawn from few tokens with penalties and a bias; drawn from all with logprobs. */
const ways: Job[] = [
  { sampling: { temperature: 0, repetitionPenalty: 1.2 } },
  {
    sampling: { temperature: 1.5, topK: 20, topP: 0.9, presencePenalty: 0.5, seed: 4 },
    logitBias: new Map([
      [300, 12],
      [301, 11],
    ]),
    minTokens: 4,
  },
  { sampling: { temperature: 2, topK: 0, topP: 1, seed: 5 }, logprobs: 5 },
];

/** The ids of three answers of the embedded model on WebGPU, and the logprobs of the last one. */
export async function answer(sampling: DeviceReport['sampling']) {
  const { model, backend } = await keptModel('static');
  // Without its reducer a backend has its rows read, as one that can't reduce them.
  if (sampling === 'cpu') Object.defineProperty(backend, 'reducer', { value: null, configurable: true });
  try {
    const prefixes = new PrefixCache(backend);
    const answers: number[][] = [];
    let logprobs: TokenLogprobs[] = [];
    for (const way of ways) {
      const ended = await runJob(model, prefixes, { maxTokens: 4, ...way });
      answers.push(ended.ids);
      logprobs = ended.logprobs;
    }
    return { report: backend.report, answers, logprobs };
  } finally {
    Reflect.deleteProperty(backend, 'reducer');
  }
}
