import type { SamplingOptions } from '../../../src/protocol.ts';
import { Adjustments } from '../adjustments.ts';
import { drawFromBest } from '../best.ts';
import { createRandomSource, type RandomSource } from '../random.ts';
import { drawFromRow, greedy, Masking, notANumber, notFinite } from '../sampler.ts';
import { type GpuRow, leastTemperature, type RowReducer, weightError } from './reducer.ts';
import type { Best } from './results.ts';
import { mostCandidates } from './shader.ts';

/**
 * Chooses the tokens of one choice like `Sampler`, with the logits left on the GPU.
 *
 * Same options, seed and logits give the token that `Sampler` gives, drawn with the same random number, for what the
 * GPU reads back either settles it within the bounds of its arithmetic, or the row is read and drawn from here. Two
 * exceptions: a token with both a repetition penalty and an offset may differ in the last place where the device fuses
 * the two steps, and subnormal values may count as 0; so tokens may change places that are as near as that.
 */
export class GpuSampler {
  /**
   * The token that the GPU wrote for the next step, with the last one chosen. In a draw it may be another one: the GPU
   * sums in single precision.
   */
  written = 0;
  /** Rows that had to be read whole. */
  readRows = 0;
  readonly #reducer: RowReducer;
  readonly #options: SamplingOptions;
  readonly #random: RandomSource;
  readonly #adjustments: Adjustments;
  readonly #masking = new Masking();

  /**
   * @param reducer may serve other choices between two tokens
   * @param seed replaces `options.seed`, which may be `null`
   * @param stream index of the choice: each has its own stream of random numbers
   * @param bias added to the logits of these tokens
   */
  constructor(
    reducer: RowReducer,
    options: SamplingOptions,
    seed: number,
    stream: number,
    promptTokenIds: ArrayLike<number>,
    bias?: ReadonlyMap<number, number>,
  ) {
    this.#reducer = reducer;
    this.#options = options;
    this.#random = createRandomSource(seed, stream);
    this.#adjustments = new Adjustments(options, promptTokenIds, bias);
  }

  /**
   * The next token; it counts as part of the answer from now on.
   *
   * @param row on the GPU; left unchanged
   * @param mask bit `id % 32` of word `id / 32`: whether a token may come; `null` lets all of them
   * @param read gives the same row in memory, as wide as the vocabulary; called where the GPU's result leaves a doubt
   * @param next where the GPU writes a token for the next step, see {@link written}; only where it {@link choosesAlone}
   * @throws InvalidLogitsError when there is a NaN or no finite largest value
   */
  async next(
    row: GpuRow,
    mask: Uint32Array | null,
    read: () => Promise<Float32Array>,
    next: GPUBuffer | null = null,
  ): Promise<number> {
    const { temperature } = this.#options;
    const id = await (temperature === 0 ? this.#best(row, mask, next) : this.#draw(row, mask, read, next));
    this.take(id);
    return id;
  }

  /**
   * Whether the GPU can write a token for the next step before it is read here: greedily, and with a top-k that is read
   * back whole. Else the row may be needed, which the next step overwrites.
   */
  get choosesAlone(): boolean {
    const { temperature, topK } = this.#options;
    return temperature === 0 || (topK > 0 && topK <= mostCandidates);
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

  async #best(row: GpuRow, mask: Uint32Array | null, next: GPUBuffer | null): Promise<number> {
    const best = await this.#reducer.best(row, { mask, adjustments: this.#adjustments }, next);
    refuse(best);
    this.written = best.id;
    return best.id;
  }

  async #draw(
    row: GpuRow,
    mask: Uint32Array | null,
    read: () => Promise<Float32Array>,
    next: GPUBuffer | null,
  ): Promise<number> {
    const { temperature, topK, topP, minP } = this.#options;
    const { size } = this.#reducer;
    const count = Math.min(topK > 0 ? topK : size, size, mostCandidates);
    const changes = { mask, adjustments: this.#adjustments };
    const point = this.#random.next();
    const draw = next && { topP, minP, point, next };
    const { best, candidates, allowed, weight, drawn } = await this.#reducer.top(
      row,
      changes,
      count,
      temperature,
      draw,
    );
    refuse(best);
    this.written = drawn;
    const summary = {
      best: candidates,
      allowed,
      weight,
      weightError: temperature < leastTemperature ? 1 : weightError,
    };
    const id = drawFromBest(summary, size, this.#options, point);
    if (id !== null) return id;
    this.readRows++;
    const whole = await read();
    const adjusted = this.#adjustments.apply(mask ? this.#masking.apply(whole, mask) : whole);
    return drawFromRow(adjusted, adjusted[greedy(adjusted)]!, this.#options, point);
  }
}

/** @throws InvalidLogitsError when the row has a fault */
export function refuse({ id, fault }: Best): void {
  if (fault === 'notANumber') throw notANumber(id);
  if (fault === 'notFinite') throw notFinite();
}
