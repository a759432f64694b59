import type { GenerationMessage } from '../chat/answer.ts';
import type { Timings } from '../protocol.ts';

type Phase = 'rendering' | 'prefilling' | 'decoding';

/** Times of an answer as the page sees it, for one that several workers give: each of them knows its own part only. */
export class AnswerClock {
  readonly #sent = performance.now();
  /** When each phase was reached first. */
  readonly #reached: Partial<Record<Phase, number>> = {};
  #firstToken: number | null = null;
  #lastToken = 0;
  #tokens = 0;

  see(message: GenerationMessage): void {
    const now = performance.now();
    if (message.type === 'state' && message.state !== 'queued' && message.state !== 'ending') {
      this.#reached[message.state] ??= now;
    }
    if (message.type !== 'tokens') return;
    this.#firstToken ??= now;
    this.#lastToken = now;
    this.#tokens += message.ids.length;
  }

  /** @param last as the last of the workers tells them */
  timings(last: Timings, resumed: number): Timings {
    const { rendering, prefilling, decoding } = this.#reached;
    const end = this.#firstToken === null ? performance.now() : this.#lastToken;
    const between = (from = end, to = end) => Math.max(0, to - from);
    const first = this.#firstToken ?? this.#sent;
    const decode = between(first, end);
    return {
      ...last,
      queued: between(this.#sent, rendering),
      rendering: between(rendering, prefilling),
      prefill: between(prefilling, decoding),
      decode: between(decoding),
      timeToFirstToken: first - this.#sent,
      tokensPerSecond: this.#tokens < 2 || decode === 0 ? 0 : ((this.#tokens - 1) * 1000) / decode,
      resumed,
    };
  }
}
