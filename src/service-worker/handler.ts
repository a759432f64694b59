/** The service worker's part: requests below a path of the origin are answered by the engine that some tab has. */
import { BadRequestError, EngineUnavailableError, TokenprismError } from '../errors.ts';
import { errorResponse } from '../http/errors.ts';
import { type HeldLock, hold } from '../locks.ts';
import { checkBasePath, isBelow } from './base-path.ts';
import { type Answer, exchange, type Front } from './exchange.ts';
import {
  type AbortMessage,
  abortHeader,
  abortType,
  aliveType,
  answerTooSlow,
  type HelloMessage,
  helloType,
  queueLock,
  replaceType,
  requestType,
  type SentRequest,
  tabLockPrefix,
  type Welcome,
  workerLock,
} from './messages.ts';
import { type FetchEvent, type MessageEventFromClient, scope } from './scope.ts';

export type { FetchEvent, MessageEventFromClient } from './scope.ts';

export interface HandlerOptions {
  /** The path that the engine's routes stand below. Default `/v1`; what `serveFromServiceWorker` is given must be the same. */
  basePath?: string;
}

/** What a service worker does with its events. Both tell whether the event was theirs. */
export interface Handler {
  /** Answers requests below the base path: calls `event.respondWith`. */
  handleFetch(event: FetchEvent): boolean;
  /** What tabs tell: without it they can't find the service worker. */
  handleMessage(event: MessageEventFromClient): boolean;
}

/** Milliseconds between signs of life, and between looks whether a client is still there. */
const heartbeat = 10_000;
const clientCheck = 1000;
/** Milliseconds that an answer may take to begin: browsers end a service worker whose event lasts 5 minutes. */
const patience = 280_000;

/**
 * The handlers for a service worker of your own:
 *
 * ```js
 * const engine = createHandler();
 * self.addEventListener('fetch', (event) => engine.handleFetch(event) || mine(event));
 * self.addEventListener('message', (event) => engine.handleMessage(event));
 * ```
 *
 * Throws a `BadRequestError` for a wrong option.
 */
export function createHandler(options: HandlerOptions = {}): Handler {
  for (const name of Object.keys(options)) {
    if (name === 'basePath') continue;
    const message = `createHandler has no option '${name}'; it has basePath.`;
    throw new BadRequestError(message, { param: name, code: 'invalid_value' });
  }
  return new RequestHandler(checkBasePath(options.basePath));
}

class RequestHandler implements Handler {
  readonly #basePath: string;
  readonly #lock = workerLock();
  #held: Promise<HeldLock> | null = null;
  /** Of requests whose abort is told by a message. */
  readonly #aborts = new Map<string, AbortController>();
  /** Of which the answers have not ended. */
  #requests = 0;
  #heartbeat: ReturnType<typeof setInterval> | undefined;

  constructor(basePath: string) {
    this.#basePath = basePath;
  }

