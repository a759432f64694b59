import { collectCompletion } from '../chat/collector.ts';
import type { Create } from '../chat/create.ts';
import { ChatCompletionStream } from '../chat/stream.ts';
import type {
  ChatCompletion,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionCreateParamsStreaming,
  RequestOptions,
} from '../chat/types.ts';
import { ask, type RemoteHost } from './ask.ts';

/** Fields of a server that the engine passes on without knowing them. */
export interface ServerFields {
  [field: string]: unknown;
}

export type RemoteCreateParamsStreaming = ChatCompletionCreateParamsStreaming & ServerFields;
export type RemoteCreateParamsNonStreaming = ChatCompletionCreateParamsNonStreaming & ServerFields;
export type RemoteCreateParams = RemoteCreateParamsStreaming | RemoteCreateParamsNonStreaming;

/** Answers a chat. */
export type RemoteCreate = Create<
  RemoteCreateParamsNonStreaming,
  RemoteCreateParamsStreaming,
  ChatCompletion,
  ChatCompletionStream
>;

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
  readonly create = (async (
    body: RemoteCreateParams,
    options: RequestOptions = {},
  ): Promise<ChatCompletion | ChatCompletionStream> => {
    const { isStreamed, chunks, controller } = await ask(this.#host, options, (signal) =>
      this.#host.prepareChat(body, options.incompleteToolCalls ?? null, signal),
    );
    const stream = new ChatCompletionStream(chunks, controller);
    return isStreamed ? stream : collectCompletion(stream);
  }) as RemoteCreate;
}
