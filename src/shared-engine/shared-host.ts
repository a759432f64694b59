import type { EngineProgress } from '../engine/options.ts';
import { ServiceWorkerError } from '../errors.ts';
import { whenReleased } from '../service-worker/locks.ts';
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

/** The engine in a shared worker, seen from a tab. */
export class SharedHost {
  readonly #options: SharedHostOptions;
  readonly #closing = new AbortController();
  #worker: Promise<Connected>;
  #isNeeded = false;

  constructor(options: SharedHostOptions) {
    this.#options = options;
    this.#worker = this.#start();
  }

  /**
   * What the shared worker lacks to run a model on WebGPU; null for nothing. Rejects with a `ServiceWorkerError` where
   * there is none.
   */
  async missing(): Promise<string | null> {
    return (await this.#worker).missing;
  }

  load(): void {
    this.#isNeeded = true;
    this.#worker.then(({ port }) => send(port, { type: 'load' })).catch(() => {});
  }

  /** @param lock the service worker's */
  async answer(port: MessagePort, request: SentRequest, lock: string): Promise<void> {
    try {
      const worker = await this.#worker;
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

  #start(): Promise<Connected> {
    const connected = this.#connect();
    connected
      .then(({ lock }) => whenReleased(lock, this.#closing.signal))
      .then((isReleased) => {
        // It crashed.
        if (!isReleased) return;
        this.#worker = this.#start();
        if (this.#isNeeded) this.load();
      })
      .catch(() => {});
    return connected;
  }

  #connect(): Promise<Connected> {
    const { basePath, lock, engine, onProgress } = this.#options;
    return new Promise((resolve, reject) => {
      // The name makes another one for other options: what a tab asks for is what it gets when it is the front.
      const name = `tokenprism ${basePath} ${JSON.stringify(engine)}`;
      const worker = new SharedWorker(new URL('./shared-worker.ts', import.meta.url), {
        type: 'module',
        name,
      });
      worker.onerror = () => {
        const message =
          'The shared worker could not be started. Check that its script is served with a JavaScript media type, and ' +
          "that the page's content security policy allows it (worker-src); or give 'host: \"tab\"'.";
        reject(new ServiceWorkerError(message, { code: 'shared_worker_failed' }));
      };
      const { port } = worker;
      port.onmessage = ({ data }: MessageEvent<FromSharedWorker>) => {
        if (data.type === 'progress') onProgress?.(data.progress);
        else resolve({ port, lock: data.lock, missing: data.missing });
      };
      send(port, { type: 'join', lock, options: engine });
    });
  }
}

function send(port: MessagePort, message: ToSharedWorker, transfer: Transferable[] = []): void {
  port.postMessage(message, transfer);
}
