import type { Timings } from '../src/protocol.ts';
import type { ModelRun } from './model-run.ts';

/** Times of a request, in milliseconds. */
export class RequestClock {
  readonly #arrived = performance.now();
  readonly #marks: Partial<Record<'rendering' | 'prefill' | 'decode', number>> = {};
  #firstToken: number | null = null;
  #lastToken = 0;
  #tokens = 0;
  #forced = 0;
  #counts: ModelRun['counts'] = { forwards: 0, drafted: 0, accepted: 0 };

  /** The phase begins now. */
  mark(phase: 'rendering' | 'prefill' | 'decode'): void {
    this.#marks[phase] = performance.now();
  }

  token(): void {
    this.#lastToken = performance.now();
    this.#firstToken ??= this.#lastToken;
    this.#tokens++;
  }

  /** A token was taken without a forward pass. */
  forced(): void {
    this.#forced++;
  }

  /** What the model did after the prompt. */
  ran(counts: readonly ModelRun['counts'][]): void {
    for (const { forwards, drafted, accepted } of counts) {
      this.#counts.forwards += forwards;
      this.#counts.drafted += drafted;
      this.#counts.accepted += accepted;
    }
  }

  timings(): Timings {
    const now = performance.now();
    const { rendering, prefill, decode } = this.#marks;
    const between = (start: number | undefined, end: number) =>
      start === undefined ? 0 : Math.max(0, end - start);
    const decoding = this.#firstToken === null ? 0 : this.#lastToken - this.#firstToken;
    return {
      queued: (rendering ?? now) - this.#arrived,
      rendering: between(rendering, prefill ?? now),
      prefill: between(prefill, decode ?? now),
      decode: between(decode, this.#firstToken === null ? now : this.#lastToken),
      timeToFirstToken: this.#firstToken === null ? 0 : this.#firstToken - this.#arrived,
      tokensPerSecond: this.#tokens < 2 || decoding <= 0 ? 0 : ((this.#tokens - 1) * 1000) / decoding,
      forcedTokens: this.#forced,
      forwards: this.#counts.forwards,
      draftedTokens: this.#counts.drafted,
      acceptedTokens: this.#counts.accepted,
    };
  }
}
