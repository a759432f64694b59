/** From a request that was found good to the stream of its chunks. */
import { RequestAbortedError, type TokenprismError } from '../errors.ts';
import type { Parser } from '../parser/parser.ts';
import type { DeviceReport, GenerateJob } from '../protocol.ts';
import { AnswerAssembly, type GenerationMessage } from './answer.ts';
import type { ParserRequest } from './format.ts';
import type { PreparedRequest, prepareRequest, RequestContext } from './request.ts';
import { ChatCompletionStream, ChunkQueue } from './stream.ts';
import type { TokenText } from './token-record.ts';
import type { IncompleteToolCalls, RequestOptions } from './types.ts';

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

/** How a request is run. */
export interface StartOptions extends RequestOptions {
  /** Sees the worker's messages before their chunks are made. */
  onMessage?: (message: GenerationMessage) => void;
}

/**
 * `null` when a request can be sent now; else resolves when it can.
 *
 * @throws RequestAbortedError where `signal` has aborted
 */
export function whenReady(
  host: Pick<CompletionsHost, 'ready'>,
  signal: AbortSignal | null | undefined,
): Promise<void> | null {
  if (signal?.aborted) throw aborted(signal.reason);
  const ready = host.ready();
  return ready && unlessAborted(ready, signal);
}

/** Sends a request that was found good, and gives out its chunks. */
export function startAnswer(
  host: CompletionsHost,
  request: PreparedRequest,
  { signal, onProgress, onMessage, incompleteToolCalls }: StartOptions,
): ChatCompletionStream {
  const controller = new AbortController();
  const chunks = new ChunkQueue();
  const answer = assemblyOf(host, request, incompleteToolCalls ?? host.incompleteToolCalls);
  const forwardAbort = () => controller.abort(signal?.reason);
  const settle = (end: () => void) => {
    signal?.removeEventListener('abort', forwardAbort);
    end();
  };
  const generation = host.generate(request.job, {
    message: (message) => {
      if (chunks.closed) return;
      try {
        if (message.type === 'state') {
          onProgress?.({ state: message.state, done: message.done ?? null, total: message.total ?? null });
        }
        onMessage?.(message);
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

function assemblyOf(
  host: CompletionsHost,
  request: PreparedRequest,
  incompleteToolCalls: IncompleteToolCalls,
): AnswerAssembly {
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
        isText: job.prompt !== undefined,
        grammar: leadOf(job.constraint),
      }),
  });
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
