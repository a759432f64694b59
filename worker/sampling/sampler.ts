import { InvalidLogitsError } from '../../src/errors.ts';
import type { SamplingOptions } from '../../src/protocol.ts';
import { all, draw, largest, minP, topK, topP } from './candidates.ts';
import { createRandomSource, type RandomSource } from './random.ts';

/**
 * Chooses the tokens of one choice. Order of the steps: mask, penalties, temperature, top-k, top-p, min-p, draw.
 */
export class Sampler {
  readonly #options: SamplingOptions;
  readonly #random: RandomSource;
  /** Tokens of prompt and answer, for the repetition penalty. */
  readonly #seen = new Set<number>();
  /** How often the answer has each token. */
  readonly #counts = new Map<number, number>();
  #scratch = new Float32Array(0);
  #allowed = new Float32Array(0);

  /**
   * @param seed replaces `options.seed`, which may be `null`
   * @param stream index of the choice: each has its own stream of random numbers
   */
  constructor(options: SamplingOptions, seed: number, stream: number, promptTokenIds: ArrayLike<number>) {
    this.#options = options;
    this.#random = createRandomSource(seed, stream);
    if (options.repetitionPenalty !== 1) {
      for (let index = 0; index < promptTokenIds.length; index++) this.#seen.add(promptTokenIds[index]!);
    }
  }

  /**
   * The next token; it counts as part of the answer from now on.
   *
   * @param logits one row, exactly as wide as the vocabulary; left unchanged
   * @param mask bit `id % 32` of word `id / 32`: whether a token may come; `null` lets all of them
   * @throws InvalidLogitsError when there is a NaN or no finite largest value
   */
  next(logits: Float32Array, mask: Uint32Array | null = null): number {
    const id = this.#choose(mask ? this.#masked(logits, mask) : logits);
    this.take(id);
    return id;
  }

  /** A token that was not drawn counts as part of the answer too. */
  take(id: number): void {
    if (this.#options.repetitionPenalty !== 1) this.#seen.add(id);
    if (this.#options.presencePenalty !== 0 || this.#options.frequencyPenalty !== 0) {
      this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
    }
  }

  #masked(row: Float32Array, mask: Uint32Array): Float32Array {
    if (this.#allowed.length !== row.length) this.#allowed = new Float32Array(row.length);
    const allowed = this.#allowed;
    for (let word = 0, start = 0; start < row.length; word++, start += 32) {
      const bits = mask[word] ?? 0;
      const end = Math.min(start + 32, row.length);
      if (bits === 0xffffffff) allowed.set(row.subarray(start, end), start);
      else if (bits === 0) allowed.fill(-Infinity, start, end);
      else
        for (let id = start; id < end; id++) allowed[id] = (bits >>> (id - start)) & 1 ? row[id]! : -Infinity;
    }
    return allowed;
  }

  #choose(row: Float32Array): number {
    const { temperature, topK: k, topP: p, minP: share } = this.#options;
    const logits = this.#penalize(row);
    const best = greedy(logits);
    if (temperature === 0) return best;
    let candidates = k > 0 && k < logits.length ? topK(logits, k) : all(logits);
    // Differences are divided, not logits, so that a tiny temperature can't overflow to Infinity.
    const top = logits[best]!;
    for (let index = 0; index < candidates.count; index++) {
      candidates.logits[index] = (candidates.logits[index]! - top) / temperature;
    }
    const max = largest(candidates);
    if (p < 1) candidates = topP(candidates, p, max);
    if (share > 0) candidates = minP(candidates, share, max);
    return draw(candidates, max, this.#random.next());
  }

  #penalize(row: Float32Array): Float32Array {
    const { repetitionPenalty, presencePenalty, frequencyPenalty } = this.#options;
    if (this.#seen.size === 0 && this.#counts.size === 0) return row;
    if (this.#scratch.length !== row.length) this.#scratch = new Float32Array(row.length);
    const logits = this.#scratch;
    logits.set(row);
    for (const id of this.#seen) {
      if (id >= logits.length) continue;
      const logit = logits[id]!;
      logits[id] = logit > 0 ? logit / repetitionPenalty : logit * repetitionPenalty;
    }
    for (const [id, count] of this.#counts) logits[id]! -= presencePenalty + frequencyPenalty * count;
    return logits;
  }
}

/** The token of the largest logit, the first of equal ones. */
export function greedy(logits: Float32Array): number {
  let best = -1;
  let bestLogit = -Infinity;
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!;
    if (logit > bestLogit) {
      best = id;
      bestLogit = logit;
    } else if (Number.isNaN(logit)) {
      throw new InvalidLogitsError(`The model's logits hold a NaN at token ${id}: ${advice}`);
    }
  }
  if (best < 0 || bestLogit === Infinity) {
    throw new InvalidLogitsError(`The model's logits have no finite largest value: ${advice}`);
  }
  return best;
}

const advice =
  "the device or the weight format computes wrong numbers. Try another dtype (for example 'q4' in place of 'q4f16') or device: 'wasm'.";
