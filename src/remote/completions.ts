import { collectCompletion } from '../chat/collector.ts';
import { checkRequestOptions } from '../chat/request-options.ts';
import type { ChatCompletionStream } from '../chat/stream.ts';
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionCreateParamsStreaming,
  IncompleteToolCalls,
  RequestOptions,
} from '../chat/types.ts';
import { RemoteServerError, RequestAbortedError } from '../errors.ts';
import type { RemoteRequest } from './dialect.ts';
import type { RemoteServer } from './server.ts';
import { streamOf } from './stream.ts';

/** Fields of a server that the engine passes on without knowing them. */
interface ServerFields {
  [field: string]: unknown;
}

export type RemoteCreateParamsStreaming = ChatCompletionCreateParamsStreaming & ServerFields;
export type RemoteCreateParamsNonStreaming = ChatCompletionCreateParamsNonStreaming & ServerFields;
export type RemoteCreateParams = RemoteCreateParamsStreaming | RemoteCreateParamsNonStreaming;

/** The engine, seen from its chat surface. */
export interface RemoteHost {
  readonly server: RemoteServer;
  /** Aborts when the engine is closed, with the error that its requests get. */
  readonly closing: AbortSignal;
  /** @param incompleteToolCalls `null`: as the engine has it */
  prepare(
    body: unknown,
    incompleteToolCalls: IncompleteToolCalls | null,
    signal: AbortSignal,
  ): Promise<RemoteRequest>;
}

/** `chat.completions` of a remote engine. */
export class RemoteCompletions {
  readonly #host: RemoteHost;

  constructor(host: RemoteHost) {
    this.#host = host;
  }

  /**
   * Answers a chat, as an engine with a model of its own does. With `stream: true` resolves to a stream once the
   * server has begun to answer, else to the whole completion; either way the server streams.
   *
   * Rejects with the server's refusal (`BadRequestError`, `ModelNotFoundError`, `AuthenticationError`,
   * `PermissionDeniedError`, `RateLimitError`), and with `RemoteServerError`, `RemoteTimeoutError`,
   * `RequestAbortedError` or `EngineClosedError`; a stream throws the latter four where it ends before its answer.
   */
  create(body: RemoteCreateParamsNonStreaming, options?: RequestOptions): Promise<ChatCompletion>;
  create(body: RemoteCreateParamsStreaming, options?: RequestOptions): Promise<ChatCompletionStream>;
  create(body: RemoteCreateParams, options?: RequestOptions): Promise<ChatCompletion | ChatCompletionStream>;
  async create(
    body: RemoteCreateParams,
    options: RequestOptions = {},
  ): Promise<ChatCompletion | ChatCompletionStream> {
    checkRequestOptions(options);
    const { server, closing } = this.#host;
    const { onProgress } = options;
    const lifetime = new RequestLifetime(options.signal ?? null, closing);
    const report = (state: 'queued' | 'prefilling' | 'decoding') =>
      onProgress?.({ state, done: null, total: null });
    try {
      lifetime.signal.throwIfAborted();
      report('queued');
      const request = await this.#host.prepare(body, options.incompleteToolCalls ?? null, lifetime.signal);
      const { path } = request;
      const events = await server.events(path, request.body, lifetime.signal, () => report('prefilling'));
      report('decoding');
      const stream = streamOf(chunksOf(events, request, lifetime), lifetime.controller);
      return request.stream ? stream : await collectCompletion(stream);
    } catch (error) {
      lifetime.end();
      throw error;
    }
  }
}

async function* chunksOf(
  events: AsyncIterable<Record<string, unknown>>,
  { reader, placement }: RemoteRequest,
  lifetime: RequestLifetime,
): AsyncGenerator<ChatCompletionChunk[]> {
  const placed = (chunks: ChatCompletionChunk[]) => placement?.chunks(chunks) ?? chunks;
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
