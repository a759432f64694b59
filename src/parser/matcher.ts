/** The lexer's half that looks for markers: the literals that mean something in one state. */

export interface Match {
  /** Where it begins. */
  at: number;
  /** 0: everything from `at` on may still become a marker; wait for more. */
  length: number;
  terminal: string;
}

/** A part of a literal that must have come as one control token. */
export interface Piece {
  at: number;
  length: number;
}

export interface Literal {
  literal: string;
  terminal: string;
  pieces?: readonly Piece[];
  /** It means nothing here, but no part of it is another one. */
  isInert?: boolean;
}

/** Whether a stretch of the text came as one control token. */
export type IsControl = (at: number, length: number) => boolean;

/**
 * Finds the earliest literal in a text, the longest one at a place. A literal that the text's end cuts off is
 * reported with length 0, unless the text is final.
 */
export class Matcher {
  readonly #byFirst = new Map<number, Literal[]>();
  readonly #isControl: IsControl;
  /** The only first character, for a native search; several use `#pattern`. */
  readonly #single: string | null;
  readonly #pattern: RegExp | null;

  constructor(literals: readonly Literal[], isControl: IsControl) {
    this.#isControl = isControl;
    for (const entry of literals) {
      const first = entry.literal.charCodeAt(0);
      const list = this.#byFirst.get(first);
      if (list) list.push(entry);
      else this.#byFirst.set(first, [entry]);
    }
    for (const list of this.#byFirst.values()) list.sort((a, b) => b.literal.length - a.literal.length);
    const firsts = [...this.#byFirst.keys()].map((code) => String.fromCharCode(code));
    this.#single = firsts.length === 1 ? firsts[0]! : null;
    this.#pattern =
      firsts.length > 1
        ? new RegExp(`[${firsts.map((c) => c.replace(/[\\\]^-]/g, '\\$&')).join('')}]`, 'g')
        : null;
  }

  /** The earliest marker in `text.slice(from, to)`, or null. */
  find(text: string, from: number, to: number, isFinal: boolean): Match | null {
    for (let at = this.#candidate(text, from); at >= 0 && at < to; at = this.#candidate(text, at + 1)) {
      const match = this.matchAt(text, at, to, isFinal);
      if (match) return match;
    }
    return null;
  }

  /** A marker that begins exactly at `at`, or null. */
  matchAt(text: string, at: number, to: number, isFinal: boolean): Match | null {
    const entries = this.#byFirst.get(text.charCodeAt(at));
    if (!entries) return null;
    const available = to - at;
    let half: Match | null = null;
    // Longest first: a cut-off longer literal must be waited for before a shorter one counts.
    for (const { literal, terminal, pieces, isInert } of entries) {
      if (literal.length <= available) {
        if (text.startsWith(literal, at) && this.#isMade(pieces, at)) {
          return half ?? { at, length: literal.length, terminal };
        }
      } else if (!isFinal && literal.startsWith(text.slice(at, to))) {
        half = { at, length: 0, terminal };
        if (!isInert) return half;
      }
    }
    return half;
  }

  #isMade(pieces: readonly Piece[] | undefined, at: number): boolean {
    return pieces?.every((piece) => this.#isControl(at + piece.at, piece.length)) ?? true;
  }

  #candidate(text: string, from: number): number {
    if (this.#single !== null) return text.indexOf(this.#single, from);
    if (this.#pattern === null) return -1;
    this.#pattern.lastIndex = from;
    return this.#pattern.test(text) ? this.#pattern.lastIndex - 1 : -1;
  }
}
