import { Completions } from '../chat/completions.ts';
import type { ChosenFormat, FormatReport } from '../chat/format.ts';
import { Models } from '../chat/models.ts';
import type { prepareRequest, RequestContext } from '../chat/request.ts';
import type { CompletionsHost, Generation, GenerationListener } from '../chat/start.ts';
import type { TextCompletions } from '../chat/text-completions.ts';
import type { AppliedTemplate, DetokenizeParams, Tokenized, TokenizeParams, Tokens } from '../chat/tokens.ts';
import type { ChatCompletionCreateParams } from '../chat/types.ts';
import { Vocabulary } from '../detokenizer/vocabulary.ts';
import { deserializeError, EngineClosedError, serializeError, TokenprismError } from '../errors.ts';
import type { DeviceReport, LoadTimings, ModelReport, PromptJob } from '../protocol.ts';
import { Connection, type EncodedPrompt, type GpuMemory, type LoadJob } from './connection.ts';
import type { OpenRequests } from './open-requests.ts';
import { type CheckedOptions, checkOptions, type EngineOptions } from './options.ts';
import { askToPersist } from './persistence.ts';
import { ProgressSum } from './progress.ts';

export type EngineStatus =
  /** The first load. */
  | 'loading'
  | 'ready'
  /** The device or the worker was lost, and a new worker comes up: answers go on in it, new requests wait for it. */
  | 'recovering'
  /** The worker was lost while nothing ran, or could not be brought up again; the next request tries once more. */
  | 'failed'
  | 'closed';

export interface EngineState {
  status: EngineStatus;
  model: ModelReport;
  /** Which device runs the model, and why that one. */
  device: DeviceReport;
  /** Which format splits the output, and how it was found. */
  format: FormatReport;
  /** Milliseconds of the last load; `ready` is from the start of the worker until requests could be made. */
  load: LoadTimings & { ready: number };
  /** What the engine failed with or recovers from, while `status` is `failed` or `recovering`. */
  error: TokenprismError | null;
  /** Workers that came up in place of a lost one. */
  recoveries: number;
}

/** A loaded worker with what belongs to it. */
interface Session {
  connection: Connection;
  model: ModelReport;
  device: DeviceReport;
  vocabulary: Vocabulary;
  prepareRequest: typeof prepareRequest;
  OpenRequests: typeof OpenRequests;
  format: ChosenFormat;
  load: EngineState['load'];
}

/** A loaded model that answers chats. Fires `state` (a plain `Event`) whenever {@link Engine.state} changes. */
export class Engine extends EventTarget {
  readonly chat: { readonly completions: Completions };
  readonly models: Models;
  /** Completions of raw prompts, which no chat template touches and no format takes apart. */
  readonly completions: Pick<TextCompletions, 'create'>;
  readonly #core: EngineCore;

  constructor(core: EngineCore) {
    super();
    this.#core = core;
    this.chat = { completions: new Completions(core) };
    this.models = new Models(core);
    const create = async (...given: Parameters<TextCompletions['create']>) => {
      const { TextCompletions } = await import('../chat/text-completions.ts');
      return new TextCompletions(core).create(...given);
    };
    this.completions = { create } as Pick<TextCompletions, 'create'>;
    core.onChange = () => this.dispatchEvent(new Event('state'));
  }

