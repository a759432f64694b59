/** Web Locks for one process, as far as signs of life need them: a shared request waits until nobody holds the name. */
export class FakeLocks {
  readonly #held = new Map<string, Promise<void>>();

  /** Holds a lock until what it gives is called. */
  hold(name: string): () => void {
    let release = () => {};
    this.#held.set(
      name,
      new Promise((resolve) => {
        release = resolve;
      }),
    );
    return release;
  }

  async request(
    name: string,
    { signal }: { signal: AbortSignal },
    callback: () => unknown,
  ): Promise<unknown> {
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
    await Promise.race([this.#held.get(name), aborted]);
    return callback();
  }
}
