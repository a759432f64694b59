export interface EndTokensOptions {
  /** Tokens with which the model ends its turn. */
  eosTokenIds: readonly number[];
  /** Tokens that end the answer because the request says so. */
  stopTokenIds?: readonly number[];
  /** None of both is chosen before the answer has so many tokens. */
  minTokens?: number;
  /** The model's own do not end the answer. */
  ignoreEos?: boolean;
}

/** The tokens that end a choice, and when they may come. */
export class EndTokens {
  readonly #ids: ReadonlySet<number>;
  readonly #minTokens: number;
  #mask = new Uint32Array(0);

  constructor({ eosTokenIds, stopTokenIds = [], minTokens = 0, ignoreEos = false }: EndTokensOptions) {
    this.#ids = new Set(ignoreEos ? stopTokenIds : [...eosTokenIds, ...stopTokenIds]);
    this.#minTokens = minTokens;
  }

  /** Whether the choice is over with this token, which may also have been forced before its time. */
  ends(id: number): boolean {
    return this.#ids.has(id);
  }

  /**
   * The tokens that may come next; the next call may reuse the array. Where a grammar lets nothing else come, an end
   * may come early.
   *
   * @param mask bit `id % 32` of word `id / 32`: whether the grammar lets a token come; `null` where all may
   * @param tokens of the choice so far
   * @param width tokens of the vocabulary
   */
  mask(mask: Uint32Array | null, tokens: number, width: number): Uint32Array | null {
    if (tokens >= this.#minTokens || this.#ids.size === 0) return mask;
    const words = Math.ceil(width / 32);
    if (this.#mask.length !== words) this.#mask = new Uint32Array(words);
    const allowed = this.#mask;
    if (mask) allowed.fill(0).set(mask.subarray(0, words));
    else allowed.fill(0xffffffff);
    for (const id of this.#ids) if (id < width) allowed[id >>> 5]! &= ~(1 << (id & 31));
    // Bits behind the vocabulary are no tokens.
    const isOpen = allowed.some((word, index) =>
      index < words - 1 || width % 32 === 0 ? word !== 0 : (word & ((1 << (width % 32)) - 1)) !== 0,
    );
    return isOpen ? allowed : mask;
  }
}
