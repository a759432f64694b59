import { ModelLoadError } from '../../src/errors.ts';
import type { LoadProgress } from '../../src/protocol.ts';
import { Assembly, OpenEnded } from './assembly.ts';
import { type ContentId, contentName } from './digest.ts';
import { aborted, download, type Network, SurplusError, type TransferEnd } from './download.ts';
import type { Keeper } from './keeper.ts';
import type { ListedFile } from './listing.ts';
import { readSeal, readSealed } from './seal.ts';
import { Slots } from './slots.ts';
import type { FileStore, StoredFile } from './store.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Files of one load that come at the same time; browsers open no more connections to a server by HTTP/1.1. */
const atOnce = 6;
/** Milliseconds between two reports on one file. */
const progressInterval = 50;

/** Has files from the store, or from the network into memory and the store. */
export class Obtainer {
  /** Names for which the server answered with a web page. */
  readonly pages = new Set<string>();
  readonly #network: Network;
  readonly #keeper: Keeper;
  readonly #onProgress: (progress: LoadProgress) => void;
  readonly #slots = new Slots(atOnce);

  constructor(network: Network, keeper: Keeper, onProgress: (progress: LoadProgress) => void) {
    this.#network = network;
    this.#keeper = keeper;
    this.#onProgress = onProgress;
  }

  /**
   * The whole file, verified where its content is known; `null` when the server says that there is none, or answers with
   * a web page, which `pages` then names.
   *
   * @throws ModelLoadError when it can't be had, or is not what it should be
   * @throws StorageQuotaError when it has to be kept and can't be
   */
  async get(name: string, { url, content }: ListedFile): Promise<Bytes | null> {
    const { signal } = this.#network;
    if (signal.aborted) throw aborted(signal);
    const report = new FileReport(name, content?.size ?? 0, this.#onProgress);
    report.now(0, 0);
    try {
      if (!content) return await this.#unlisted(name, url, report);
      const { store } = this.#keeper;
      if (!store) return await this.#assemble(name, url, content, null, report);
      // Another tab may be about to have it.
      return await store.exclusively(contentName(content), signal, () =>
        this.#keptOrFetched(store, name, url, content, report),
      );
    } catch (error) {
      if (signal.aborted) throw aborted(signal);
      throw error;
    }
  }

  /** The file if it is stored whole. */
  async stored(name: string, { content }: ListedFile): Promise<Bytes | null> {
    const { store } = this.#keeper;
    if (!store || !content) return null;
    const report = new FileReport(name, content.size, this.#onProgress);
    return store.exclusively(contentName(content), this.#network.signal, async () => {
      const file = await this.#open(store, name, content);
      try {
        return file && (await this.#sealed(store, file, name, content, report));
      } finally {
        file?.close();
      }
    });
  }

  async #keptOrFetched(
    store: FileStore,
    name: string,
    url: string,
    content: ContentId,
    report: FileReport,
  ): Promise<Bytes | null> {
    const file = await this.#open(store, name, content);
    let isEmpty = false;
    try {
      const sealed = file && (await this.#sealed(store, file, name, content, report));
      if (sealed) {
        this.#keeper.keeps();
        return sealed;
      }
      const present = file ? ((await this.#keeper.attempt(name, async () => file.size())) ?? 0) : 0;
      const hasRoom =
        file !== null && (await this.#keeper.hasRoom(name, Math.max(0, content.size - present)));
      if (!hasRoom) await this.#keeper.attempt(name, async () => file?.truncate(0));
      return await this.#assemble(name, url, content, hasRoom ? file : null, report);
    } finally {
      try {
        isEmpty = file?.size() === 0;
      } catch {
        // Not to be looked at is not to be removed.
      }
      file?.close();
      if (isEmpty && content.size > 0) await store.remove(contentName(content)).catch(() => {});
    }
  }

  #open(store: FileStore, name: string, content: ContentId): Promise<StoredFile | null> {
    return this.#keeper.attempt(name, () => store.open(contentName(content)));
  }

  /** A file that was whole, if it still is what it was; what is damaged is dropped. */
  async #sealed(
    store: FileStore,
    file: StoredFile,
    name: string,
    content: ContentId,
    report: FileReport,
  ): Promise<Bytes | null> {
    const record = contentName(content);
    const seal = await this.#keeper.attempt(name, () => readSeal(store, record));
    if (!seal) return null;
    const { signal } = this.#network;
    const bytes =
      seal.size === content.size
        ? await this.#keeper.attempt(name, () =>
            readSealed(file, seal, signal, (loaded) => report.soon(loaded, 0)),
          )
        : null;
    if (bytes) {
      report.now(bytes.length, 0);
      return bytes;
    }
    await this.#keeper.attempt(name, async () => {
      await store.removeRecord(record);
      file.truncate(0);
    });
    return null;
  }

