import type { FromWorker, GenerateJob, Timings } from '../../../src/protocol.ts';
import type { DecodeWay } from '../../../worker/backends/onnx/session.ts';
import { PrefixCache } from '../../../worker/cache/prefix.ts';
import { Drafts } from '../../../worker/drafts/drafts.ts';
import type { Model } from '../../../worker/model.ts';
import { GenerateRequest } from '../../../worker/request.ts';
import { keptModel } from './kept-models.ts';

interface Answer {
  ids: number[];
  timings: Timings;
  /** Tokens that the sequence was left with. */
  known: number;
  /** Logits behind them, after one more token. */
  row: number[];
}

async function answered(model: Model, prefixes: PrefixCache, job: Partial<GenerateJob>): Promise<Answer> {
  const messages: FromWorker[] = [];
  const request = new GenerateRequest(
    1,
    {
      messages: [{ role: 'user', content: 'What can you do?' }],
      tools: null,
      templateArguments: {},
      sampling: { temperature: 0 },
      maxTokens: 4,
      choices: 1,
      ...job,
    },
    (message) => messages.push(message),
  );
  await request.run(model, async () => prefixes);
  const end = messages.at(-1)!;
  if (end.type !== 'done') throw new Error(JSON.stringify(end));
  const ids = messages.flatMap((message) => (message.type === 'tokens' ? message.ids : []));
  const prompt = messages.flatMap((message) =>
    message.type === 'started' ? [...message.promptTokenIds] : [],
  );
  const all = [...prompt, ...ids];
  const sequence = await prefixes.lend(Uint32Array.from([...all, 1]));
  const known = sequence.length - prompt.length;
  const logits = await sequence.forward([...all.slice(sequence.length), 1], 1);
  const row = [...(await logits.read(0))];
  logits.release();
  await sequence.truncate(0);
  prefixes.giveBack(sequence);
  return { ids, timings: end.timings, known, row };
}

const greedy: Partial<GenerateJob> = {};
/** Hot enough to leave the greedy answer, which is there to copy from. */
const sampled: Partial<GenerateJob> = {
  sampling: { temperature: 5, topK: 20, seed: 11, repetitionPenalty: 1.1 },
};
/** Costs that do not depend on a clock. */
const fixedCosts = { pass: () => {}, chosen: () => {}, of: (tokens: number) => 1 + 0.01 * tokens };

/** The same requests on WebGPU without drafts and with drafts. */
export async function withAndWithoutDrafts(way: DecodeWay) {
  const { model, backend } = await keptModel(way);
  const run = async (drafts: Drafts | null, jobs: Partial<GenerateJob>[]) => {
    const prefixes = new PrefixCache(backend);
    const answers: Answer[] = [];
    for (const job of jobs) answers.push(await answered({ ...model, drafts }, prefixes, job));
    return answers;
  };
  const plain = await run(null, [greedy, sampled]);
  const drafted = await run(new Drafts(fixedCosts), [greedy, greedy, sampled]);
  return { decode: backend.report.decode, plain, drafted };
}
