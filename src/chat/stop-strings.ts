/** What may be delivered now, and the stop string that was met, if any (its text and all after it are dropped). */
export interface StopResult {
  text: string;
  matched: string | null;
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
    if (this.#strings.length === 0) return { text, matched: null };
    const pending = this.#held + text;
    const match = this.#firstMatch(pending);
    if (match !== null) {
      this.#held = '';
      return { text: pending.slice(0, match.start), matched: match.string };
    }
    const keep = this.#heldLength(pending);
    this.#held = pending.slice(pending.length - keep);
    return { text: pending.slice(0, pending.length - keep), matched: null };
  }

  /** Gives out what is held back: no stop string can continue it any more. */
  release(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }

  /** The match that ends first; of several that end there, the longest. */
  #firstMatch(text: string): { start: number; string: string } | null {
    let first: { start: number; string: string } | null = null;
    let end = Number.POSITIVE_INFINITY;
    for (const string of this.#strings) {
      const start = text.indexOf(string);
      if (start < 0) continue;
      const matchEnd = start + string.length;
      if (matchEnd < end || (matchEnd === end && first !== null && start < first.start)) {
        first = { start, string };
        end = matchEnd;
      }
    }
    return first;
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