  /**
   * A `fetch` for OpenAI clients: the engine answers as an OpenAI server does, with its paths below `/v1`, its status
   * codes and its error bodies; of the address only the path counts. Nothing goes over the network.
   *
   * ```ts
   * new OpenAI({ baseURL: 'http://engine/v1', apiKey: '-', fetch: engine.fetch, dangerouslyAllowBrowser: true });
   * ```
   */
  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const { serve } = await import('../http/serve.ts');
    const { incompleteToolCalls } = this.#core;
    const { chat, models, completions: text } = this;
    const tokens = await this.#tokens();
    return serve({ completions: chat.completions, models, text, tokens, incompleteToolCalls }, input, init);
  };

  /** The ids of a text, or of a chat as the model would read it; as vLLM's `/tokenize`. */
  async tokenize(body: TokenizeParams): Promise<Tokenized> {
    return (await this.#tokens()).tokenize(body);
  }

  /** The text of ids, those of special tokens included; as vLLM's `/detokenize`. */
  async detokenize(body: DetokenizeParams): Promise<{ prompt: string }> {
    return (await this.#tokens()).detokenize(body);
  }

  /** The prompt that a chat request would have, as text and as ids. Takes all that `chat.completions.create` does. */
  async applyChatTemplate(body: ChatCompletionCreateParams): Promise<AppliedTemplate> {
    return (await this.#tokens()).applyChatTemplate(body);
  }

  async #tokens(): Promise<Tokens> {
    const { Tokens } = await import('../chat/tokens.ts');
    return new Tokens(this.#core);
  }

  get state(): EngineState {
    return this.#core.state;
  }

  /** GPU buffers that the model's device holds now, for tests and inspectors; zeros without a GPU. */
  gpuMemory(): Promise<GpuMemory> {
    return this.#core.gpuMemory();
  }

  /** Ends open requests with an `EngineClosedError` and releases worker, model and device. Safe to call twice. */
  close(): Promise<void> {
    return this.#core.close();
  }
}

/** The life of the worker behind an engine. */
class EngineCore implements CompletionsHost {
  onChange: (() => void) | null = null;
  readonly #options: CheckedOptions;
  #session: Session;
  #status: EngineStatus = 'ready';
  #error: TokenprismError | null = null;
  #recoveries = 0;
  readonly #requests: OpenRequests;
  /** The way to a new worker, while it lasts; requests that come meanwhile share it. */
  #restart: Promise<void> | null = null;
  readonly #closing = new AbortController();
  #closed: Promise<void> | null = null;

  constructor(options: CheckedOptions, session: Session) {
    this.#options = options;
    this.#session = session;
    this.#requests = new session.OpenRequests();
  }

  get state(): EngineState {
    const { model, device, format, load } = this.#session;
    const [status, error, recoveries] = [this.#status, this.#error, this.#recoveries];
    return { status, model, device, format: format.report, load, error, recoveries };
  }

  get context(): RequestContext {
    const { model, format } = this.#session;
    return {
      modelId: model.id,
      vocabularySize: model.vocabularySize,
      toolCalling: this.#options.format.toolCalling ?? true,
      toolsUnavailable: format.toolsUnavailable,
      format: { reasoning: format.report.reasoning, tools: format.report.tools },
      toolStrictness: this.#options.toolStrictness,
      strictToolCalling: this.#options.strictToolCalling,
      reasoningField: this.#options.reasoningField,
    };
  }

  get incompleteToolCalls() {
    return this.#options.incompleteToolCalls;
  }

  get device(): DeviceReport {
    return this.#session.device;
  }

  get contextLength(): number {
    return this.#session.model.contextLength;
  }

  get prepareRequest(): typeof prepareRequest {
    return this.#session.prepareRequest;
  }

  get eosTokenIds(): readonly number[] {
    return this.#session.model.eosTokenIds;
  }

  get vocabulary(): Vocabulary {
    return this.#session.vocabulary;
  }

  createParser(request: Parameters<ChosenFormat['createParser']>[0]) {
    return this.#session.format.createParser(request);
  }

  ready(): Promise<void> | null {
    if (this.#status === 'closed') return Promise.reject(engineClosed());
    if (this.#status === 'failed') this.#recover(this.#error!);
    return this.#restart;
  }

  generate(job: Parameters<Connection['generate']>[0], listener: GenerationListener): Generation {
    return this.#requests.start(this.#session.connection, job, listener);
  }

  async encode(job: PromptJob): Promise<EncodedPrompt> {
    await this.ready();
    return this.#session.connection.encode(job);
  }

  async gpuMemory(): Promise<GpuMemory> {
    await this.ready();
    return this.#session.connection.memory();
  }

  close(): Promise<void> {
    if (!this.#closed) {
      this.#set('closed');
      this.#closing.abort();
      this.#closed = this.#session.connection.close();
      // Those between two workers.
      this.#requests.fail(engineClosed());
    }
    return this.#closed;
  }

  /** Has the browser asked not to evict the model's files. The state says what came of it. */
  async persist(): Promise<void> {
    const { storage } = this.#session.model;
    if (!this.#options.persist || !storage?.kept || storage.persistent !== false) return;
    if (!(await askToPersist()) || this.#status === 'closed') return;
    const { model } = this.#session;
    this.#session = { ...this.#session, model: { ...model, storage: { ...storage, persistent: true } } };
    this.onChange?.();
  }

  deviceChanged(device: DeviceReport): void {
    this.#session = { ...this.#session, device };
    if (this.#status !== 'closed') this.#set('ready');
  }

  /** The worker is of no more use. One that has not come up yet fails its load instead. */
  broken(connection: Connection, error: TokenprismError): void {
    if (this.#status === 'closed' || connection !== this.#session.connection) return;
    this.#requests.charge(error);
    if (this.#requests.isEmpty) this.#set('failed', error);
    else this.#recover(error);
  }

  #recover(cause: TokenprismError): void {
    this.#restart = this.#bringUp(cause).finally(() => {
      this.#restart = null;
    });
    // The state tells it where nobody waits.
    this.#restart.catch(() => {});
    // Whoever hears of it and asks at once waits for it.
    this.#set('recovering', cause);
  }

  /**
   * The model as it was loaded first, whatever its repository has got meanwhile; and on a GPU if it was on one, which may
   * take a moment to come back, before it is left for WASM.
   */
  #sameAgain(): Partial<LoadJob> {
    const { model, backend } = this.#options.job;
    const { revision } = this.#session.model;
    const { answered, isEmpty, isLastTry } = this.#requests;
    const waitsForGpu = this.#session.device.device === 'webgpu' && !isEmpty && !isLastTry;
    return {
      answered,
      ...(model.kind === 'hub' && revision && { model: { ...model, revision } }),
      ...(waitsForGpu && backend.kind === 'onnx' && { backend: { ...backend, device: 'webgpu' } }),
    };
  }

  /** Starts new workers, until one goes on with the open requests or none of them is left. */
  async #bringUp(cause: TokenprismError): Promise<void> {
    const { signal } = this.#closing;
    for (;;) {
      try {
        await sleep(this.#requests.pause, signal);
        const session = await openSession(this.#options, () => this, signal, this.#sameAgain());
        if (signal.aborted) {
          await session.connection.close();
          throw engineClosed();
        }
        this.#session = session;
        this.#recoveries++;
        this.#set('ready');
        this.#requests.resume(session.connection);
        return;
      } catch (thrown) {
        if (signal.aborted) throw engineClosed();
        const error = asTokenprismError(thrown);
        this.#requests.chargeAll(cause, error);
        if (!this.#requests.isEmpty) continue;
        this.#set('failed', error);
        throw error;
      }
    }
  }

  #set(status: EngineStatus, error: TokenprismError | null = null): void {
    this.#status = status;
    this.#error = error;
    this.onChange?.();
  }
}

function engineClosed(): EngineClosedError {
  return new EngineClosedError('The engine is closed; make a new one with createEngine().');
}

function asTokenprismError(error: unknown): TokenprismError {
  return error instanceof TokenprismError ? error : deserializeError(serializeError(error));
}

/** Waits, until `signal` aborts at most. */
function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds === 0) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener('abort', end);
  });
}

/**
 * Starts a worker and loads the model in it. `core` is asked for once the worker has news after the load.
 *
 * @param again what a worker in place of another one is told beside the options
 */
async function openSession(
  options: CheckedOptions,
  core: () => EngineCore | null,
  signal: AbortSignal | null,
  again: Partial<LoadJob> = {},
): Promise<Session> {
  const start = performance.now();
  const progress = new ProgressSum();
  // What needs a model comes while the model does.
  const parts = Promise.all([
    import('../chat/format.ts'),
    import('../chat/request.ts'),
    import('./open-requests.ts'),
  ]);
  parts.catch(() => {});
  const connection: Connection = new Connection(options.createWorker(), {
    onProgress: (step) => options.onProgress?.(progress.add(step)),
    onDevice: (device) => core()?.deviceChanged(device),
    onBroken: (error) => core()?.broken(connection, error),
  });
  const { model, device, table, timings } = await connection.load({ ...options.job, ...again }, signal);
  try {
    const vocabulary = new Vocabulary(table);
    const [{ chooseFormat }, { prepareRequest }, { OpenRequests }] = await parts;
    const format = await chooseFormat(options.format, { chatTemplate: model.chatTemplate, vocabulary });
    // It may have crashed while these were fetched.
    if (connection.broken) throw connection.broken;
    const load = { ...timings, ready: performance.now() - start };
    return { connection, model, device, vocabulary, prepareRequest, OpenRequests, format, load };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/**
 * Loads a model in a worker of its own. Without options: the embedded demonstration model.
 *
 * Rejects with a `BadRequestError` for a wrong option, a `ModelLoadError` for files that are missing or wrong,
 * a `WebGPUUnavailableError` where `device: 'webgpu'` cannot be had, a `RequestAbortedError` after an abort of
 * `signal`, and a `WorkerError` where the worker does not start.
 */
export async function createEngine(options: EngineOptions = {}): Promise<Engine> {
  if (options.backend !== 'web-llm') return openEngine(checkOptions(options));
  const { checkWebLlmOptions } = await import('./web-llm-options.ts');
  return openEngine(checkWebLlmOptions(options));
}

/** The same with options that were checked, as far as can be done without the formats. */
export async function openEngine(checked: CheckedOptions): Promise<Engine> {
  if (checked.format.reasoningParser || checked.format.toolParser) {
    const { checkFormatNames } = await import('../chat/format.ts');
    await checkFormatNames(checked.format);
  }
  let core: EngineCore | null = null;
  const session = await openSession(checked, () => core, checked.signal);
  core = new EngineCore(checked, session);
  // The answer may take a user's time.
  void core.persist();
  return new Engine(core);
}