  async #assemble(
    name: string,
    url: string,
    content: ContentId,
    file: StoredFile | null,
    report: FileReport,
  ): Promise<Bytes | null> {
    const assembly = await Assembly.begin(name, content, this.#keeper, file);
    let received = 0;
    let loaded = 0;
    const follow = () => {
      received += Math.max(0, assembly.loaded - loaded);
      loaded = assembly.loaded;
      report.soon(loaded, received);
    };
    await assembly.resume(this.#network.signal, () => report.soon(assembly.loaded, 0));
    loaded = assembly.loaded;
    let fault = '';
    // What an intermediate cache has wrong is asked for once more, past it.
    for (const cache of ['no-store', 'reload'] as const) {
      let end: TransferEnd;
      try {
        end = await this.#slots.run(this.#network.signal, () =>
          download(
            { url, target: assembly, size: content.size, isVerified: true, cache, onBytes: follow },
            this.#network,
          ),
        );
      } catch (error) {
        if (!(error instanceof SurplusError)) throw error;
        fault = error.message;
        assembly.restart();
        follow();
        continue;
      }
      if (end === 'page') this.pages.add(name);
      if (end !== 'whole') return null;
      const found = assembly.digest();
      if (found === content.digest) {
        await assembly.seal();
        report.now(assembly.loaded, received);
        return assembly.whole();
      }
      const algorithm = content.algorithm === 'sha256' ? 'SHA-256' : "Git's SHA-1";
      fault = `its ${algorithm} is ${found} instead of ${content.digest}`;
      assembly.restart();
      follow();
    }
    throw new ModelLoadError(
      `${url} is not the file that was listed: ${fault}. It was changed or damaged on its way or at its place; if it was changed there, its list must be made anew.`,
      { code: 'file_changed' },
    );
  }

  async #unlisted(name: string, url: string, report: FileReport): Promise<Bytes | null> {
    const target = new OpenEnded();
    let total = 0;
    const onBytes = (known: number) => {
      if (known !== total) target.expect(known);
      total = known;
      report.total = known;
      report.soon(target.loaded, target.loaded);
    };
    const end = await this.#slots.run(this.#network.signal, () =>
      download({ url, target, size: null, isVerified: false, cache: 'default', onBytes }, this.#network),
    );
    if (end === 'page') this.pages.add(name);
    if (end !== 'whole') return null;
    report.total = Math.max(total, target.loaded);
    report.now(target.loaded, target.loaded);
    return target.whole();
  }
}

/** Tells about one file, not too often. */
class FileReport {
  total: number;
  readonly #name: string;
  readonly #onProgress: (progress: LoadProgress) => void;
  #last = -Infinity;

  constructor(name: string, total: number, onProgress: (progress: LoadProgress) => void) {
    this.#name = name;
    this.total = total;
    this.#onProgress = onProgress;
  }

  soon(loaded: number, received: number): void {
    if (performance.now() - this.#last >= progressInterval) this.now(loaded, received);
  }

  now(loaded: number, received: number): void {
    this.#last = performance.now();
    this.#onProgress({ phase: 'download', file: this.#name, loaded, total: this.total, received });
  }
}
