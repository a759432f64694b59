import { ModelLoadError } from '../../src/errors.ts';
import { type ContentHasher, type ContentId, contentName, createHasher } from './digest.ts';
import type { Target } from './download.ts';
import type { Keeper } from './keeper.ts';
import { readWhole, Sealer, writeSeal } from './seal.ts';
import type { StoredFile } from './store.ts';

/** How many bytes of an earlier visit are read and hashed at once. */
const resumeBytes = 8 << 20;

/** A file whose length nobody has said. */
export class OpenEnded implements Target {
  loaded = 0;
  #bytes = new Uint8Array(65_536);

  /** So many bytes are announced; a file that is as long as that is not copied. */
  expect(total: number): void {
    if (this.loaded > 0 || total <= 0) return;
    try {
      this.#bytes = new Uint8Array(total);
    } catch {
      // What is announced need not come: memory is taken as it is needed.
    }
  }

  write(bytes: Uint8Array): void {
    if (this.loaded + bytes.length > this.#bytes.length) {
      const larger = new Uint8Array(2 * (this.loaded + bytes.length));
      larger.set(this.#bytes.subarray(0, this.loaded));
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, this.loaded);
    this.loaded += bytes.length;
  }

  restart(): void {
    this.loaded = 0;
  }

  whole(): Uint8Array<ArrayBuffer> {
    return this.loaded === this.#bytes.length ? this.#bytes : this.#bytes.slice(0, this.loaded);
  }
}

/** A file whose content is known: its bytes go to memory, through the hasher, and to the store where there is one. */
export class Assembly implements Target {
  loaded = 0;
  readonly #name: string;
  readonly #content: ContentId;
  readonly #keeper: Keeper;
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #hasher: ContentHasher;
  readonly #sealer: Sealer | null;
  /** `null`: not kept. */
  #file: StoredFile | null;

  private constructor(
    name: string,
    content: ContentId,
    keeper: Keeper,
    file: StoredFile | null,
    hasher: ContentHasher,
  ) {
    this.#name = name;
    this.#content = content;
    this.#keeper = keeper;
    this.#file = file;
    this.#hasher = hasher;
    this.#bytes = allocate(name, content.size);
    this.#sealer = file && new Sealer(this.#bytes);
  }

  /**
   * @param file where the bytes are kept; has what came at an earlier visit
   * @throws ModelLoadError when there is not enough memory
   */
  static async begin(
    name: string,
    content: ContentId,
    keeper: Keeper,
    file: StoredFile | null,
  ): Promise<Assembly> {
    return new Assembly(name, content, keeper, file, await createHasher(content));
  }

  /** Takes what is there of an earlier visit. `onBytes` is called after each part. */
  async resume(signal: AbortSignal, onBytes: () => void): Promise<void> {
    const file = this.#file;
    if (!file) return;
    const size = await this.#keeper.attempt(this.#name, async () => file.size());
    // More than the whole is none of ours.
    if (size === null || size > this.#content.size) return this.restart();
    while (this.loaded < size) {
      signal.throwIfAborted();
      const part = this.#bytes.subarray(this.loaded, Math.min(this.loaded + resumeBytes, size));
      if (!readWhole(file, part, this.loaded)) return this.restart();
      this.#take(part.length);
      onBytes();
      // Hashing takes the thread; messages come in between.
      await new Promise((resolve) => setTimeout(resolve));
    }
  }

  write(bytes: Uint8Array<ArrayBuffer>): void {
    this.#bytes.set(bytes, this.loaded);
    this.#keep((file) => file.write(bytes, this.loaded));
    this.#take(bytes.length);
  }

  restart(): void {
    this.loaded = 0;
    this.#hasher.reset();
    this.#sealer?.restart();
    this.#keep((file) => file.truncate(0));
  }

  /** The digest of what is there; called once, or once after each `restart`. */
  digest(): string {
    return this.#hasher.digest();
  }

  /** Whether the bytes go to the store, too. */
  get isKept(): boolean {
    return this.#file !== null;
  }

  /** Makes the stored file one that counts. After its content was verified. */
  async seal(): Promise<void> {
    const { store } = this.#keeper;
    if (!store || !this.#sealer) return;
    const seal = await this.#sealer.seal();
    this.#keep((file) => file.flush());
    if (!this.#file) return;
    const sealed = await this.#keeper.attempt(this.#name, async () => {
      await writeSeal(store, contentName(this.#content), seal);
      return true;
    });
    if (sealed) this.#keeper.keeps();
  }

  whole(): Uint8Array<ArrayBuffer> {
    return this.#bytes;
  }

  #take(count: number): void {
    this.#hasher.update(this.#bytes.subarray(this.loaded, this.loaded + count));
    this.loaded += count;
    this.#sealer?.advance(this.loaded);
  }

  /** Goes on in memory where the store fails; a part that can't become whole takes up no room. */
  #keep(use: (file: StoredFile) => void): void {
    const file = this.#file;
    if (!file) return;
    try {
      use(file);
    } catch (error) {
      this.#file = null;
      try {
        file.truncate(0);
      } catch {
        // The reason why is in `error`.
      }
      this.#keeper.failed(this.#name, error);
    }
  }
}

function allocate(name: string, size: number): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(size);
  } catch (cause) {
    throw new ModelLoadError(
      `${name} has ${size} bytes, for which there is not enough memory: use a smaller model or another dtype.`,
      { code: 'out_of_memory', cause },
    );
  }
}
