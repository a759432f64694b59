/**
 * Log probabilities of tokens: of the model's own distribution over what a grammar lets come, before logit bias,
 * penalties and temperature. So they say what the model thinks, not how it was sampled (vLLM's `raw_logprobs`).
 */
import type { TokenLogprobs } from '../../src/protocol.ts';
import { topK } from './candidates.ts';
import type { GpuRow, RowReducer } from './gpu/reducer.ts';
import { refuse } from './gpu/sampler.ts';
import { mostCandidates } from './gpu/shader.ts';
import { greedy, Masking } from './sampler.ts';

const masking = new Masking();

/**
 * @param row exactly as wide as the vocabulary; left unchanged
 * @param mask bit `id % 32` of word `id / 32`: whether a token may come; `null` lets all of them
 * @param id the token that came
 * @param count of the most probable tokens
 * @throws InvalidLogitsError when there is a NaN or no finite largest value
 */
export function logprobsOfRow(
  row: Float32Array,
  mask: Uint32Array | null,
  id: number,
  count: number,
): TokenLogprobs {
  const allowed = mask ? masking.apply(row, mask) : row;
  const largest = allowed[greedy(allowed)]!;
  let sum = 0;
  for (const logit of allowed) sum += Math.exp(logit - largest);
  return told(topK(allowed, count), count, allowed[id]!, largest + Math.log(sum));
}

/**
 * The same of a row that is left on the GPU, from its best tokens and its sum: within 0.0001 of what the row gives.
 *
 * @param read gives the row in memory, as wide as the vocabulary; called where the token is none of the best
 */
export async function logprobsOnGpu(
  reducer: RowReducer,
  row: GpuRow,
  mask: Uint32Array | null,
  id: number,
  count: number,
  read: () => Promise<Float32Array>,
): Promise<TokenLogprobs> {
  const most = Math.min(mostCandidates, reducer.size);
  const { best, candidates, logSumExp } = await reducer.top(row, { mask, adjustments: null }, most, 1);
  refuse(best);
  const at = candidates.ids.indexOf(id);
  const mayCome = !mask || ((mask[id >>> 5]! >>> (id & 31)) & 1) === 1;
  const logit = at >= 0 ? candidates.logits[at]! : mayCome ? (await read())[id]! : -Infinity;
  return told(candidates, count, logit, logSumExp);
}

/** @param best first tokens of the row's order, `count` or more where it has them */
function told(
  { ids, logits, count: held }: { ids: Int32Array; logits: Float64Array; count: number },
  count: number,
  logit: number,
  logSumExp: number,
): TokenLogprobs {
  const logprobs: TokenLogprobs = { logprob: logit - logSumExp, top: [] };
  for (let index = 0; index < Math.min(count, held); index++) {
    logprobs.top.push({ id: ids[index]!, logprob: logits[index]! - logSumExp });
  }
  return logprobs;
}
