import type { Generation, GenerationListener } from '../chat/start.ts';
import { DeviceLostError, type TokenprismError, WebGPUUnavailableError, WorkerError } from '../errors.ts';
import type { GenerateJob } from '../protocol.ts';
import type { Connection } from './connection.ts';
import { OpenRequest } from './open-request.ts';

/** Milliseconds before each new worker that a request may have. */
const pauses = [0, 500, 2500];

/** The requests of an engine that have not ended. They outlive the worker that runs them. */
export class OpenRequests {
  /** In the order in which they came. */
  readonly #open = new Set<OpenRequest>();
  #answered = 0;

  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  /** Choices that were given whole, of requests that have ended. */
  get answered(): number {
    return this.#answered;
  }

  /** Milliseconds to wait before the next worker. */
  get pause(): number {
    const faults = Math.max(0, ...Array.from(this.#open, (request) => request.faults));
    return faults === 0 ? 0 : pauses[Math.min(faults, pauses.length) - 1]!;
  }

  /** Whether the next worker is the last one for some request. */
  get isLastTry(): boolean {
    return [...this.#open].some(({ faults }) => faults >= pauses.length);
  }

  /** Sends a new request. Throws where the worker is of no more use. */
  start(connection: Connection, job: GenerateJob, listener: GenerationListener): Generation {
    const request = new OpenRequest({
      job,
      listener,
      onFailure: (error, connection) => {
        if (!isLoss(connection.broken ?? error)) return 'ended';
        // What is left of the worker may hold what the device has left behind.
        connection.abandon(error);
        return 'interrupted';
      },
      onEnd: () => {
        if (this.#open.delete(request)) this.#answered += request.begun;
      },
    });
    this.#open.add(request);
    try {
      request.send(connection);
    } catch (error) {
      this.#open.delete(request);
      throw error;
    }
    return request;
  }

  /** Gives all to a new worker. */
  resume(connection: Connection): void {
    for (const request of [...this.#open]) request.resume(connection);
  }

  /**
   * Counts a fault against the requests that ran, or against all where none did, and ends those that have met too many:
   * so every request ends, and one that brings down each worker takes no other one along.
   */
  charge(cause: TokenprismError): void {
    const running = [...this.#open].filter(({ isRunning }) => isRunning);
    this.#charge(running.length > 0 ? running : [...this.#open], cause, cause);
  }

  /** Counts a new worker that did not come up against all. */
  chargeAll(cause: TokenprismError, last: TokenprismError): void {
    this.#charge([...this.#open], cause, last);
  }

  /** Ends all. */
  fail(error: TokenprismError): void {
    for (const request of [...this.#open]) request.fail(error);
  }

  #charge(requests: readonly OpenRequest[], cause: TokenprismError, last: TokenprismError): void {
    for (const request of requests) {
      if (++request.faults > pauses.length) request.fail(givenUp(cause, last));
    }
  }
}

/** Whether a new worker may do what this one has not done. */
function isLoss(error: TokenprismError): boolean {
  return (
    error instanceof DeviceLostError ||
    error instanceof WorkerError ||
    // It was there when the model was loaded.
    error instanceof WebGPUUnavailableError
  );
}

/**
 * @param cause what interrupted the request
 * @param last why it could not go on
 */
function givenUp(cause: TokenprismError, last: TokenprismError): TokenprismError {
  const message = `${last.message} The answer could not go on, with ${pauses.length} new workers.`;
  const details = { code: cause.code, cause: last };
  return cause instanceof WorkerError
    ? new WorkerError(message, details)
    : new DeviceLostError(message, details);
}
