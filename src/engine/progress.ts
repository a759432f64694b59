import type { LoadProgress } from '../protocol.ts';
import type { EngineProgress } from './options.ts';

/** The speed told is that of the last so many milliseconds. */
const speedWindow = 5000;
/** Nothing is told of less than so many milliseconds. */
const shortestWindow = 250;

/** Adds the sums over all files, and the speed, to the worker's progress messages. */
export class ProgressSum {
  readonly #now: () => number;
  readonly #files = new Map<string, { loaded: number; total: number; received: number }>();
  /** When how much had come over the network: the first of them is the last one before the window. */
  readonly #seen: { at: number; received: number }[] = [];

  /** @param now a clock in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  add(progress: LoadProgress): EngineProgress {
    if (progress.file !== null) {
      const { loaded, total, received = 0 } = progress;
      // A server that does not say the length: what has come is what is known.
      this.#files.set(progress.file, { loaded, total: Math.max(loaded, total), received });
    }
    const sum = { loaded: 0, total: 0, received: 0 };
    for (const { loaded, total, received } of this.#files.values()) {
      sum.loaded += loaded;
      sum.total += total;
      sum.received += received;
    }
    return { ...progress, overall: { ...sum, bytesPerSecond: this.#speed(sum.received) } };
  }

  #speed(received: number): number | null {
    const now = this.#now();
    this.#seen.push({ at: now, received });
    while (this.#seen.length > 2 && this.#seen[1]!.at <= now - speedWindow) this.#seen.shift();
    const first = this.#seen[0]!;
    const milliseconds = now - first.at;
    if (received === 0 || milliseconds < shortestWindow) return null;
    return ((received - first.received) / milliseconds) * 1000;
  }
}
