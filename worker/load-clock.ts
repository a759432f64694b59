import type { LoadProgress, LoadTimings } from '../src/protocol.ts';

/** Reads the times of a load from its progress. */
export class LoadClock {
  readonly #now: () => number;
  readonly #start: number;
  readonly #timings = { download: 0, session: 0, warmup: 0 };
  /** The step that runs, and since when. */
  #step: { phase: 'session' | 'warmup'; since: number } | null = null;

  /** @param now a clock in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#start = now();
  }

  /** Takes each message when it comes. */
  see({ phase }: LoadProgress): void {
    const now = this.#now();
    this.#endStep(now);
    if (phase === 'download') this.#timings.download = now - this.#start;
    else if (phase !== 'tokenizer') this.#step = { phase, since: now };
  }

  /** The times of a load that is done. */
  timings(): LoadTimings {
    const now = this.#now();
    this.#endStep(now);
    return { ...this.#timings, total: now - this.#start };
  }

  #endStep(now: number): void {
    if (this.#step) this.#timings[this.#step.phase] += now - this.#step.since;
    this.#step = null;
  }
}
