import { ModelLoadError } from '../../src/errors.ts';
import type { CacheChoice, LoadProgress, ModelSource, StorageReport } from '../../src/protocol.ts';
import { aborted, messageOf, type Network } from './download.ts';
import { Keeper } from './keeper.ts';
import { addressOf, type ListedFile, type Listing, openListing } from './listing.ts';
import { Obtainer } from './obtain.ts';
import type { FileStore } from './store.ts';

/** The files of one model, by their names relative to its folder. */
export interface ModelFiles {
  /** For people: where the files are. */
  readonly origin: string;
  /** @throws ModelLoadError that names the URL when it is not there or not what it should be */
  bytes(name: string): Promise<Uint8Array<ArrayBuffer>>;
  /** `null` when there is no such file. */
  optionalBytes(name: string): Promise<Uint8Array<ArrayBuffer> | null>;
  /** The first of `names` that exists, with its bytes; `null` when none does. */
  firstOf(names: readonly string[]): Promise<{ name: string; bytes: Uint8Array<ArrayBuffer> } | null>;
  json(name: string): Promise<Record<string, unknown>>;
  optionalJson(name: string): Promise<Record<string, unknown> | null>;
  optionalText(name: string): Promise<string | null>;
  /** Bytes of the files by their names, of those that are listed with one; `null` where there is no list. */
  sizes(): Promise<ReadonlyMap<string, number> | null>;
  /** What the load left: asked for after it. */
  kept(): Promise<{ revision: string | null; storage: StorageReport | null }>;
}

/** What the files are fetched with, and where they are kept; replaced in tests. */
export interface FileAccess {
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** `null`: nothing is kept. */
  store: FileStore | null;
  /** Unset: `auto`. */
  cache?: CacheChoice;
  onProgress(progress: LoadProgress): void;
  signal: AbortSignal;
  /** Unset: the clock's, and the browser's. */
  network?: Partial<Pick<Network, 'wait' | 'isOffline' | 'stallMilliseconds'>>;
}

/** After so long without a byte a connection counts as broken. */
const stallMilliseconds = 30_000;

/**
 * Opens a model's files. Those whose content is known, of the Hub and of folders with a manifest, are verified, and kept
 * in the store; others are left to the HTTP cache, because a changed file under the same URL must not be served stale.
 */
export function openModelFiles(source: ModelSource, access: FileAccess): ModelFiles {
  const network: Network = {
    fetch: source.kind === 'files' ? fetchOrRead(source, access.fetch) : access.fetch,
    signal: access.signal,
    wait: access.network?.wait ?? waitFor,
    isOffline: access.network?.isOffline ?? (() => globalThis.navigator?.onLine === false),
    stallMilliseconds: access.network?.stallMilliseconds ?? stallMilliseconds,
  };
  return new OpenFiles(source, network, access);
}

/** Fetches what has a URL, and reads files that are given themselves: no policy of a page is in the way of that. */
function fetchOrRead(
  source: Extract<ModelSource, { kind: 'files' }>,
  fetch: FileAccess['fetch'],
): FileAccess['fetch'] {
  const given = new Map<string, Blob>();
  for (const [name, file] of Object.entries(source.files)) {
    if (typeof file !== 'string') given.set(addressOf(source, name), file);
  }
  return async (url, init) => {
    const file = given.get(url);
    if (!file) return fetch(url, init);
    return new Response(file.stream(), { headers: { 'content-length': String(file.size) } });
  };
}

class OpenFiles implements ModelFiles {
  readonly origin: string;
  readonly #source: ModelSource;
  readonly #network: Network;
  readonly #keeper: Keeper;
  readonly #obtainer: Obtainer;
  #listing: Promise<Listing> | null = null;

  constructor(source: ModelSource, network: Network, { store, cache, onProgress }: FileAccess) {
    this.origin = placeOf(source);
    this.#source = source;
    this.#network = network;
    this.#keeper = new Keeper(store, source.kind === 'files' ? 'none' : (cache ?? 'auto'));
    this.#obtainer = new Obtainer(network, this.#keeper, onProgress);
  }