  handleFetch(event: FetchEvent): boolean {
    const { origin, pathname } = new URL(event.request.url);
    if (origin !== scope.location.origin || !isBelow(this.#basePath, pathname)) return false;
    event.respondWith(this.#answer(event));
    return true;
  }

  handleMessage(event: MessageEventFromClient): boolean {
    if (event.data === replaceType) {
      event.waitUntil(scope.skipWaiting());
      return true;
    }
    const message = event.data as Partial<HelloMessage | AbortMessage> | null;
    switch (message?.type) {
      case helloType: {
        if (message.basePath !== this.#basePath) return false;
        const { id: clientId } = event.source as { id: string };
        const welcome: Welcome = { clientId };
        event.waitUntil(scope.clients.claim().finally(() => event.ports[0]?.postMessage(welcome)));
        return true;
      }
      case abortType:
        this.#aborts.get(message.id ?? '')?.abort();
        return true;
      default:
        // Hearing it was all.
        return event.data === aliveType;
    }
  }

  async #answer(event: FetchEvent): Promise<Response> {
    const { request, clientId } = event;
    const aborting = new AbortController();
    const abort = () => aborting.abort();
    const id = request.headers.get(abortHeader);
    if (id !== null) this.#aborts.set(id, aborting);
    // Not every browser tells service workers of it, nor of a page that was closed.
    request.signal.addEventListener('abort', abort);
    const checks = setInterval(async () => {
      if (clientId !== '' && !(await scope.clients.get(clientId))) abort();
    }, clientCheck);
    const timeout = setTimeout(() => aborting.abort(tooSlow()), patience);
    this.#beginRequest();
    let ended = Promise.resolve();
    try {
      const answer = await this.#ask(await sendable(request, this.#basePath), aborting.signal);
      ended = answer.ended;
      return answer.response;
    } catch (error) {
      if (error instanceof TokenprismError || !aborting.signal.aborted) return refused(error);
      // Nobody is there who would read it.
      return Response.error();
    } finally {
      ended.then(() => this.#endRequest());
      clearInterval(checks);
      clearTimeout(timeout);
      request.signal.removeEventListener('abort', abort);
      if (id !== null) this.#aborts.delete(id);
    }
  }

  /** Asks one front after the other until an answer begins. */
  async #ask(request: SentRequest, signal: AbortSignal): Promise<Answer> {
    this.#held ??= hold(this.#lock);
    await this.#held;
    const message = { type: requestType, basePath: this.#basePath, request, lock: this.#lock };
    for (;;) {
      const answer = await exchange(await findFront(this.#basePath), message, signal);
      if (answer) return answer;
    }
  }

  #beginRequest(): void {
    // Some browsers end a service worker that hears nothing for 30 seconds, also while an answer streams.
    if (this.#requests++ === 0) this.#heartbeat = setInterval(askForSignOfLife, heartbeat);
  }

  #endRequest(): void {
    if (--this.#requests === 0) clearInterval(this.#heartbeat);
  }
}

/** The tab that takes requests now. Throws where there is none. */
async function findFront(basePath: string): Promise<Front> {
  const { held = [] } = await navigator.locks.query();
  // Both of its locks have the same client id there, which is another one than service workers have for it.
  const front = held.find(({ name }) => name === queueLock(basePath))?.clientId;
  const prefix = tabLockPrefix(basePath);
  const lock = held.find(({ name, clientId }) => clientId === front && name?.startsWith(prefix))?.name;
  if (!front || !lock) {
    throw new EngineUnavailableError(
      `No page of this origin has an engine for ${basePath}: open one that calls serveFromServiceWorker(), and let ` +
        'it stay open.',
      { code: 'no_engine' },
    );
  }
  const client = await scope.clients.get(lock.slice(prefix.length));
  // A tab that is being closed is no client any more, and loses its lock next.
  return { lock, send: (message, port) => client?.postMessage(message, [port]) };
}

function refused(error: unknown): Response {
  const response = errorResponse(error);
  const isTooSlow = error instanceof TokenprismError && error.code === answerTooSlow;
  // OpenAI's clients would have the same answer written once more.
  if (isTooSlow) response.headers.set('x-should-retry', 'false');
  return response;
}

function tooSlow(): EngineUnavailableError {
  return new EngineUnavailableError(
    `The answer did not begin within ${patience / 1000} seconds, and no service worker may take longer: wait until ` +
      "the engine is loaded ('ready' of serveFromServiceWorker), and ask for long answers with 'stream: true'.",
    { code: answerTooSlow },
  );
}

async function sendable(request: Request, basePath: string): Promise<SentRequest> {
  const { pathname, search } = new URL(request.url);
  const body = await request.arrayBuffer();
  return {
    method: request.method,
    path: pathname.slice(basePath.length) + search,
    headers: [...request.headers].filter(([name]) => name !== abortHeader),
    body: body.byteLength > 0 ? body : null,
  };
}

async function askForSignOfLife(): Promise<void> {
  const clients = await scope.clients.matchAll({ includeUncontrolled: true, type: 'window' });
  for (const client of clients) client.postMessage(aliveType);
}
