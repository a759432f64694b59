import {
  type FileStore,
  StorageFailure,
  type StorageSpace,
  type StoredFile,
} from '../../../worker/cache/store.ts';

/** A store in memory, which can be full or broken. */
export class MemoryStore implements FileStore {
  readonly files = new Map<string, Uint8Array>();
  readonly records = new Map<string, string>();
  /** What the browser says; `null`: nothing. */
  says: StorageSpace | null = null;
  /** What it has promised; `null`: it does not say. */
  isPersistent: boolean | null = null;
  /** Bytes that can be written in all, whatever the browser says. */
  room = Number.POSITIVE_INFINITY;

  async open(name: string): Promise<StoredFile> {
    const { files } = this;
    if (!files.has(name)) files.set(name, new Uint8Array());
    return {
      size: () => files.get(name)!.length,
      read: (into, at) => {
        const part = files.get(name)!.subarray(at, at + into.length);
        into.set(part);
        return part.length;
      },
      write: (bytes, at) => {
        const old = files.get(name)!;
        const others = [...files.values()].reduce((sum, { length }) => sum + length, 0) - old.length;
        const length = Math.max(old.length, at + bytes.length);
        if (others + length > this.room) throw new StorageFailure('no space', { isFull: true });
        const changed = new Uint8Array(length);
        changed.set(old);
        changed.set(bytes, at);
        files.set(name, changed);
      },
      truncate: (size) => void files.set(name, files.get(name)!.slice(0, size)),
      flush: () => {},
      close: () => {},
    };
  }

  async remove(name: string): Promise<void> {
    this.files.delete(name);
  }

  async readRecord(name: string): Promise<string | null> {
    return this.records.get(name) ?? null;
  }

  async writeRecord(name: string, text: string): Promise<void> {
    this.records.set(name, text);
  }

  async removeRecord(name: string): Promise<void> {
    this.records.delete(name);
  }

  async recordNames(): Promise<string[]> {
    return [...this.records.keys()];
  }

  async space(): Promise<StorageSpace | null> {
    return this.says;
  }

  async persistent(): Promise<boolean | null> {
    return this.isPersistent;
  }

  exclusively<Result>(_name: string, _signal: AbortSignal, use: () => Promise<Result>): Promise<Result> {
    return use();
  }
}
