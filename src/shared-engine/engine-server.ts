import type { SentRequest } from '../service-worker/messages.ts';
import { type EngineFetch, PortRequest } from './answer.ts';

/** What an engine must have to serve: each of this package's has it. */
export interface ServedEngine {
  fetch: EngineFetch;
  close(): Promise<void>;
}

/** An engine that is loaded when it is needed, with the requests that it answers over ports. */
export class EngineServer {
  readonly #make: () => Promise<ServedEngine>;
  readonly #requests = new Set<PortRequest>();
  #engine: Promise<ServedEngine> | null = null;

  constructor(make: () => Promise<ServedEngine>) {
    this.#make = make;
  }

  /** Loads the engine, unless it is there. One that could not be loaded is tried again with the next request. */
  load(): Promise<ServedEngine> {
    if (this.#engine) return this.#engine;
    const engine = this.#make();
    engine.catch(() => {
      if (this.#engine === engine) this.#engine = null;
    });
    this.#engine = engine;
    return engine;
  }

  /** @param lock the service worker's */
  answer(port: MessagePort, sent: SentRequest, lock: string): void {
    const request = new PortRequest(port, sent, lock, () => this.#requests.delete(request));
    this.#requests.add(request);
    void request.answer(this.load());
  }

  /** Leaves the requests to another engine, and releases this one. */
  async close(): Promise<void> {
    for (const request of this.#requests) request.leave();
    const engine = this.#engine;
    this.#engine = null;
    // One that could not be loaded has nothing to release.
    const loaded = await engine?.catch(() => null);
    await loaded?.close();
  }
}
