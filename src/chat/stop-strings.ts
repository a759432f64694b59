/** What may be delivered now, and whether a stop string was met (its text and all after it are dropped). */
export interface StopResult {
  text: string;
  matched: boolean;
}

/**
 * Looks for stop strings in a text that arrives in pieces. A possible beginning of one is held back. The
 * first stop string to be complete ends the text, so the result does not depend on how the text was cut.
 */
export class StopStrings {
  readonly #strings: readonly string[];
  #held = '';

  constructor(strings: readonly string[]) {
    this.#strings = strings;
  }

  push(text: string): StopResult {
    if (this.#strings.length === 0) return { text, matched: false };
    const pending = this.#held + text;
    const start = this.#firstMatch(pending);
    if (start !== null) {
      this.#held = '';
      return { text: pending.slice(0, start), matched: true };
    }
    const keep = this.#heldLength(pending);
    this.#held = pending.slice(pending.length - keep);
    return { text: pending.slice(0, pending.length - keep), matched: false };
  }

  /** Gives out what is held back: no stop string can continue it any more. */
  release(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }

  /** Start of the match that ends first; of several that end there, the longest. */
  #firstMatch(text: string): number | null {
    let start: number | null = null;
    let end = Number.POSITIVE_INFINITY;
    for (const string of this.#strings) {
      const at = text.indexOf(string);
      if (at < 0) continue;
      const matchEnd = at + string.length;
      if (matchEnd < end || (matchEnd === end && start !== null && at < start)) {
        start = at;
        end = matchEnd;
      }
    }
    return start;
  }

  /** Length of the longest end of `text` that begins a stop string. */
  #heldLength(text: string): number {
    let longest = 0;
    for (const string of this.#strings) {
      for (let length = Math.min(string.length - 1, text.length); length > longest; length--) {
        if (text.endsWith(string.slice(0, length))) {
          longest = length;
          break;
        }
      }
    }
    return longest;
  }
}
