import { TokenprismError } from '../errors.ts';
import type { ChatCompletionChunk } from './types.ts';

/** Where a stream has its chunks from. */
export interface ChunkSource<Chunk> {
  /** The next chunk, `null` at the end. Throws what ended the answer before its time. */
  next(): Promise<Chunk | null>;
  /** Nobody reads on: all further chunks are the end. */
  discard(): void;
}

/**
 * The chunks of one answer, as they come. Iterate it once; leaving the loop early aborts the request, and so
 * does `controller.abort()`. Chunks wait in memory for a slow reader, the model is never held up.
 *
 * The iteration throws what ended the request before its time, after the chunks that came before it:
 * `RequestAbortedError`, `DeviceLostError`, `BadRequestError` (a prompt longer than the context), `WorkerError`.
 */
export class ChunkStream<Chunk extends object> implements AsyncIterable<Chunk> {
  readonly controller: AbortController;
  readonly #chunks: ChunkSource<Chunk>;
  #read = false;

  constructor(chunks: ChunkSource<Chunk>, controller: AbortController) {
    this.#chunks = chunks;
    this.controller = controller;
  }

  [Symbol.asyncIterator](): AsyncIterator<Chunk, undefined> {
    if (this.#read) {
      throw new TokenprismError('A stream can be read once; keep its chunks to use them again.', {
        code: 'stream_already_read',
      });
    }
    this.#read = true;
    return {
      next: async () => {
        const value = await this.#chunks.next();
        return value ? { value, done: false } : { value: undefined, done: true };
      },
      // Not a generator: its `return` would wait for the next chunk before it aborts.
      return: async () => {
        this.controller.abort();
        this.#chunks.discard();
        return { value: undefined, done: true };
      },
    };
  }
}

/** The chunks of an answer to a chat; see {@link ChunkStream}. */
export class ChatCompletionStream extends ChunkStream<ChatCompletionChunk> {}

/** A queue of what `source` brings, read ahead of its reader; it fails as `source` does. */
export function queued<Chunk extends object>(source: AsyncIterable<readonly Chunk[]>): ChunkQueue<Chunk> {
  const queue = new ChunkQueue<Chunk>();
  void (async () => {
    try {
      for await (const chunks of source) queue.push(chunks);
      queue.end();
    } catch (error) {
      queue.fail(error);
    }
  })();
  return queue;
}

/** Chunks, or what else comes in order, between its maker's pace and the reader's, who may ask for several at once. */
export class ChunkQueue<Item extends object = ChatCompletionChunk> {
  readonly #chunks: Item[] = [];
  #taken = 0;
  #end: { error: unknown } | 'done' | null = null;
  /** Readers that wait, in the order in which they asked. */
  #waiting: Promise<unknown> = Promise.resolve();
  #wake: (() => void) | null = null;

  /** True once `end` or `fail` was called: nothing is added any more. */
  get closed(): boolean {
    return this.#end !== null;
  }

  push(chunks: readonly Item[]): void {
    if (this.closed) return;
    for (const chunk of chunks) this.#chunks.push(chunk);
    if (chunks.length > 0) this.#wake?.();
  }

  end(): void {
    this.#end ??= 'done';
    this.#wake?.();
  }

  fail(error: unknown): void {
    this.#end ??= { error };
    this.#wake?.();
  }

  /** Nobody reads on: a waiting `next` and all later ones say that this is the end. */
  discard(): void {
    this.#chunks.length = 0;
    this.#taken = 0;
    this.#end = 'done';
    this.#wake?.();
  }

  /** The next chunk, `null` at the end. Throws the error of `fail` once all chunks before it are read. */
  next(): Promise<Item | null> {
    const next = this.#waiting.then(() => this.#next());
    this.#waiting = next.catch(() => {});
    return next;
  }

  async #next(): Promise<Item | null> {
    for (;;) {
      const chunk = this.#chunks[this.#taken];
      if (chunk) {
        this.#taken++;
        this.#forgetTaken();
        return chunk;
      }
      if (this.#end === 'done') return null;
      if (this.#end) throw this.#end.error;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
  }

  /** Also where the reader never catches up; seldom enough that moving the rest costs less than taking did. */
  #forgetTaken(): void {
    const left = this.#chunks.length - this.#taken;
    if (left > 0 && this.#taken < Math.max(left, 1024)) return;
    if (left === 0) this.#chunks.length = 0;
    else this.#chunks.splice(0, this.#taken);
    this.#taken = 0;
  }
}
