import { InvalidLogitsError } from '../../src/errors.ts';
import type { SamplingOptions } from '../../src/protocol.ts';
import { Adjustments } from './adjustments.ts';
import { all, type Candidates, draw, largest, minP, topK, topP } from './candidates.ts';
import { createRandomSource, type RandomSource } from './random.ts';

/**
 * Chooses the tokens of one choice. Order of the steps: mask, bias and penalties, temperature, top-k, top-p, min-p, draw.
 */
export class Sampler {
  readonly #options: SamplingOptions;
  readonly #random: RandomSource;
  readonly #adjustments: Adjustments;
  readonly #masking = new Masking();

  /**
   * @param seed replaces `options.seed`, which may be `null`
   * @param stream index of the choice: each has its own stream of random numbers
   * @param bias added to the logits of these tokens
   */
  constructor(
    options: SamplingOptions,
    seed: number,
    stream: number,
    promptTokenIds: ArrayLike<number>,
    bias?: ReadonlyMap<number, number>,
  ) {
    this.#options = options;
    this.#random = createRandomSource(seed, stream);
    this.#adjustments = new Adjustments(options, promptTokenIds, bias);
  }

  /**
   * The next token; it counts as part of the answer from now on.
   *
   * @param logits one row, exactly as wide as the vocabulary; left unchanged
   * @param mask bit `id % 32` of word `id / 32`: whether a token may come; `null` lets all of them
   * @throws InvalidLogitsError when there is a NaN or no finite largest value
   */
  next(logits: Float32Array, mask: Uint32Array | null = null): number {
    const row = this.#adjustments.apply(mask ? this.#masking.apply(logits, mask) : logits);
    const best = greedy(row);
    const isGreedy = this.#options.temperature === 0;
    const id = isGreedy ? best : drawFromRow(row, row[best]!, this.#options, this.#random.next());
    this.take(id);
    return id;
  }

  /** A token that was drawn before counts as part of the answer, and its random number as used. */
  repeat(id: number): void {
    if (this.#options.temperature !== 0) this.#random.next();
    this.take(id);
  }

  /** A token that was not drawn counts as part of the answer too. */
  take(id: number): void {
    this.#adjustments.take(id);
  }
}

/** Rows with the tokens that may not come at `-Infinity`. */
export class Masking {
  #row = new Float32Array(0);

  /** A copy of the row; the next call reuses it. */
  apply(row: Float32Array, mask: Uint32Array): Float32Array {
    if (this.#row.length !== row.length) this.#row = new Float32Array(row.length);
    const allowed = this.#row;
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
}

/**
 * Draws from a whole row.
 *
 * @param top the row's largest value, finite
 * @param point uniform in [0, 1)
 */
export function drawFromRow(row: Float32Array, top: number, options: SamplingOptions, point: number): number {
  const { topK: k } = options;
  return drawFrom(k > 0 && k < row.length ? topK(row, k) : all(row), top, options, point);
}

/** Draws from what top-k has left, which is scaled and filtered in place. */
export function drawFrom(
  candidates: Candidates,
  top: number,
  { temperature, topP: p, minP: share }: SamplingOptions,
  point: number,
): number {
  scale(candidates, top, temperature);
  const max = largest(candidates);
  let kept = candidates;
  if (p < 1) kept = topP(kept, p, max);
  if (share > 0) kept = minP(kept, share, max);
  return draw(kept, max, point);
}

/** Differences are divided, not logits, so that a tiny temperature can't overflow to Infinity. */
export function scale({ logits, count }: Candidates, top: number, temperature: number): void {
  for (let index = 0; index < count; index++) logits[index] = (logits[index]! - top) / temperature;
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
      throw notANumber(id);
    }
  }
  if (best < 0 || bestLogit === Infinity) throw notFinite();
  return best;
}

const advice =
  "the device or the weight format computes wrong numbers. Try another dtype (for example 'q4' in place of 'q4f16') or device: 'wasm'.";

/** @param id the first token without a number */
export const notANumber = (id: number) =>
  new InvalidLogitsError(`The model's logits hold a NaN at token ${id}: ${advice}`);

export const notFinite = () =>
  new InvalidLogitsError(`The model's logits have no finite largest value: ${advice}`);
