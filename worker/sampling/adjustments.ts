import type { SamplingOptions } from '../../src/protocol.ts';

type Penalties = Pick<SamplingOptions, 'repetitionPenalty' | 'presencePenalty' | 'frequencyPenalty'>;

const largestFloat = 3.4028234663852886e38;
/** Finite in single precision: where infinities are not computed with, as on GPUs, they would mean nothing. */
const finite = (value: number) => Math.max(-largestFloat, Math.min(largestFloat, Math.fround(value)));

/**
 * What is done to the logits of one choice before anything is chosen: a repeated token's logit is multiplied, then the
 * token's offset (bias, presence and frequency penalty) is added. All of it is in single precision, one rounding a
 * step, so that a GPU can do the same.
 */
export class Adjustments {
  /** Factor of a repeated token's logit where that is above 0. */
  readonly shrink: number;
  /** Factor of a repeated token's logit where that is 0 or less. */
  readonly grow: number;
  /** Tokens of prompt and answer; empty without a repetition penalty. */
  readonly repeated: ReadonlySet<number>;
  /** What is added to a token's logit. */
  readonly offsets: ReadonlyMap<number, number>;
  /** The tokens of the answer so far: each has changed what is known of it above. Empty where nothing ever changes. */
  readonly taken: readonly number[];
  readonly #presence: number;
  readonly #frequency: number;
  readonly #bias: ReadonlyMap<number, number>;
  readonly #repeated = new Set<number>();
  readonly #offsets = new Map<number, number>();
  /** How often the answer has each token. */
  readonly #counts = new Map<number, number>();
  readonly #taken: number[] = [];
  #row = new Float32Array(0);

  /** @param bias added to the logits of these tokens (OpenAI's `logit_bias`) */
  constructor(
    { repetitionPenalty, presencePenalty, frequencyPenalty }: Penalties,
    promptTokenIds: ArrayLike<number> = [],
    bias: ReadonlyMap<number, number> = new Map(),
  ) {
    this.repeated = this.#repeated;
    this.offsets = this.#offsets;
    this.taken = this.#taken;
    this.shrink = finite(1 / repetitionPenalty);
    this.grow = finite(repetitionPenalty);
    this.#presence = presencePenalty;
    this.#frequency = frequencyPenalty;
    this.#bias = bias;
    for (const [id, value] of bias) this.#offsets.set(id, finite(value));
    if (this.grow === 1) return;
    for (let index = 0; index < promptTokenIds.length; index++) this.#repeated.add(promptTokenIds[index]!);
  }

  /** The token counts as part of the answer from now on. */
  take(id: number): void {
    const isRepetition = this.grow !== 1;
    const isUse = this.#presence !== 0 || this.#frequency !== 0;
    if (isRepetition) this.#repeated.add(id);
    if (isUse) {
      const count = (this.#counts.get(id) ?? 0) + 1;
      this.#counts.set(id, count);
      this.#offsets.set(id, finite((this.#bias.get(id) ?? 0) - this.#presence - this.#frequency * count));
    }
    if (isRepetition || isUse) this.#taken.push(id);
  }

  /** The row adjusted, in an array that the next call reuses; the row itself where there is nothing to do. */
  apply(row: Float32Array): Float32Array {
    if (this.#repeated.size === 0 && this.#offsets.size === 0) return row;
    if (this.#row.length !== row.length) this.#row = new Float32Array(row.length);
    const adjusted = this.#row;
    adjusted.set(row);
    for (const id of this.#repeated) {
      if (id >= adjusted.length) continue;
      const logit = adjusted[id]!;
      adjusted[id] = logit * (logit > 0 ? this.shrink : this.grow);
    }
    for (const [id, offset] of this.#offsets) adjusted[id]! += offset;
    return adjusted;
  }
}
