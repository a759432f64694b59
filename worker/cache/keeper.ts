import { StorageQuotaError } from '../../src/errors.ts';
import type { CacheChoice, StorageReport } from '../../src/protocol.ts';
import { messageOf } from './download.ts';
import { type FileStore, StorageFailure, type StorageSpace } from './store.ts';

/**
 * What a load does with the store, and what it says of it. Where the store fails, files come from the network and are
 * not kept; with `required` the load fails instead.
 */
export class Keeper {
  /** `null`: nothing is kept. */
  readonly store: FileStore | null;
  readonly #required: boolean;
  #reason: string | null;
  #kept = 0;
  #space: Promise<StorageSpace | null> | null = null;
  /** Bytes that this load has been promised. What is written meanwhile does not count against them again. */
  #promised = 0;

  constructor(store: FileStore | null, choice: CacheChoice) {
    this.store = choice === 'none' ? null : store;
    this.#required = choice === 'required';
    this.#reason = choice === 'none' ? "the option cache is 'none'" : null;
    if (choice !== 'none' && !store)
      this.#reason = 'this browser or page has no private file system for workers';
  }

  /** After the load. */
  async report(): Promise<StorageReport> {
    const reason =
      this.#reason ?? (this.#kept > 0 ? null : 'no digests of the files are known to keep them by');
    const persistent = (await this.store?.persistent().catch(() => null)) ?? null;
    return { kept: reason === null, reason, persistent };
  }

  /** A file stays for the next visit. */
  keeps(): void {
    this.#kept++;
  }

  /** @throws StorageQuotaError where files have to be kept and can't be at all */
  require(): void {
    if (!this.store && this.#required) {
      throw new StorageQuotaError(
        `The model's files can't be kept: ${this.#reason}. Load with cache: 'auto' to go on without.`,
        { code: 'storage_unavailable' },
      );
    }
  }

  /**
   * Asks for room before a download; `false` where there is none, and the file is not to be kept.
   *
   * @param bytes that the file still needs
   * @throws StorageQuotaError where files have to be kept
   */
  async hasRoom(file: string, bytes: number): Promise<boolean> {
    const space = await this.#ask();
    if (!space) return true;
    const available = Math.max(0, space.quota - space.used - this.#promised);
    if (bytes <= available) {
      this.#promised += bytes;
      return true;
    }
    this.#refuse(
      `${file} needs ${bytes} bytes, and this origin may store ${available} more (it uses ${space.used} of ${space.quota})`,
      { needed: bytes, available },
    );
    return false;
  }

  /**
   * Uses the store; `null` where it fails.
   *
   * @throws StorageQuotaError where files have to be kept
   */
  async attempt<Result>(file: string, use: () => Promise<Result>): Promise<Result | null> {
    try {
      return await use();
    } catch (error) {
      this.failed(file, error);
      return null;
    }
  }

  /** Takes what the store threw; throws it on where it is none of the store's own, or files have to be kept. */
  failed(file: string, error: unknown): void {
    if (!(error instanceof StorageFailure)) throw error;
    const what = error.isFull ? 'there is no room' : 'the storage failed';
    this.#refuse(`${file} can't be kept: ${what} (${messageOf(error)})`, undefined, error);
  }

  #refuse(reason: string, bytes?: { needed: number; available: number }, cause?: unknown): void {
    this.#reason ??= reason;
    if (!this.#required) return;
    throw new StorageQuotaError(
      `${reason}. Free space on the disk, delete what the origin does not need (deleteCachedModels() empties the models' cache), or load with cache: 'auto' to go on without keeping it.`,
      { code: 'storage_full', bytes, cause },
    );
  }

  #ask(): Promise<StorageSpace | null> {
    // A browser that does not answer is found out by the writes.
    this.#space ??= this.store?.space().catch(() => null) ?? Promise.resolve(null);
    return this.#space;
  }
}
