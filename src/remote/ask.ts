/** From a request to the chunks of its answer, whatever was asked. */
import { checkRequestOptions } from '../chat/request-options.ts';
import { type ChunkQueue, queued } from '../chat/stream.ts';
import type { IncompleteToolCalls, RequestOptions } from '../chat/types.ts';
import { RemoteServerError, RequestAbortedError } from '../errors.ts';
import type { RemoteRequest } from './dialect.ts';
import type { RemoteServer } from './server.ts';

/** The engine, seen from its completions. */
export interface RemoteHost {
  readonly server: RemoteServer;
  /** Aborts when the engine is closed, with the error that its requests get. */
  readonly closing: AbortSignal;
  /** The name that the server knows the model by. Rejects where neither the request nor the server says one. */
  modelOf(body: unknown, signal: AbortSignal): Promise<string>;
  /** @param incompleteToolCalls `null`: as the engine has it */
  prepareChat(
    body: unknown,
    incompleteToolCalls: IncompleteToolCalls | null,
    signal: AbortSignal,
  ): Promise<RemoteRequest>;
}

export interface RemoteAnswer<Chunk extends object> {
  /** Whether the caller gets a stream. */
  isStreamed: boolean;
  chunks: ChunkQueue<Chunk>;
  /** Ends the request. */
  controller: AbortController;
}

/**
 * Sends what `prepare` makes. Resolves once the server has begun to answer; rejects as `create` of completions does.
 */
export async function ask<Chunk extends object>(
  { server, closing }: Pick<RemoteHost, 'server' | 'closing'>,
  options: RequestOptions,
  prepare: (signal: AbortSignal) => Promise<RemoteRequest<Chunk>>,
): Promise<RemoteAnswer<Chunk>> {
  checkRequestOptions(options);
  const { onProgress } = options;
  const lifetime = new RequestLifetime(options.signal ?? null, closing);
  const report = (state: 'queued' | 'prefilling' | 'decoding') =>
    onProgress?.({ state, done: null, total: null });
  try {
    lifetime.signal.throwIfAborted();
    report('queued');
    const request = await prepare(lifetime.signal);
    const { path, body, stream: isStreamed } = request;
    const events = await server.events(path, body, lifetime.signal, () => report('prefilling'));
    report('decoding');
    return {
      isStreamed,
      chunks: queued(chunksOf(events, request, lifetime)),
      controller: lifetime.controller,
    };
  } catch (error) {
    lifetime.end();
    throw error;
  }
}

async function* chunksOf<Chunk extends object>(
  events: AsyncIterable<Record<string, unknown>>,
  { reader, placement }: RemoteRequest<Chunk>,
  lifetime: RequestLifetime,
): AsyncGenerator<Chunk[]> {
  const placed = (chunks: Chunk[]) => placement?.chunks(chunks) ?? chunks;
  try {
    try {
      for await (const event of events) {
        yield placed(reader.read(event));
        if (reader.ended) break;
      }
    } catch (error) {
      // Nothing but the usage was left to come.
      const isWhole =
        reader.whole && error instanceof RemoteServerError && error.code === 'connection_failed';
      if (!isWhole) throw error;
    }
    yield placed(reader.finish());
  } finally {
    lifetime.end();
  }
}

/** From the call to the last chunk: whatever ends a request before its time becomes the error that its caller gets. */
class RequestLifetime {
  /** The stream's. */
  readonly controller = new AbortController();
  readonly #errors = new AbortController();
  readonly #caller: AbortSignal | null;
  readonly #closing: AbortSignal;

  constructor(caller: AbortSignal | null, closing: AbortSignal) {
    this.#caller = caller;
    this.#closing = closing;
    this.controller.signal.addEventListener('abort', () => {
      const details = { code: 'request_aborted', cause: this.controller.signal.reason };
      this.#errors.abort(new RequestAbortedError('The request was aborted.', details));
    });
    if (closing.aborted) this.#close();
    else closing.addEventListener('abort', this.#close);
    if (caller?.aborted) this.#abort();
    else caller?.addEventListener('abort', this.#abort);
  }

  readonly #abort = () => this.controller.abort(this.#caller?.reason);
  readonly #close = () => this.#errors.abort(this.#closing.reason);

  /** Its reason is an error for the caller. */
  get signal(): AbortSignal {
    return this.#errors.signal;
  }

  end(): void {
    this.#closing.removeEventListener('abort', this.#close);
    this.#caller?.removeEventListener('abort', this.#abort);
  }
}