  async optionalBytes(name: string): Promise<Uint8Array<ArrayBuffer> | null> {
    const listing = await this.#list();
    const found = listing.find(name);
    if (!found) return null;
    const bytes = await this.#obtainer.get(name, found);
    if (bytes || listing.names === null) return bytes;
    return this.#missing(name, found, listing);
  }

  async bytes(name: string): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = await this.optionalBytes(name);
    if (bytes) return bytes;
    const url = (await this.#list()).find(name)?.url;
    const where = this.#obtainer.pages.has(name)
      ? `${url} answers with a web page`
      : (url ?? 'it is not in the list of its files');
    throw new ModelLoadError(`${this.origin} has no file ${name} (${where}).`, { code: 'file_not_found' });
  }

  async firstOf(names: readonly string[]): Promise<{ name: string; bytes: Uint8Array<ArrayBuffer> } | null> {
    for (const [index, name] of names.entries()) {
      try {
        const bytes = await this.optionalBytes(name);
        if (bytes) return { name, bytes };
      } catch (error) {
        if (this.#network.signal.aborted) throw error;
        // Without a network, a later choice that is stored is better than none.
        for (const later of names.slice(index + 1)) {
          const found = (await this.#list()).find(later);
          const bytes = found && (await this.#obtainer.stored(later, found));
          if (bytes) return { name: later, bytes };
        }
        throw error;
      }
    }
    return null;
  }

  async json(name: string): Promise<Record<string, unknown>> {
    return this.#parse(name, await this.bytes(name));
  }

  async optionalJson(name: string): Promise<Record<string, unknown> | null> {
    const bytes = await this.optionalBytes(name);
    return bytes && this.#parse(name, bytes);
  }

  async optionalText(name: string): Promise<string | null> {
    const bytes = await this.optionalBytes(name);
    return bytes && new TextDecoder().decode(bytes);
  }

  async sizes(): Promise<ReadonlyMap<string, number> | null> {
    const { names, find } = await this.#list();
    if (!names) return null;
    const sizes = new Map<string, number>();
    for (const name of names) {
      const content = find(name)?.content;
      if (content) sizes.set(name, content.size);
    }
    return sizes.size > 0 ? sizes : null;
  }

  async kept(): Promise<{ revision: string | null; storage: StorageReport | null }> {
    const { revision } = await this.#list();
    return { revision, storage: this.#source.kind === 'files' ? null : await this.#keeper.report() };
  }

  #list(): Promise<Listing> {
    if (!this.#listing) {
      this.#listing = this.#openListing();
      this.#listing.catch(() => {});
    }
    return this.#listing;
  }

  async #openListing(): Promise<Listing> {
    if (this.#source.kind !== 'files') this.#keeper.require();
    return openListing(this.#source, this.#network, this.#keeper);
  }

  async #missing(name: string, { url }: ListedFile, listing: Listing): Promise<never> {
    await listing.forget();
    const what = this.#obtainer.pages.has(name) ? 'answers with a web page' : 'is not there';
    throw new ModelLoadError(
      `${this.origin} lists ${name}, but ${url} ${what}. Check the address and the network; if they are right, load again: the list is asked for anew then.`,
      { code: this.#obtainer.pages.has(name) ? 'file_invalid' : 'file_not_found' },
    );
  }

  async #parse(name: string, bytes: Uint8Array): Promise<Record<string, unknown>> {
    try {
      const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
        return value as Record<string, unknown>;
      }
      throw new Error('it is not an object');
    } catch (cause) {
      const url = (await this.#list()).find(name)?.url;
      throw new ModelLoadError(`${url} is not valid JSON: ${messageOf(cause)}.`, {
        cause,
        code: 'file_invalid',
      });
    }
  }
}

function placeOf(source: ModelSource): string {
  if (source.kind === 'folder') return `The model folder ${source.url}`;
  if (source.kind === 'hub') return `The Hub repository ${source.repository} (${source.revision})`;
  return `The model ${source.id}`;
}

function waitFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(aborted(signal));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
