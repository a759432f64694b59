import type { SamplingOptions } from '../../src/protocol.ts';
import type { Logits, RuntimeSampler } from '../backends/backend.ts';
import { Adjustments } from './adjustments.ts';
import { createRandomSource, type RandomSource } from './random.ts';
import { drawFromRow, greedy, Masking } from './sampler.ts';

/** Seeds that the runtime can tell apart: its generator's state, which is never 0. */
const seeds = 2 ** 31 - 2;

/**
 * Chooses the tokens of one choice by the sampler of a runtime, and from the row itself where that sampler lacks what
 * was asked for (top-k, min-p, a repetition penalty beside other changes). Each token has a seed of its own from the
 * choice's random numbers: so it does not matter what else the runtime has drawn in between.
 */
export class DrawnSampler {
  readonly #runtime: RuntimeSampler;
  readonly #options: SamplingOptions;
  readonly #random: RandomSource;
  readonly #adjustments: Adjustments;
  readonly #masking = new Masking();
  readonly #reads: boolean;

  /**
   * @param reads whether the row is needed anyway, and unchanged
   * @param seed replaces `options.seed`, which may be `null`
   * @param stream index of the choice: each has its own stream of random numbers
   * @param bias added to the logits of these tokens
   */
  constructor(
    runtime: RuntimeSampler,
    reads: boolean,
    options: SamplingOptions,
    seed: number,
    stream: number,
    promptTokenIds: ArrayLike<number>,
    bias?: ReadonlyMap<number, number>,
  ) {
    this.#runtime = runtime;
    this.#options = options;
    this.#random = createRandomSource(seed, stream);
    this.#adjustments = new Adjustments(options, promptTokenIds, bias);
    this.#reads = reads || options.topK > 0 || options.minP > 0;
  }

  /**
   * The next token; it counts as part of the answer from now on.
   *
   * @param mask bit `id % 32` of word `id / 32`: whether a token may come; `null` lets all of them
   * @param read gives the last row of `logits` in memory, as wide as the vocabulary
   * @throws InvalidLogitsError when there is a NaN or no finite largest value, or no token that may come
   */
  async next(logits: Logits, mask: Uint32Array | null, read: () => Promise<Float32Array>): Promise<number> {
    const id = await this.#draw(logits, mask, read);
    this.take(id);
    return id;
  }

  async #draw(logits: Logits, mask: Uint32Array | null, read: () => Promise<Float32Array>): Promise<number> {
    const { temperature, topP, repetitionPenalty } = this.#options;
    const { repeated, offsets } = this.#adjustments;
    const point = this.#random.next();
    if (!this.#reads && (repeated.size === 0 || offsets.size === 0)) {
      const seed = 1 + Math.floor(point * seeds);
      return this.#runtime.draw(logits, {
        mask,
        temperature,
        topP,
        repetitionPenalty,
        repeated,
        offsets,
        seed,
      });
    }
    const row = await read();
    const adjusted = this.#adjustments.apply(mask ? this.#masking.apply(row, mask) : row);
    const best = greedy(adjusted);
    return temperature === 0 ? best : drawFromRow(adjusted, adjusted[best]!, this.#options, point);
  }

  /** A token that was drawn before counts as part of the answer, and its random number as used. */
  repeat(id: number): void {
    this.#random.next();
    this.take(id);
  }

  /** A token that was not drawn counts as part of the answer too. */
  take(id: number): void {
    this.#adjustments.take(id);
  }
}
