import type { WorkerPort } from '../engine/connection.ts';
import type { FromWorker, ToWorker } from '../protocol.ts';

/** The worker's side of the protocol. */
interface Service {
  receive(message: ToWorker): void;
}

/**
 * The model's worker on this thread, for a shared worker, which can't start another one in every browser. Messages
 * wait for their turn, as between threads.
 */
export class InProcessWorker extends EventTarget implements WorkerPort {
  readonly #outside: MessagePort;
  readonly #service: Service;
  readonly #onError = (event: Event) => {
    const { message } = event as ErrorEvent;
    this.dispatchEvent(new ErrorEvent('error', { message }));
  };

  constructor(start: (post: (message: FromWorker) => void) => Service) {
    super();
    const { port1: outside, port2: inside } = new MessageChannel();
    const service = start((message) => inside.postMessage(message));
    inside.onmessage = ({ data }) => service.receive(data);
    outside.onmessage = ({ data }) => this.dispatchEvent(new MessageEvent('message', { data }));
    this.#outside = outside;
    this.#service = service;
    globalThis.addEventListener('error', this.#onError);
  }

  postMessage(message: ToWorker): void {
    this.#outside.postMessage(message);
  }

  terminate(): void {
    globalThis.removeEventListener('error', this.#onError);
    this.#service.receive({ type: 'close' });
    this.#outside.close();
  }
}
