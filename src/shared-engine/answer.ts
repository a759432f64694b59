import { errorResponse } from '../http/errors.ts';
import { whenReleased } from '../locks.ts';
import type { FromEngine, Head, SentRequest, ToEngine } from '../service-worker/messages.ts';

/** The engine, as far as it is needed here. */
export type EngineFetch = typeof globalThis.fetch;

/** A request that came over a port, and its answer. */
export class PortRequest {
  readonly #port: MessagePort;
  readonly #aborting = new AbortController();
  readonly #request: Request;
  #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | null = null;

  /**
   * @param lock of the service worker that asks: when it is gone, the answer is of no use
   * @param onEnd is called once, when nothing of the answer is left to be sent
   */
  constructor(port: MessagePort, sent: SentRequest, lock: string, onEnd: () => void) {
    this.#port = port;
    const { signal } = this.#aborting;
    signal.addEventListener('abort', onEnd);
    const { method, path, headers, body } = sent;
    this.#request = new Request(`http://engine/v1${path}`, { method, headers, body, signal });
    port.onmessage = ({ data }: MessageEvent<ToEngine>) => {
      if (data.type === 'pull') void this.#pull();
      else this.#end();
    };
    whenReleased(lock, signal).then((isReleased) => isReleased && this.#end());
  }

  /** Answers as the engine does, which is waited for; its failure to load is an answer, too. */
  async answer(engine: Promise<{ fetch: EngineFetch }>): Promise<void> {
    const { signal } = this.#aborting;
    try {
      const { fetch } = await engine;
      signal.throwIfAborted();
      await this.#send(await fetch(this.#request));
    } catch (error) {
      if (!signal.aborted) await this.#send(errorResponse(error));
    }
  }

  /** The engine goes: another one is to be asked, where nothing of the answer was sent. */
  leave(): void {
    this.#tell({ type: 'gone' });
    this.#end();
  }

  async #send(response: Response): Promise<void> {
    const head: Head = { status: response.status, headers: [...response.headers] };
    if (response.body && /^text\/event-stream\b/.test(response.headers.get('content-type') ?? '')) {
      this.#reader = response.body.getReader();
      const { value } = await this.#reader.read();
      if (this.#aborting.signal.aborted) return;
      this.#tell({ type: 'begin', head, first: value ?? new Uint8Array() });
      return;
    }
    const body = await response.arrayBuffer();
    if (this.#aborting.signal.aborted) return;
    this.#tell({ type: 'whole', head, body }, [body]);
    this.#end();
  }

  async #pull(): Promise<void> {
    try {
      const next = await this.#reader!.read();
      if (!next.done) return this.#tell({ type: 'chunk', bytes: next.value });
      this.#tell({ type: 'end' });
    } catch {
      // Aborted: an event stream tells all other errors in its last event.
    }
    this.#end();
  }

  #tell(message: FromEngine, transfer: Transferable[] = []): void {
    this.#port.postMessage(message, transfer);
  }

  /** Stops the model where it still runs for this. */
  #end(): void {
    this.#aborting.abort();
  }
}
