import { type FileStore, StorageFailure, type StoredFile } from './store.ts';

/** Bytes that are digested together: small enough that the copy that the browser makes of them does not count. */
export const pieceBytes = 8 << 20;
/** Pieces that are digested at the same time. */
const inFlight = 4;

/**
 * What says that a stored file is whole and was verified: SHA-256 of each of its pieces. Digests of pieces, because the
 * browser's own SHA-256 is several times as fast as one in WebAssembly and runs beside the worker, but takes no streams.
 */
export interface Seal {
  size: number;
  /** Lower-case hexadecimal, in order. */
  pieces: string[];
}

/** Digests pieces of `bytes` while they come. */
export class Sealer {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #pieces: Promise<string>[] = [];

  /** @param bytes the whole file, filled from the beginning */
  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.#bytes = bytes;
  }

  /** The first `loaded` bytes are there. */
  advance(loaded: number): void {
    for (;;) {
      const from = this.#pieces.length * pieceBytes;
      const to = Math.min(from + pieceBytes, this.#bytes.length);
      if (from >= to || to > loaded) return;
      const piece = digest(this.#bytes.subarray(from, to));
      piece.catch(() => {});
      this.#pieces.push(piece);
    }
  }

  restart(): void {
    this.#pieces.length = 0;
  }

  /** After all bytes. */
  async seal(): Promise<Seal> {
    return { size: this.#bytes.length, pieces: await Promise.all(this.#pieces) };
  }
}

/** The seal of a file; `null` where it has none. */
export async function readSeal(store: FileStore, name: string): Promise<Seal | null> {
  const text = await store.readRecord(name);
  if (text === null) return null;
  try {
    const { size, pieces } = JSON.parse(text) as Partial<Seal>;
    const isSeal =
      Number.isSafeInteger(size) &&
      Array.isArray(pieces) &&
      pieces.length === Math.ceil(size! / pieceBytes) &&
      pieces.every((piece) => typeof piece === 'string');
    return isSeal ? { size: size!, pieces } : null;
  } catch {
    // Cut off while it was written: the file is looked at as if it had none.
    return null;
  }
}

export const writeSeal = (store: FileStore, name: string, seal: Seal): Promise<void> =>
  store.writeRecord(name, JSON.stringify(seal));

/**
 * Reads a sealed file; `null` where it is not what was sealed.
 *
 * @param onBytes gets the bytes that were verified so far
 * @throws the reason of `signal` when that aborts
 */
export async function readSealed(
  file: StoredFile,
  seal: Seal,
  signal: AbortSignal,
  onBytes: (verified: number) => void,
): Promise<Uint8Array<ArrayBuffer> | null> {
  if (file.size() !== seal.size) return null;
  const bytes = new Uint8Array(seal.size);
  const checks: Promise<boolean>[] = [];
  for (const [index, expected] of seal.pieces.entries()) {
    if (index >= inFlight && !(await checks[index - inFlight])) return null;
    signal.throwIfAborted();
    const from = index * pieceBytes;
    const piece = bytes.subarray(from, from + pieceBytes);
    const read = readWhole(file, piece, from);
    const check = read ? digest(piece).then((found) => found === expected) : Promise.resolve(false);
    check.catch(() => {});
    checks.push(check);
    onBytes(from + piece.length);
  }
  return (await Promise.all(checks)).every(Boolean) ? bytes : null;
}

/** Fills `into` from `at` on; `false` where there are fewer bytes, or they can't be read. */
export function readWhole(file: StoredFile, into: Uint8Array, at: number): boolean {
  try {
    let done = 0;
    while (done < into.length) {
      const read = file.read(into.subarray(done), at + done);
      if (read <= 0) return false;
      done += read;
    }
    return true;
  } catch (error) {
    if (error instanceof StorageFailure) return false;
    throw error;
  }
}

async function digest(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const found = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(found, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
