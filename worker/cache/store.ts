/** A stored file that is open here and nowhere else. */
export interface StoredFile {
  /** Bytes. */
  size(): number;
  /** Fills `into` with the bytes from `at` on; returns how many there were. */
  read(into: Uint8Array, at: number): number;
  write(bytes: Uint8Array, at: number): void;
  truncate(size: number): void;
  /** What was written survives a crash from here on. */
  flush(): void;
  /** Safe to call twice. */
  close(): void;
}

/** How much the origin stores and may store, in bytes. */
export interface StorageSpace {
  used: number;
  quota: number;
}

/**
 * Where files stay for the next visit. Names are letters, digits, `-`, `_`, `.`, `~` and `%`. All of it may reject with a
 * {@link StorageFailure}.
 */
export interface FileStore {
  /** Opens a file, which is empty where there was none. */
  open(name: string): Promise<StoredFile>;
  /** Does nothing where there is no such file. */
  remove(name: string): Promise<void>;
  /** A short text, or `null` where there is none. Records and files have names of their own. */
  readRecord(name: string): Promise<string | null>;
  writeRecord(name: string, text: string): Promise<void>;
  /** Does nothing where there is no such record. */
  removeRecord(name: string): Promise<void>;
  recordNames(): Promise<string[]>;
  /** `null` where the browser does not say. */
  space(): Promise<StorageSpace | null>;
  /** Whether the browser has promised not to evict it; `null` where it does not say. */
  persistent(): Promise<boolean | null>;
  /**
   * Runs `use` while no other tab or worker has `name`. Rejects with the reason of `signal` where that aborts while
   * it waits.
   */
  exclusively<Result>(name: string, signal: AbortSignal, use: () => Promise<Result>): Promise<Result>;
}

/** The store can't be used, or has no room. The files can be had without it. */
export class StorageFailure extends Error {
  readonly isFull: boolean;

  constructor(message: string, { isFull = false, cause }: { isFull?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.isFull = isFull;
  }
}
