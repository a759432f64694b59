/** Lets so many run at once; the others wait in order. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Rejects with the reason of `signal` where that aborts while it waits. */
  async run<Result>(signal: AbortSignal, use: () => Promise<Result>): Promise<Result> {
    await this.#take(signal);
    try {
      return await use();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }

  async #take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const taken = () => {
        signal.removeEventListener('abort', aborted);
        resolve();
      };
      const aborted = () => {
        this.#waiting.splice(this.#waiting.indexOf(taken), 1);
        reject(signal.reason);
      };
      this.#waiting.push(taken);
      signal.addEventListener('abort', aborted);
    });
  }
}
