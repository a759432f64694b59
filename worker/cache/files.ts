import { ModelLoadError, RequestAbortedError } from '../../src/errors.ts';
import { type LoadProgress, type ModelSource, modelCacheName } from '../../src/protocol.ts';

/** The files of one model, by their names relative to its folder. */
export interface ModelFiles {
  /** For people: where the files are. */
  readonly origin: string;
  /** @throws ModelLoadError that names the URL when it is not there or not whole */
  bytes(name: string): Promise<Uint8Array<ArrayBuffer>>;
  /** `null` when there is no such file. */
  optionalBytes(name: string): Promise<Uint8Array<ArrayBuffer> | null>;
  /** The first of `names` that exists, with its bytes; `null` when none does. */
  firstOf(names: readonly string[]): Promise<{ name: string; bytes: Uint8Array<ArrayBuffer> } | null>;
  json(name: string): Promise<Record<string, unknown>>;
  optionalJson(name: string): Promise<Record<string, unknown> | null>;
  optionalText(name: string): Promise<string | null>;
}

/** What the files are fetched with; replaced in tests. */
export interface FileAccess {
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** The Cache API, where there is one. */
  caches: CacheStorage | null;
  onProgress(progress: LoadProgress): void;
  signal: AbortSignal;
}

/** A stored answer "there is no such file", so that a cached model loads without a network. */
const absentStatus = 404;
const progressInterval = 50;

/**
 * Opens a model's files. Files of the Hub are kept in the Cache API; those of a folder or a bundle are left
 * to the HTTP cache, because a changed file under the same URL must not be served stale.
 */
export function openModelFiles(source: ModelSource, access: FileAccess): ModelFiles {
  const download = new Downloader(access, source.kind === 'hub');
  const urlOf = urlBuilder(source);

  const optionalBytes = async (name: string) => {
    const url = urlOf(name);
    return url === null ? null : download.get(name, url);
  };
  const bytes = async (name: string) => {
    const found = await optionalBytes(name);
    if (found) return found;
    throw new ModelLoadError(
      `${placeOf(source)} has no file ${name} (${urlOf(name) ?? 'not in its list'}).`,
      {
        code: 'file_not_found',
      },
    );
  };
  const parse = (name: string, data: Uint8Array) => {
    try {
      const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(data));
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
        return value as Record<string, unknown>;
      }
      throw new Error('it is not an object');
    } catch (cause) {
      throw new ModelLoadError(`${urlOf(name)} is not valid JSON: ${messageOf(cause)}.`, { cause });
    }
  };
  return {
    origin: placeOf(source),
    bytes,
    optionalBytes,
    json: async (name) => parse(name, await bytes(name)),
    optionalJson: async (name) => {
      const data = await optionalBytes(name);
      return data && parse(name, data);
    },
    optionalText: async (name) => {
      const data = await optionalBytes(name);
      return data && new TextDecoder().decode(data);
    },
    async firstOf(names) {
      for (const [index, name] of names.entries()) {
        try {
          const data = await optionalBytes(name);
          if (data) return { name, bytes: data };
        } catch (error) {
          // Without a network, a later choice that is stored is better than none.
          for (const later of names.slice(index + 1)) {
            const url = urlOf(later);
            const stored = url === null ? null : await download.stored(later, url);
            if (stored) return { name: later, bytes: stored };
          }
          throw error;
        }
      }
      return null;
    },
  };
}

function urlBuilder(source: ModelSource): (name: string) => string | null {
  switch (source.kind) {
    case 'folder': {
      const folder = source.url.endsWith('/') ? source.url : `${source.url}/`;
      return (name) => new URL(name, folder).href;
    }
    case 'hub': {
      const path = [source.repository, 'resolve', encodeURIComponent(source.revision)].join('/');
      return (name) => `https://huggingface.co/${path}/${name}`;
    }
    case 'files':
      return (name) => (Object.hasOwn(source.files, name) ? source.files[name]! : null);
  }
}

function placeOf(source: ModelSource): string {
  if (source.kind === 'folder') return `The model folder ${source.url}`;
  if (source.kind === 'hub') return `The Hub repository ${source.repository} (${source.revision})`;
  return `The model ${source.id}`;
}

const messageOf = (thrown: unknown) => (thrown instanceof Error ? thrown.message : String(thrown));

class Downloader {
  readonly #access: FileAccess;
  readonly #keeps: boolean;

  constructor(access: FileAccess, keeps: boolean) {
    this.#access = access;
    this.#keeps = keeps;
  }

