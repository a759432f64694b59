import type { LoadProgress } from '../protocol.ts';
import type { EngineProgress } from './options.ts';

/** Adds the sums over all files to the worker's progress messages. */
export class ProgressSum {
  readonly #files = new Map<string, { loaded: number; total: number }>();

  add(progress: LoadProgress): EngineProgress {
    if (progress.file !== null) {
      const { loaded, total } = progress;
      // A server that does not say the length: what has come is what is known.
      this.#files.set(progress.file, { loaded, total: Math.max(loaded, total) });
    }
    const overall = { loaded: 0, total: 0 };
    for (const { loaded, total } of this.#files.values()) {
      overall.loaded += loaded;
      overall.total += total;
    }
    return { ...progress, overall };
  }
}
