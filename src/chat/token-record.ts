import type { TokenLogprobs } from '../protocol.ts';
import type { ChatCompletionChunkChoice } from './types.ts';

/** What is told of a token by itself. */
export interface TokenText {
  /** A part of a character is U+FFFD. */
  text(id: number): string;
  bytes(id: number): Uint8Array;
}

/** OpenAI's number for what has no probability to speak of: JSON has no infinity. */
const leastLogprob = -9999;

/**
 * Ids and logprobs of the tokens of one choice, until a chunk takes them along: that with the text that a token
 * completes, or one behind it. All tokens that count have their turn, markers and the one that ended the answer too.
 */
export class TokenRecord {
  readonly #vocabulary: TokenText;
  readonly #withIds: boolean;
  #ids: number[] = [];
  #logprobs: TokenLogprobs[] = [];
  /** Tokens that were taken. */
  #taken = 0;

  constructor(vocabulary: TokenText, withIds: boolean) {
    this.#vocabulary = vocabulary;
    this.#withIds = withIds;
  }

  /** @param logprobs one a token; none where they were not asked for */
  add(ids: ArrayLike<number>, logprobs: readonly TokenLogprobs[] = []): void {
    this.#ids.push(...Array.from(ids));
    this.#logprobs.push(...logprobs);
  }

  /** Fields of a chunk that reads the choice's tokens up to `end` (exclusive); none without a token. */
  take(end: number): Pick<ChatCompletionChunkChoice, 'logprobs' | 'token_ids'> {
    const ids = this.#ids.splice(0, Math.max(0, end - this.#taken));
    if (ids.length === 0) return {};
    this.#taken += ids.length;
    const logprobs = this.#logprobs.splice(0, ids.length);
    return {
      ...(logprobs.length > 0 && {
        logprobs: {
          content: logprobs.map(({ logprob, top }, index) => ({
            ...this.#told(ids[index]!, logprob),
            top_logprobs: top.map(({ id, logprob }) => this.#told(id, logprob)),
          })),
          refusal: null,
        },
      }),
      ...(this.#withIds && { token_ids: ids }),
    };
  }

  #told(id: number, logprob: number) {
    return {
      token: this.#vocabulary.text(id),
      logprob: Math.max(logprob, leastLogprob),
      bytes: Array.from(this.#vocabulary.bytes(id)),
    };
  }
}
