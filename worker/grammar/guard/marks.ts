import { DEAD } from '../language/automaton.ts';

/** Finds whether one of some texts comes in another, character by character. */
export class Marks {
  /** By the number of a beginning, 0 being that of nothing: where its next character leads. */
  readonly #next: ReadonlyMap<number, number>[];

  /** @param marks texts that end with an ASCII character: all bytes before it are of whole characters then */
  constructor(marks: readonly string[]) {
    const characters = marks.map((mark) => Array.from(mark));
    for (const mark of characters)
      if (!(mark.at(-1)! < '\u0080')) throw new Error(`${JSON.stringify(mark.join(''))} can't be avoided.`);
    const beginnings = new Set(['']);
    for (const mark of characters)
      for (let length = 1; length < mark.length; length++) beginnings.add(mark.slice(0, length).join(''));
    const numbers = new Map(Array.from(beginnings, (beginning, number) => [beginning, number]));
    const letters = [...new Set(characters.flat())];
    const target = (text: string): number => {
      if (marks.some((mark) => text.endsWith(mark))) return DEAD;
      const rest = Array.from(text);
      while (!numbers.has(rest.join(''))) rest.shift();
      return numbers.get(rest.join(''))!;
    };
    this.#next = Array.from(
      beginnings,
      (beginning) =>
        new Map(letters.map((letter) => [letter.codePointAt(0)!, target(beginning + letter)] as const)),
    );
  }

  /** Characters that go on with a mark, or complete one. */
  leading(state: number): number[] {
    return Array.from(this.#next[state]!).flatMap(([codePoint, next]) => (next === 0 ? [] : [codePoint]));
  }

  /** The state behind a character; 0 is that in which no mark has begun. `DEAD`: one is complete. */
  step(state: number, codePoint: number): number {
    return this.#next[state]!.get(codePoint) ?? 0;
  }
}
