/**
 * What passes between the three that take part: the service worker, which sees the requests of all tabs; the tabs,
 * of which one at a time is the front; and the engine, in the front or in a shared worker.
 *
 * ```
 *  service worker                         front tab, or by way of it the shared worker
 *  request { request, lock }, a port ────▶
 *       over the port:  ◀──────── elsewhere { lock }
 *                       ◀──────── whole | begin | gone
 *                  pull ─────────▶
 *                       ◀──────── chunk | end
 *                 abort ─────────▶
 * ```
 *
 * Nobody keeps a list of the others, so that a service worker which the browser ended finds everything again. Who
 * there is, is told by Web Locks: each tab holds one whose name has its client id, the front holds that of the queue
 * besides, and a lock that can be had is the sign that its holder is gone.
 *
 * Names begin with a version of all this: an old tab is none to a newer service worker.
 */
const version = 'tokenprism 1';

/** The lock that the tabs queue for; its holder is the front. */
export const queueLock = (basePath: string): string => `${version} queue ${basePath}`;

/** The lock that a tab holds as long as it takes part. */
export const tabLock = (basePath: string, clientId: string): string =>
  `${tabLockPrefix(basePath)}${clientId}`;

/** What stands before the client id in the name of a tab's lock. */
export const tabLockPrefix = (basePath: string): string => `${version} tab ${basePath} `;

/** The lock of a service worker or a shared worker, for as long as it runs. */
export const workerLock = (): string => `${version} worker ${crypto.randomUUID()}`;

/** A request, as it crosses. */
export interface SentRequest {
  method: string;
  /** Behind the base path, with the query: `/chat/completions`. */
  path: string;
  headers: [name: string, value: string][];
  body: ArrayBuffer | null;
}

/** To the front, with a port for the answer. */
export interface RequestMessage {
  type: `${typeof version} request`;
  basePath: string;
  request: SentRequest;
  /** The service worker's lock. */
  lock: string;
}

export const requestType: RequestMessage['type'] = `${version} request`;

/** From whom answers a request. */
export type FromEngine =
  /** The engine is not in the front; its sign of life is `lock`. */
  | { type: 'elsewhere'; lock: string }
  | { type: 'whole'; head: Head; body: ArrayBuffer }
  /** An answer in events, with the first of them. */
  | { type: 'begin'; head: Head; first: Uint8Array<ArrayBuffer> }
  /** One `pull`'s answer. */
  | { type: 'chunk'; bytes: Uint8Array<ArrayBuffer> }
  | { type: 'end' }
  /** Nothing more will come: the front gives its place up. */
  | { type: 'gone' };

export interface Head {
  status: number;
  headers: [name: string, value: string][];
}

export type ToEngine = { type: 'pull' } | { type: 'abort' };

/** From a tab to the service worker, with a port for the answer. The service worker takes the tab under control. */
export interface HelloMessage {
  type: `${typeof version} hello`;
  basePath: string;
}

export const helloType: HelloMessage['type'] = `${version} hello`;

/** The answer to `hello`. */
export interface Welcome {
  /** The tab's, as service workers know it. */
  clientId: string;
}

/** From a tab to a service worker that waits for the end of an older one: it is to be at work now. */
export const replaceType = `${version} replace`;

/** From a tab: the request that has this id, as its header says, is aborted. */
export interface AbortMessage {
  type: `${typeof version} abort`;
  id: string;
}

export const abortType: AbortMessage['type'] = `${version} abort`;

/** Names a request whose abort is told by {@link AbortMessage}. */
export const abortHeader = 'x-tokenprism-request';

/** To all tabs while an answer streams, which send it back: a service worker that hears of nobody may be ended. */
export const aliveType = `${version} alive`;

/** The code of the error where an answer does not begin in time. */
export const answerTooSlow = 'answer_too_slow';
