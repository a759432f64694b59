/** Candidates that one lookup looks at, the latest first, and tokens that each is compared in: the cost of a lookup. */
const mostCandidates = 16;
export const longestMatch = 32;

/** Stands between texts that do not follow one another; no token. */
const border = -1;

/** Where the text may go on as it did before. */
export interface Copy {
  /** Index of the token that came next there. */
  at: number;
  /** Tokens before it that are the same here, up to {@link longestMatch}. */
  length: number;
}

/**
 * All tokens so far, with the places of each pair of neighbours in a chain from the latest to the earliest, and the
 * latest place of each token: a token is added and a lookup made in constant time, whatever the length.
 */
export class Copies {
  #tokens = new Int32Array(1024);
  /** For each token, where the pair that ends in it came before: index + 1; 0 for nowhere. */
  #earlier = new Int32Array(1024);
  /** By hash of a pair, where it came last: index + 1. */
  readonly #latest = new Int32Array(1 << 14);
  /** By token, where it came last: index + 1. */
  readonly #latestOf = new Map<number, number>();
  #count = 0;

  /** Tokens held, borders included. */
  get count(): number {
    return this.#count;
  }

  /** The token at an index that a {@link Copy} names, or behind one; `null` behind the last token and at a border. */
  at(index: number): number | null {
    const id = index < this.#count ? this.#tokens[index]! : border;
    return id === border ? null : id;
  }

  add(id: number): void {
    // The token before is followed by something now.
    const before = this.#count - 1;
    if (before >= 0) this.#latestOf.set(this.#tokens[before]!, before + 1);
    const index = this.#push(id);
    const slot = this.#slotAt(index);
    if (slot < 0) return;
    this.#earlier[index] = this.#latest[slot]!;
    this.#latest[slot] = index + 1;
  }

  /** What is added next follows nothing. */
  separate(): void {
    this.#push(border);
  }

  /**
   * The place that shares the longest text with the end, of equal ones the latest.
   *
   * @param more tokens that are taken to follow, though they were not added
   */
  find(more: readonly number[] = []): Copy | null {
    const count = this.#count;
    for (const id of more) this.#push(id);
    const end = this.#count - 1;
    const slot = this.#slotAt(end);
    let found: Copy | null = null;
    let place = slot < 0 ? 0 : this.#latest[slot]!;
    // The chain begins with the end itself where that was added.
    if (place === end + 1) place = this.#earlier[end]!;
    for (let left = mostCandidates; place > 0 && left > 0; left--) {
      const length = this.#commonLength(place - 1, end);
      if (length > (found?.length ?? 1) && this.at(place) !== null && place < count) {
        found = { at: place, length };
        if (length === longestMatch) break;
      }
      place = this.#earlier[place - 1]!;
    }
    const last = end < 0 ? border : this.#tokens[end]!;
    this.#count = count;
    const latest = found || last === border ? undefined : this.#latestOf.get(last);
    return latest === undefined || this.at(latest) === null ? found : { at: latest, length: 1 };
  }

  /** Tokens before and at two indices that are the same. */
  #commonLength(one: number, other: number): number {
    const tokens = this.#tokens;
    let length = 0;
    while (
      length < longestMatch &&
      length <= one &&
      tokens[one - length] === tokens[other - length] &&
      tokens[one - length] !== border
    ) {
      length++;
    }
    return length;
  }

  #push(id: number): number {
    if (this.#count === this.#tokens.length) {
      this.#tokens = enlarged(this.#tokens);
      this.#earlier = enlarged(this.#earlier);
    }
    this.#tokens[this.#count] = id;
    this.#earlier[this.#count] = 0;
    return this.#count++;
  }

  /** Of the pair that ends at an index; -1 where there is none. */
  #slotAt(index: number): number {
    if (index < 1) return -1;
    const [first, second] = [this.#tokens[index - 1]!, this.#tokens[index]!];
    if (first === border || second === border) return -1;
    return Math.imul(Math.imul(first, 0x9e3779b1) + second, 0x85ebca6b) >>> 18;
  }
}

function enlarged(array: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * array.length);
  larger.set(array);
  return larger;
}
