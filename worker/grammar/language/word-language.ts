import { spend } from './allowance.ts';
import { AutomatonTooLargeError, DEAD } from './automaton.ts';
import type { Language } from './language.ts';

/** Characters that beginnings of words may have together. */
const LARGEST_TREE = 1_000_000;

/** Exactly these texts, as a tree of their beginnings: it grows with their length only. */
export class WordLanguage implements Language {
  readonly start: number;
  /** By state: where each code point leads. */
  readonly #next: Map<number, number>[] = [];
  readonly #ends = new Set<number>();

  /** @throws AutomatonTooLargeError */
  constructor(words: Iterable<string>) {
    const root = this.#node();
    for (const word of words) {
      let state = root;
      for (const character of word) {
        const code = character.codePointAt(0)!;
        const next = this.#next[state]!;
        const known = next.get(code);
        state = known ?? this.#node();
        if (known === undefined) next.set(code, state);
      }
      this.#ends.add(state);
    }
    this.start = this.#ends.size === 0 ? DEAD : root;
  }

  step(state: number, codePoint: number): number {
    return this.#next[state]!.get(codePoint) ?? DEAD;
  }

  accepts(state: number): boolean {
    return this.#ends.has(state);
  }

  admits(state: number, low: number, high: number): boolean {
    for (const code of this.#next[state]!.keys()) if (code >= low && code <= high) return true;
    return false;
  }

  key(state: number): number {
    return state;
  }

  #node(): number {
    spend(4);
    if (this.#next.length >= LARGEST_TREE) throw new AutomatonTooLargeError();
    return this.#next.push(new Map()) - 1;
  }
}
