import type { Vocabulary } from '../detokenizer/vocabulary.ts';
import type { TextLogprobs } from './text-types.ts';

/** A token with its log probability and those of the most probable ones. */
export interface ScoredToken {
  id: number;
  /** `null` for a token that follows nothing. */
  logprob: number | null;
  top: readonly { name: string; logprob: number }[];
}

/** Lists the tokens of one choice, and where each begins in its text. */
export class TextLogprobsWriter {
  readonly #vocabulary: Vocabulary;
  readonly #detokenizer;
  readonly #hasTop: boolean;
  readonly #showsControls: boolean;
  #length = 0;

  constructor(vocabulary: Vocabulary, hasTop: boolean, showsControls: boolean) {
    this.#vocabulary = vocabulary;
    this.#detokenizer = vocabulary.createDetokenizer();
    this.#hasTop = hasTop;
    this.#showsControls = showsControls;
  }

  /** @param isShown whether the token is text; by default as in an answer */
  write(
    tokens: readonly ScoredToken[],
    isShown = (id: number, _index: number) => this.#showsControls || !this.#vocabulary.isSpecial(id),
  ): TextLogprobs {
    const written: TextLogprobs = {
      tokens: [],
      token_logprobs: [],
      top_logprobs: this.#hasTop ? [] : null,
      text_offset: [],
    };
    for (const [index, { id, logprob, top }] of tokens.entries()) {
      const name = tokenName(this.#vocabulary, id);
      written.tokens.push(name);
      written.token_logprobs.push(logprob);
      written.text_offset.push(this.#length);
      const probable = top.map((entry): [string, number] => [entry.name, entry.logprob]);
      written.top_logprobs?.push(
        logprob === null ? null : Object.fromEntries([...probable, [name, logprob]]),
      );
      if (isShown(id, index)) this.#length += this.#detokenizer.push(id).length;
    }
    return written;
  }
}

/** Appends in place. */
export function appendLogprobs(to: TextLogprobs, more: TextLogprobs): void {
  to.tokens.push(...more.tokens);
  to.token_logprobs.push(...more.token_logprobs);
  to.text_offset.push(...more.text_offset);
  if (more.top_logprobs) to.top_logprobs?.push(...more.top_logprobs);
}

/** The token's text, or its bytes where it is no whole character. */
export function tokenName(vocabulary: Vocabulary, id: number): string {
  return vocabulary.wholeText(id) ?? bytesName(vocabulary.bytes(id));
}

/** The same of a token that is told with its bytes. */
export function toldName(text: string, bytes: ArrayLike<number>): string {
  // Replaced where it was no whole character.
  if (!text.includes('\ufffd')) return text;
  const own = new TextEncoder().encode(text);
  return own.length === bytes.length && own.every((byte, at) => byte === bytes[at]) ? text : bytesName(bytes);
}

const bytesName = (bytes: ArrayLike<number>): string =>
  `bytes:${Array.from(bytes, (byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}`;
