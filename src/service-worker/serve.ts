import { BadRequestError, TokenprismError } from '../errors.ts';
import { hold } from '../locks.ts';
import { isBelow } from './base-path.ts';
import { chooseHost, type Host } from './host.ts';
import {
  type AbortMessage,
  abortHeader,
  abortType,
  aliveType,
  answerTooSlow,
  queueLock,
  type RequestMessage,
  requestType,
  tabLock,
} from './messages.ts';
import { checkServiceOptions, type ServiceOptions } from './options.ts';
import { control } from './registration.ts';

/** The engine of all tabs, seen from one of them. */
export interface EngineService {
  readonly registration: ServiceWorkerRegistration;
  /**
   * Resolves when the engine that serves has answered, wherever it runs. Rejects with a `TokenprismError` that says
   * why it can't be loaded; the next request tries again.
   */
  readonly ready: Promise<void>;
  /**
   * As the page's own `fetch`, which does as well for most. Chromium does not tell service workers that a request was
   * aborted before its answer began; with this one they learn it, and the model stops also where it does not stream.
   */
  readonly fetch: typeof globalThis.fetch;
  /**
   * This tab takes no part any more: the next one takes over, and answers what it has not begun to answer; answers that
   * it streams end in an error. The service worker stays registered.
   */
  close(): Promise<void>;
}

/** Base paths that this page serves. */
const served = new Set<string>();

/**
 * Puts the engine's routes on the page's own origin, `/v1/chat/completions` and the others, for all tabs that the service
 * worker controls. Of the tabs that call this, the first one loads the engine, or has a shared worker do it, and answers
 * the requests of all; when it is closed, the next one goes on. Resolves when requests of this page are answered, which
 * wait for the engine.
 *
 * Rejects with a `BadRequestError` for a wrong option, and with a `ServiceWorkerError` where the service worker can't be
 * registered or does not answer.
 */
export async function serveFromServiceWorker(options: ServiceOptions = {}): Promise<EngineService> {
  const checked = checkServiceOptions(options);
  const { basePath } = checked;
  if (served.has(basePath)) {
    throw new BadRequestError(`This page serves ${basePath} already: close that service first.`, {
      param: 'basePath',
      code: 'invalid_value',
    });
  }
  served.add(basePath);
  try {
    const { registration, clientId } = await control(checked);
    const name = tabLock(basePath, clientId);
    const lock = await hold(name);
    try {
      const host = await chooseHost(checked, name);
      const leave = await takeRequests(basePath, host);
      const close = async () => {
        leave();
        lock.release();
        served.delete(basePath);
        await host.close();
      };
      return new TabService(registration, basePath, close);
    } catch (error) {
      lock.release();
      throw error;
    }
  } catch (error) {
    served.delete(basePath);
    throw error;
  }
}

class TabService implements EngineService {
  readonly registration: ServiceWorkerRegistration;
  readonly ready: Promise<void>;
  readonly #basePath: string;
  readonly #close: () => Promise<void>;
  #closed: Promise<void> | null = null;

  constructor(registration: ServiceWorkerRegistration, basePath: string, close: () => Promise<void>) {
    this.registration = registration;
    this.#basePath = basePath;
    this.#close = close;
    this.ready = firstAnswer(basePath);
    // Whoever does not wait for it meets the reason with the first request.
    this.ready.catch(() => {});
  }

  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const { origin, pathname } = new URL(request.url);
    if (origin !== location.origin || !isBelow(this.#basePath, pathname)) return fetch(request);
    const id = crypto.randomUUID();
    request.headers.set(abortHeader, id);
    const tellAbort = () =>
      navigator.serviceWorker.controller?.postMessage({ type: abortType, id } satisfies AbortMessage);
    request.signal.addEventListener('abort', tellAbort);
    try {
      return await fetch(request);
    } finally {
      // Of an answer that streams, the service worker learns it by itself.
      request.signal.removeEventListener('abort', tellAbort);
    }
  };

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }
}

/** Queues for the place of the front, and answers what the service worker sends. Gives what ends both. */
async function takeRequests(basePath: string, host: Host): Promise<() => void> {
  const container = navigator.serviceWorker;
  const receive = ({ data, ports, source }: MessageEvent) => {
    const message = data as Partial<RequestMessage> | null;
    if (data === aliveType) source?.postMessage(aliveType, { targetOrigin: '*' });
    if (message?.type !== requestType || message.basePath !== basePath) return;
    host.answer(ports[0]!, message.request!, message.lock!);
  };
  container.addEventListener('message', receive);
  container.startMessages();
  const leaving = new AbortController();
  let release = () => {};
  navigator.locks
    .request(queueLock(basePath), { signal: leaving.signal }, () => {
      host.load();
      return new Promise<void>((resolve) => {
        release = resolve;
      });
    })
    // Only an abort ends the waiting.
    .catch(() => {});
  // Answered behind that request: from now on there is a front.
  await navigator.locks.query();
  return () => {
    container.removeEventListener('message', receive);
    leaving.abort();
    release();
  };
}

/** Asks until the engine answers, which may take longer to load than a service worker may wait. */
async function firstAnswer(basePath: string): Promise<void> {
  for (;;) {
    const response = await fetch(`${basePath}/models`);
    if (response.ok) return;
    const { error } = (await response.json()) as ReturnType<TokenprismError['toJSON']>;
    if (error.code !== answerTooSlow) throw new TokenprismError(error.message, error);
  }
}
