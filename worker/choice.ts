import type { ChoiceEnd, EndReason, Resumption } from '../src/protocol.ts';
import type { EndTokens } from './end-tokens.ts';

/** One choice of an answer as far as it has come. */
export class Choice {
  readonly index: number;
  /** All that was sent, also behind the cut. */
  readonly ids: number[];
  #tokens: number;
  /** The output counts up to here; set by the page. */
  #cutAt: number;
  #reason: EndReason | null = null;

  /** @param resumed what an earlier worker has sent of it */
  constructor(index: number, resumed?: Resumption['choices'][number]) {
    this.index = index;
    this.ids = [...(resumed?.ids ?? [])];
    this.#tokens = this.ids.length;
    this.#cutAt = resumed?.cutAt ?? Infinity;
  }

  /** Tokens that count. */
  get tokens(): number {
    return this.#tokens;
  }

  get cutAt(): number {
    return this.#cutAt;
  }

  /** Whether the page wants no more of it. */
  get isCut(): boolean {
    return this.#tokens >= this.#cutAt;
  }

  /** Why no token follows the ones that there are; `null` while one may. */
  over(ends: EndTokens, limit: number): EndReason | null {
    const last = this.ids.at(-1);
    if (last !== undefined && ends.ends(last)) return 'eos';
    if (this.#tokens >= limit) return 'length';
    return this.isCut ? 'cut' : null;
  }

  take(id: number): void {
    this.ids.push(id);
    this.#tokens++;
  }

  /** The output counts up to the token `at`. Also for a choice that has ended, while the request lives. */
  cut(at: number): void {
    if (!Number.isInteger(at) || at < 0) return;
    this.#cutAt = Math.min(this.#cutAt, at);
    if (this.#reason !== null && this.#cutAt < this.#tokens) this.end('cut');
  }

  end(reason: EndReason): void {
    this.#reason = reason;
    if (this.#cutAt < this.#tokens || reason === 'cut') {
      this.#reason = 'cut';
      this.#tokens = Math.min(this.#tokens, this.#cutAt);
    }
  }

  /** One that has not ended was aborted. */
  get told(): ChoiceEnd {
    return { choice: this.index, reason: this.#reason ?? 'abort', completionTokens: this.#tokens };
  }
}
