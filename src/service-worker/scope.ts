/**
 * The parts of a service worker's global that are used here. The library's code is typed for pages, whose types and a
 * service worker's exclude each other.
 */
export interface ServiceWorkerScope {
  readonly clients: {
    claim(): Promise<void>;
    get(id: string): Promise<Client | undefined>;
    matchAll(options: { includeUncontrolled: boolean; type: 'window' }): Promise<readonly Client[]>;
  };
  readonly location: Location;
  skipWaiting(): Promise<void>;
  addEventListener(type: 'fetch', listener: (event: FetchEvent) => void): void;
  addEventListener(type: 'message', listener: (event: MessageEventFromClient) => void): void;
}

interface Client {
  readonly id: string;
  postMessage(message: unknown, transfer?: Transferable[]): void;
}

/** Of the platform's `FetchEvent`. */
export interface FetchEvent {
  readonly request: Request;
  /** Of the page that asks; empty for a navigation. */
  readonly clientId: string;
  respondWith(response: Promise<Response>): void;
}

/** Of the platform's `ExtendableMessageEvent`. */
export interface MessageEventFromClient {
  readonly data: unknown;
  readonly ports: readonly MessagePort[];
  readonly source: unknown;
  waitUntil(promise: Promise<unknown>): void;
}

export const scope = globalThis as unknown as ServiceWorkerScope;
