import { RequestAbortedError, type TokenprismError } from '../errors.ts';
import type { Parser } from '../parser/parser.ts';
import type { DeviceReport, GenerateJob } from '../protocol.ts';
import { AnswerAssembly, type GenerationMessage } from './answer.ts';
import { collectCompletion } from './collector.ts';
import { badType } from './fields.ts';
import type { ParserRequest } from './format.ts';
import type { PreparedRequest, prepareRequest, RequestContext } from './request.ts';
import { ChatCompletionStream, ChunkQueue } from './stream.ts';
import type { TokenText } from './token-record.ts';
import type {
  ChatCompletion,
  ChatCompletionCreateParams,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionCreateParamsStreaming,
  IncompleteToolCalls,
  RequestOptions,
} from './types.ts';

/** One request in the worker. */
export interface Generation {
  cut(choice: number, at: number): void;
  abort(): void;
}

export interface GenerationListener {
  message(message: GenerationMessage): void;
  /** The request ended here; no message follows. */
  fail(error: TokenprismError): void;
}

/** What runs the model: the engine, seen from the chat surface. */
export interface CompletionsHost {
  readonly context: RequestContext;
  /** Not imported here: a page need not have it before it has a model. */
  readonly prepareRequest: typeof prepareRequest;
  readonly incompleteToolCalls: IncompleteToolCalls;
  readonly device: DeviceReport;
  /** The loaded model's. */
  readonly vocabulary: TokenText;
  /** Tokens with which the model ends its turn. */
  readonly eosTokenIds: readonly number[];
  createParser(request: ParserRequest): Parser;
  /** `null` when a request can be sent now; else resolves when it can, or rejects with why none can. */
  ready(): Promise<void> | null;
  generate(job: GenerateJob, listener: GenerationListener): Generation;
}

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
  create(body: ChatCompletionCreateParamsNonStreaming, options?: RequestOptions): Promise<ChatCompletion>;
  create(body: ChatCompletionCreateParamsStreaming, options?: RequestOptions): Promise<ChatCompletionStream>;
  create(
    body: ChatCompletionCreateParams,
    options?: RequestOptions,
  ): Promise<ChatCompletion | ChatCompletionStream>;
  async create(
    body: ChatCompletionCreateParams,
    options: RequestOptions = {},
  ): Promise<ChatCompletion | ChatCompletionStream> {
    const request = this.#host.prepareRequest(body, this.#host.context);
    checkRequestOptions(options);
    if (options.signal?.aborted) throw aborted(options.signal.reason);
    const ready = this.#host.ready();
    // No wait without need: requests reach the worker in the order of the calls.
    if (ready) await unlessAborted(ready, options.signal);
    const stream = this.#start(request, options);
    if (request.stream) return stream;
    const completion = await collectCompletion(stream);
    return request.placement?.completion(completion) ?? completion;
  }

  #start(
    request: PreparedRequest,
    { signal, onProgress, incompleteToolCalls }: RequestOptions,
  ): ChatCompletionStream {
    const controller = new AbortController();
    const chunks = new ChunkQueue();
    const answer = this.#assembly(request, incompleteToolCalls ?? this.#host.incompleteToolCalls);
    const forwardAbort = () => controller.abort(signal?.reason);
    const settle = (end: () => void) => {
      signal?.removeEventListener('abort', forwardAbort);
      end();
    };
    const generation = this.#host.generate(request.job, {
      message: (message) => {
        if (chunks.closed) return;
        try {
          if (message.type === 'state') {
            onProgress?.({ state: message.state, done: message.done ?? null, total: message.total ?? null });
          }
          const step = answer.handle(message);
          chunks.push(request.placement?.chunks(step.chunks) ?? step.chunks);
          for (const { choice, at } of step.cuts) generation.cut(choice, at);
          if (step.done) settle(() => chunks.end());
        } catch (error) {
          generation.abort();
          settle(() => chunks.fail(error));
        }
      },
      fail: (error) => settle(() => chunks.fail(error)),
    });
    controller.signal.addEventListener('abort', () => {
      if (chunks.closed) return;
      generation.abort();
      settle(() => chunks.fail(aborted(controller.signal.reason)));
    });
    signal?.addEventListener('abort', forwardAbort);
    return new ChatCompletionStream(chunks, controller);
  }

  #assembly(request: PreparedRequest, incompleteToolCalls: IncompleteToolCalls): AnswerAssembly {
    const host = this.#host;
    const { job, declaredTools, callsInHistory, returnTokenIds } = request;
    const { stopTokenIds = [] } = job;
    const ownEnds = job.ignoreEos ? [] : host.eosTokenIds;
    const tellsTokens = returnTokenIds || typeof job.logprobs === 'number';
    return new AnswerAssembly({
      model: host.context.modelId,
      device: host.device,
      choices: job.choices,
      stop: request.stop,
      minTokens: job.minTokens,
      // The model's own end is no stop, wherever else it is named.
      stopTokenIds: stopTokenIds.filter((id) => !ownEnds.includes(id)),
      echo: request.echo,
      record: tellsTokens ? { vocabulary: host.vocabulary, withIds: returnTokenIds } : null,
      parallelToolCalls: request.parallelToolCalls,
      deliverCalls: request.deliverCalls,
      deliverReasoning: request.deliverReasoning,
      incompleteToolCalls,
      // A completion always tells its usage; a stream only where it was asked for.
      includeUsage: request.includeUsage || !request.stream,
      includeDetails: request.includeDetails,
      createParser: (promptTokenIds) =>
        host.createParser({
          tools: declaredTools,
          templateArguments: job.templateArguments,
          callsInHistory,
          stopTokenIds: [...stopTokenIds, ...ownEnds],
          showsControlTokens: !request.skipSpecialTokens,
          promptTokenIds,
          promptEnd: job.promptEnd,
          grammar: leadOf(job.constraint),
        }),
    });
  }
}

/** What the grammar of a request writes; null where it has none. */
function leadOf(constraint: GenerateJob['constraint']): ParserRequest['grammar'] {
  if (!constraint || (constraint.calls === null && constraint.content === null)) return null;
  const { calls, content } = constraint;
  return {
    calls: calls !== null,
    content: content !== null,
    // JSON does not begin or end with white space: there it is layout.
    isVerbatim: content !== null && content.kind !== 'json',
  };
}

function checkRequestOptions({ signal, onProgress, incompleteToolCalls }: RequestOptions): void {
  if (signal && !(signal instanceof AbortSignal)) throw badType('signal', 'an AbortSignal', signal);
  if (onProgress !== undefined && typeof onProgress !== 'function') {
    throw badType('onProgress', 'a function', onProgress);
  }
  if (incompleteToolCalls !== undefined && !/^(separate|raw|close)$/.test(incompleteToolCalls)) {
    throw badType('incompleteToolCalls', '"separate", "raw" or "close"', incompleteToolCalls);
  }
}

/** Waits for `promise`, but not beyond an abort of `signal`. */
async function unlessAborted(promise: Promise<void>, signal: AbortSignal | null | undefined): Promise<void> {
  let stop = () => {};
  const abort = new Promise<never>((_, reject) => {
    stop = () => reject(aborted(signal?.reason));
  });
  signal?.addEventListener('abort', stop);
  try {
    await Promise.race([promise, abort]);
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

function aborted(reason: unknown): RequestAbortedError {
  return new RequestAbortedError('The request was aborted.', { code: 'request_aborted', cause: reason });
}