  /** The whole file, or `null` when the server says that there is none. */
  async get(name: string, url: string): Promise<Uint8Array<ArrayBuffer> | null> {
    const kept = await this.#fromCache(name, url);
    if (kept !== undefined) return kept;
    const response = await this.#request(url);
    // Single-page servers answer any missing path with their page and status 200.
    const isPage = /^text\/html\b/.test(response.headers.get('content-type') ?? '');
    if (response.status === 404 || response.status === 410 || (response.ok && isPage)) {
      await response.body?.cancel();
      if (!response.ok) await this.#store(url, new Response(null, { status: absentStatus }));
      return null;
    }
    if (!response.ok) {
      await response.body?.cancel();
      throw new ModelLoadError(
        `${url} answered with status ${response.status}.${statusAdvice(response.status)}`,
        {
          code: 'download_failed',
        },
      );
    }
    const bytes = await this.#read(name, url, response);
    // '<' can't start a JSON or ONNX file: an error page under the wrong type.
    if (!name.endsWith('.jinja') && bytes[0] === 0x3c) {
      throw new ModelLoadError(`${url} is a web page, not a model file.`, { code: 'file_invalid' });
    }
    await this.#store(url, new Response(bytes, { headers: { 'content-length': String(bytes.length) } }));
    return bytes;
  }

  /** The file if it is in the cache. */
  async stored(name: string, url: string): Promise<Uint8Array<ArrayBuffer> | null> {
    return (await this.#fromCache(name, url)) ?? null;
  }

  async #request(url: string): Promise<Response> {
    try {
      return await this.#access.fetch(url, { signal: this.#access.signal });
    } catch (cause) {
      throw this.#failure(url, cause);
    }
  }

  #failure(url: string, cause: unknown): Error {
    if (this.#access.signal.aborted) return new RequestAbortedError('The load was aborted.', { cause });
    return new ModelLoadError(
      `${url} could not be downloaded: ${messageOf(cause)}. Check the address, the network and, on another origin, its CORS headers.`,
      { cause, code: 'download_failed' },
    );
  }

  async #read(name: string, url: string, response: Response): Promise<Uint8Array<ArrayBuffer>> {
    const total = Number(response.headers.get('content-length') ?? 0) || 0;
    let bytes = new Uint8Array(total || 65_536);
    let loaded = 0;
    let reported = 0;
    const report = () => this.#access.onProgress({ phase: 'download', file: name, loaded, total });
    report();
    try {
      const reader = response.body?.getReader();
      for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
        if (loaded + read.value.length > bytes.length) {
          const larger = new Uint8Array(2 * (loaded + read.value.length));
          larger.set(bytes.subarray(0, loaded));
          bytes = larger;
        }
        bytes.set(read.value, loaded);
        loaded += read.value.length;
        const now = performance.now();
        if (now - reported < progressInterval) continue;
        reported = now;
        report();
      }
    } catch (cause) {
      throw this.#failure(url, cause);
    }
    // With transfer compression more bytes arrive than announced, never fewer.
    if (loaded < total) {
      throw new ModelLoadError(`${url} ended after ${loaded} of ${total} bytes: load the model again.`, {
        code: 'download_incomplete',
      });
    }
    report();
    return loaded === bytes.length ? bytes : bytes.slice(0, loaded);
  }

  /** What the cache has: the file; `null` where it says that there is none; `undefined` where it has nothing. */
  async #fromCache(name: string, url: string): Promise<Uint8Array<ArrayBuffer> | null | undefined> {
    const cache = await this.#open();
    const known = await cache?.match(url);
    if (!known) return undefined;
    if (known.status === absentStatus) return null;
    const total = Number(known.headers.get('content-length'));
    const report = (loaded: number) =>
      this.#access.onProgress({ phase: 'download', file: name, loaded, total });
    report(0);
    // In one piece, which is faster than bit by bit.
    const bytes = await known.arrayBuffer().then(
      (buffer) => new Uint8Array(buffer),
      () => null,
    );
    if (this.#access.signal.aborted) throw this.#failure(url, this.#access.signal.reason);
    if (bytes?.length !== total) {
      // Damaged: fetched again like a file that was never there.
      await cache?.delete(url);
      return undefined;
    }
    report(total);
    return bytes;
  }

  /** Only whole, checked files come here. A full disk costs the next download, not this load. */
  async #store(url: string, response: Response): Promise<void> {
    try {
      const cache = await this.#open();
      await cache?.put(url, response);
    } catch (cause) {
      console.warn(`Tokenprism: ${url} is not kept for the next visit: ${messageOf(cause)}`);
    }
  }

  async #open(): Promise<Cache | null> {
    if (!this.#keeps || !this.#access.caches) return null;
    try {
      return await this.#access.caches.open(modelCacheName);
    } catch {
      // Storage can be switched off, as in some private windows.
      return null;
    }
  }
}

function statusAdvice(status: number): string {
  if (status === 401 || status === 403) {
    return ' The repository may not exist, or be private or gated; use one that is public.';
  }
  return '';
}
