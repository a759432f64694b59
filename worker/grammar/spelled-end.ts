import type { Vocabulary } from '../../src/detokenizer/vocabulary.ts';

/** White space that may follow in the token that ends the marker: it is layout, and a grammar lets more of it come. */
const LAYOUT = /^[\r\n]*$/;

/**
 * Where the end marker of the reasoning is spelled out in ordinary tokens, a token can write on behind it:
 *
 * ```
 * … so yes.</th ink >{"
 *                   ^^^   the marker ends in a token that the grammar, which begins behind it, has not led
 * ```
 */
export class SpelledEnd {
  readonly #markers: readonly string[];
  /** Tokens that begin with the rest of a marker, or hold all of one, and write on. */
  readonly #after = new Map<string, number[]>();

  /** @param markers spellings that are no tokens */
  constructor(vocabulary: Vocabulary, markers: readonly string[]) {
    this.#markers = markers;
    for (let id = 0; id < vocabulary.size; id++) {
      if (vocabulary.isSpecial(id)) continue;
      const text = vocabulary.text(id);
      for (const marker of markers) {
        const whole = text.indexOf(marker);
        if (whole >= 0 && !LAYOUT.test(text.slice(whole + marker.length))) this.#add(marker, id);
        for (let begun = 1; begun < marker.length; begun++) {
          const rest = marker.slice(begun);
          if (text.startsWith(rest) && !LAYOUT.test(text.slice(rest.length))) this.#add(rest, id);
        }
      }
    }
  }

  /** Tokens that may not come behind text that ends like this. */
  withheldBehind(text: string): number[] {
    return this.#markers.flatMap((marker) =>
      Array.from({ length: marker.length }, (_, begun) =>
        text.endsWith(marker.slice(0, begun)) ? (this.#after.get(marker.slice(begun)) ?? []) : [],
      ).flat(),
    );
  }

  #add(rest: string, id: number): void {
    const ids = this.#after.get(rest);
    if (ids) ids.push(id);
    else this.#after.set(rest, [id]);
  }
}
