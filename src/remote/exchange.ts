import { RemoteServerError, RemoteTimeoutError, TokenprismError } from '../errors.ts';

/** One HTTP exchange: it ends by itself, with its caller's signal, or when its time is over. */
export class Exchange {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param caller its reason is the error that the caller gets */
  constructor(caller: AbortSignal) {
    this.#caller = caller;
    if (caller.aborted) this.#follow();
    else caller.addEventListener('abort', this.#follow);
  }

  readonly #follow = () => this.#controller.abort(this.#caller.reason);

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** From now on, so many milliseconds are left. */
  limit(milliseconds: number, what: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const seconds = milliseconds / 1000;
      const error = new RemoteTimeoutError(`The server ${what} within ${seconds} s.`, { code: 'timeout' });
      this.#controller.abort(error);
    }, milliseconds);
  }

  /** Closes the connection where it is still open. */
  end(): void {
    clearTimeout(this.#timer);
    this.#caller.removeEventListener('abort', this.#follow);
    this.#controller.abort();
  }

  /** Why reading failed: the caller's reason, the time that was over, or what the connection met. */
  error(thrown: unknown, what: string): TokenprismError {
    const { aborted, reason } = this.signal;
    if (aborted && reason instanceof TokenprismError) return reason;
    if (thrown instanceof TokenprismError) return thrown;
    const cause = thrown instanceof Error ? (thrown.cause ?? thrown) : thrown;
    const why = cause instanceof Error ? cause.message : String(cause);
    return new RemoteServerError(`${what} (${why}).`, { code: 'connection_failed', cause: thrown });
  }
}
