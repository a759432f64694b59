import type { Vocabulary } from './vocabulary.ts';

/**
 * Token ids to text, one stream at a time. A character that is spread over several tokens comes out with the
 * last of them; broken UTF-8 as U+FFFD, as the standard's decoder replaces it.
 */
export class Detokenizer {
  readonly #vocabulary: Vocabulary;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  /** The decoder may hold the beginning of a character. */
  #isPartial = false;

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
  }

  /** The text that this token completes. */
  push(id: number): string {
    if (!this.#isPartial) {
      const whole = this.#vocabulary.wholeText(id);
      if (whole !== null) return whole;
    }
    const bytes = this.#vocabulary.bytes(id);
    // After an ASCII byte nothing is left open, so the next token can take the short way again.
    this.#isPartial = (bytes[bytes.length - 1] ?? 0x80) >= 0x80;
    return this.#decoder.decode(bytes, { stream: this.#isPartial });
  }

  /** What is left of a character that never became whole. Call it at the end and before a control token. */
  flush(): string {
    if (!this.#isPartial) return '';
    this.#isPartial = false;
    return this.#decoder.decode();
  }
}
