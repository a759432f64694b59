import type { EngineProgress } from '../engine/options.ts';
import { ServiceWorkerError } from '../errors.ts';
import { whenReleased } from '../locks.ts';
import type { FromEngine, SentRequest } from '../service-worker/messages.ts';
import { PortRequest } from './answer.ts';
import type { FromSharedWorker, SharedOptions, ToSharedWorker } from './messages.ts';

export interface SharedHostOptions {
  basePath: string;
  /** The tab's. */
  lock: string;
  engine: SharedOptions;
  onProgress: ((progress: EngineProgress) => void) | null;
}

/** A shared worker that was reached. */
interface Connected {
  port: MessagePort;
  lock: string;
  missing: string | null;
}

/** Milliseconds that a shared worker may take to start. */
const patience = 30_000;

/** The engine in a shared worker, seen from a tab. */
export class SharedHost {
  readonly #options: SharedHostOptions;
  readonly #closing = new AbortController();
  /** Null where it could not be started the last time. */
  #worker: Promise<Connected> | null = null;
  /** Which one it is: the same for tabs with the same options, which have seen the same ones crash. */
  #name: string;
  #isNeeded = false;

  constructor(options: SharedHostOptions) {
    this.#options = options;
    // Others for other options: what a tab asks for is what it gets when it is the front.
    this.#name = `tokenprism ${options.basePath} ${JSON.stringify(options.engine)}`;
  }

  /**
   * What the shared worker lacks to run a model on WebGPU; null for nothing. Rejects with a `ServiceWorkerError` where
   * there is none.
   */
  async missing(): Promise<string | null> {
    return (await this.#reach()).missing;
  }

  load(): void {
    this.#isNeeded = true;
    this.#reach()
      .then(({ port }) => send(port, { type: 'load' }))
      .catch(() => {});
  }

  /** @param lock the service worker's */
  async answer(port: MessagePort, request: SentRequest, lock: string): Promise<void> {
    try {
      const worker = await this.#reach();
      port.postMessage({ type: 'elsewhere', lock: worker.lock } satisfies FromEngine);
      send(worker.port, { type: 'request', request, lock }, [port]);
    } catch (error) {
      void new PortRequest(port, request, lock, () => {}).answer(Promise.reject(error));
    }
  }

  /** The shared worker learns from the tab's lock that this tab takes no part any more. */
  async close(): Promise<void> {
    this.#closing.abort();
  }

  #reach(): Promise<Connected> {
    if (this.#worker) return this.#worker;
    const connected = connect(this.#name, this.#options);
    this.#worker = connected;
    connected
      .then(async ({ lock }) => {
        if (!(await whenReleased(lock, this.#closing.signal))) return;
        // It crashed. Its name may lead to what is left of it.
        this.#name += ` after ${lock}`;
        this.#worker = null;
        if (this.#isNeeded) this.load();
      })
      .catch(() => {
        this.#worker = null;
      });
    return connected;
  }
}

/** Starts the shared worker of that name, or joins it. */
function connect(name: string, { lock, engine, onProgress }: SharedHostOptions): Promise<Connected> {
  return new Promise((resolve, reject) => {
    const fail = (how: string) => {
      const message =
        `The shared worker ${how}. Check that its script is served with a JavaScript media type, and that the ` +
        "page's content security policy allows it (worker-src); or give 'host: \"tab\"'.";
      reject(new ServiceWorkerError(message, { code: 'shared_worker_failed' }));
    };
    const worker = new SharedWorker(new URL('./shared-worker.ts', import.meta.url), { type: 'module', name });
    worker.onerror = () => fail('could not be started');
    const timer = setTimeout(() => fail(`did not start within ${patience / 1000} seconds`), patience);
    const { port } = worker;
    port.onmessage = ({ data }: MessageEvent<FromSharedWorker>) => {
      if (data.type === 'progress') return onProgress?.(data.progress);
      clearTimeout(timer);
      resolve({ port, lock: data.lock, missing: data.missing });
    };
    send(port, { type: 'join', lock, options: engine });
  });
}

function send(port: MessagePort, message: ToSharedWorker, transfer: Transferable[] = []): void {
  port.postMessage(message, transfer);
}
