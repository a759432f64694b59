import { collectCompletion } from './collector.ts';
import type { Create } from './create.ts';
import { checkRequestOptions } from './request-options.ts';
import { type CompletionsHost, startAnswer, whenReady } from './start.ts';
import type { ChatCompletionStream } from './stream.ts';
import type {
  ChatCompletion,
  ChatCompletionCreateParams,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionCreateParamsStreaming,
  RequestOptions,
} from './types.ts';

/** `chat.completions` of an engine. */
export class Completions {
  readonly #host: CompletionsHost;

  constructor(host: CompletionsHost) {
    this.#host = host;
  }

  /**
   * Answers a chat. With `stream: true` resolves to a stream of chunks as soon as the request is found good;
   * else to the whole completion, which is that same stream collected.
   *
   * Rejects with a `BadRequestError` that names the field before the model runs; later with what ended the
   * request: `RequestAbortedError`, `DeviceLostError`, `WorkerError`, `EngineClosedError`.
   */
  readonly create = (async (
    body: ChatCompletionCreateParams,
    options: RequestOptions = {},
  ): Promise<ChatCompletion | ChatCompletionStream> => {
    const request = this.#host.prepareRequest(body, this.#host.context);
    checkRequestOptions(options);
    // No wait without need: requests reach the worker in the order of the calls.
    const ready = whenReady(this.#host, options.signal);
    if (ready) await ready;
    const stream = startAnswer(this.#host, request, options);
    return request.stream ? stream : collectCompletion(stream);
  }) as Create<
    ChatCompletionCreateParamsNonStreaming,
    ChatCompletionCreateParamsStreaming,
    ChatCompletion,
    ChatCompletionStream
  >;
}
