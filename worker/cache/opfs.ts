import { modelStorageName } from '../../src/protocol.ts';
import { type FileStore, StorageFailure, type StoredFile } from './store.ts';

/** What the DOM library leaves to workers: a file that is open here alone, read and written at once. */
interface SyncAccessHandle {
  getSize(): number;
  read(into: Uint8Array, options: { at: number }): number;
  write(bytes: Uint8Array, options: { at: number }): number;
  truncate(size: number): void;
  flush(): void;
  close(): void;
}

const openHandle = (file: FileSystemFileHandle): Promise<SyncAccessHandle> =>
  (file as unknown as { createSyncAccessHandle(): Promise<SyncAccessHandle> }).createSyncAccessHandle();

/** The origin private file system, in a folder of its own; `null` where a worker can't use it. */
export function openOpfsStore(): FileStore | null {
  // Not there outside of secure contexts.
  const storage = (globalThis.navigator as Partial<Navigator> | undefined)?.storage;
  const canUse =
    typeof storage?.getDirectory === 'function' &&
    typeof FileSystemFileHandle !== 'undefined' &&
    'createSyncAccessHandle' in FileSystemFileHandle.prototype;
  return canUse ? new OpfsStore(storage) : null;
}

class OpfsStore implements FileStore {
  readonly #storage: StorageManager;

  constructor(storage: StorageManager) {
    this.#storage = storage;
  }

  async open(name: string): Promise<StoredFile> {
    return guarded(async () => {
      const folder = await this.#folder('files');
      const file = await folder.getFileHandle(name, { create: true });
      return new OpfsFile(await openHandle(file));
    });
  }

  remove(name: string): Promise<void> {
    return this.#removeFrom('files', name);
  }

  async readRecord(name: string): Promise<string | null> {
    return guarded(async () => {
      try {
        const file = await (await this.#folder('records')).getFileHandle(name);
        return await (await file.getFile()).text();
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    });
  }

  async writeRecord(name: string, text: string): Promise<void> {
    await guarded(async () => {
      const file = await (await this.#folder('records')).getFileHandle(name, { create: true });
      const handle = new OpfsFile(await openHandle(file));
      try {
        handle.truncate(0);
        handle.write(new TextEncoder().encode(text), 0);
        handle.flush();
      } finally {
        handle.close();
      }
    });
  }

  removeRecord(name: string): Promise<void> {
    return this.#removeFrom('records', name);
  }

  async recordNames(): Promise<string[]> {
    return guarded(async () => {
      const folder = await this.#folder('records');
      const names: string[] = [];
      for await (const name of (folder as unknown as { keys(): AsyncIterable<string> }).keys())
        names.push(name);
      return names;
    });
  }

  async space(): Promise<{ used: number; quota: number } | null> {
    const { usage, quota } = await guarded(async () => (await this.#storage.estimate?.()) ?? {});
    return usage === undefined || quota === undefined ? null : { used: usage, quota };
  }

  async persistent(): Promise<boolean | null> {
    return guarded(async () => (await this.#storage.persisted?.()) ?? null);
  }

  async exclusively<Result>(name: string, signal: AbortSignal, use: () => Promise<Result>): Promise<Result> {
    const locks = (globalThis.navigator as Partial<Navigator>).locks;
    // Without locks an open file shuts others out, who then load without the store.
    if (!locks) return use();
    return locks.request(`${modelStorageName}/${name}`, { signal }, use);
  }

  async #folder(name: 'files' | 'records'): Promise<FileSystemDirectoryHandle> {
    const root = await this.#storage.getDirectory();
    const own = await root.getDirectoryHandle(modelStorageName, { create: true });
    return own.getDirectoryHandle(name, { create: true });
  }

  async #removeFrom(folder: 'files' | 'records', name: string): Promise<void> {
    await guarded(async () => {
      try {
        await (await this.#folder(folder)).removeEntry(name);
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    });
  }
}

class OpfsFile implements StoredFile {
  readonly #handle: SyncAccessHandle;

  constructor(handle: SyncAccessHandle) {
    this.#handle = handle;
  }

  size(): number {
    return guardedNow(() => this.#handle.getSize());
  }

  read(into: Uint8Array<ArrayBuffer>, at: number): number {
    return guardedNow(() => this.#handle.read(into, { at }));
  }

  write(bytes: Uint8Array<ArrayBuffer>, at: number): void {
    const written = guardedNow(() => this.#handle.write(bytes, { at }));
    if (written === bytes.length) return;
    throw new StorageFailure(`only ${written} of ${bytes.length} bytes could be written`, { isFull: true });
  }

  truncate(size: number): void {
    guardedNow(() => this.#handle.truncate(size));
  }

  flush(): void {
    guardedNow(() => this.#handle.flush());
  }

  close(): void {
    this.#handle.close();
  }
}

const nameOf = (thrown: unknown) =>
  thrown instanceof Error || thrown instanceof DOMException ? thrown.name : '';
const isMissing = (thrown: unknown) => nameOf(thrown) === 'NotFoundError';

function failure(thrown: unknown): StorageFailure {
  if (thrown instanceof StorageFailure) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new StorageFailure(message, { isFull: nameOf(thrown) === 'QuotaExceededError', cause: thrown });
}

async function guarded<Result>(use: () => Promise<Result>): Promise<Result> {
  try {
    return await use();
  } catch (thrown) {
    throw failure(thrown);
  }
}

function guardedNow<Result>(use: () => Result): Result {
  try {
    return use();
  } catch (thrown) {
    throw failure(thrown);
  }
}
