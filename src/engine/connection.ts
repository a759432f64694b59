import type { Generation, GenerationListener } from '../chat/start.ts';
import {
  deserializeError,
  EngineClosedError,
  RequestAbortedError,
  type TokenprismError,
  WorkerError,
} from '../errors.ts';
import { whenReleased } from '../locks.ts';
import type {
  BackendChoice,
  CacheChoice,
  DeviceReport,
  FromWorker,
  GenerateJob,
  LoadProgress,
  ModelSource,
  PromptJob,
  ToWorker,
} from '../protocol.ts';

/** What a connection needs of a `Worker`; a `MessagePort` has it too. */
export interface WorkerPort {
  postMessage(message: ToWorker): void;
  addEventListener(type: 'message' | 'messageerror' | 'error', listener: (event: Event) => void): void;
  /** Ends a worker. */
  terminate?(): void;
}

export type Loaded = Extract<FromWorker, { type: 'loaded' }>;

export interface LoadJob {
  model: ModelSource;
  backend: BackendChoice;
  wasmUrl: string | null;
  drafts?: boolean;
  cache?: CacheChoice;
  answered?: number;
}

export interface ConnectionEvents {
  onProgress?: (progress: LoadProgress) => void;
  /** A new device after a loss. */
  onDevice?: (device: DeviceReport) => void;
  /** The worker is of no more use; all its requests have failed with this error. */
  onBroken?: (error: TokenprismError) => void;
}

/** How long a worker may take to release what it holds before it is ended anyway. */
const closingMilliseconds = 3000;

/**
 * A worker from which nothing has come after so many looks did not start. They are looks and not one time, for a page that
 * was frozen meanwhile has not looked.
 */
const startingLooks = { most: 24, milliseconds: 5000 };

/** A promise that waits for the worker. */
interface Pending<Value> {
  resolve: (value: Value) => void;
  reject: (error: TokenprismError) => void;
}

/** What the model's device holds; zeros without a GPU. */
export interface GpuMemory {
  buffers: number;
  bytes: number;
}

/** A prompt as the model would read it. */
export type EncodedPrompt = Pick<Extract<FromWorker, { type: 'encoded' }>, 'promptTokenIds' | 'prompt'>;

/** One worker with its open requests. */
export class Connection {
  readonly #port: WorkerPort;
  readonly #events: ConnectionEvents;
  readonly #requests = new Map<number, GenerationListener>();
  readonly #encodings = new Map<number, Pending<EncodedPrompt>>();
  #nextRequest = 0;
  /** Asked for and not answered yet, in order. */
  readonly #memory: Pending<GpuMemory>[] = [];
  #load: Pending<Loaded> | null = null;
  #broken: TokenprismError | null = null;
  #onClosed: (() => void) | null = null;
  /** Ends the watch over the worker's life. */
  readonly #ended = new AbortController();
  /** Looks for a first message, after the load was asked for. */
  #starting: ReturnType<typeof setInterval> | undefined;

  constructor(port: WorkerPort, events: ConnectionEvents = {}) {
    this.#port = port;
    this.#events = events;
    port.addEventListener('message', (event) => this.#receive(messageData(event)));
    port.addEventListener('messageerror', () =>
      this.#break(new WorkerError('A message of the worker could not be read.')),
    );
    port.addEventListener('error', (event) => this.#break(crashed(event)));
  }

  /** Why the worker is of no more use; `null` while it is. */
  get broken(): TokenprismError | null {
    return this.#broken;
  }

  /** The worker is of no more use for a reason that a request has met: as if it had died. */
  abandon(error: TokenprismError): void {
    this.#break(error);
  }

  /** Loads the model. Rejects with the reason, and ends the worker, where that fails or `signal` aborts. */
  load(job: LoadJob, signal?: AbortSignal | null): Promise<Loaded> {
    const abort = () =>
      this.#break(
        new RequestAbortedError('Loading the model was aborted.', {
          code: 'load_aborted',
          cause: signal?.reason,
        }),
      );
    return new Promise<Loaded>((resolve, reject) => {
      if (this.#broken) return reject(this.#broken);
      this.#load = { resolve, reject };
      if (signal?.aborted) return abort();
      signal?.addEventListener('abort', abort);
      this.#port.postMessage({ type: 'load', ...job });
      this.#awaitStart();
    }).finally(() => signal?.removeEventListener('abort', abort));
  }

  /** Sends a request. Throws where the worker is of no more use. */
  generate(job: GenerateJob, listener: GenerationListener): Generation {
    if (this.#broken) throw this.#broken;
    const request = this.#nextRequest++;
    this.#port.postMessage({ type: 'generate', request, job });
    this.#requests.set(request, listener);
    const send = (message: ToWorker) => {
      if (this.#requests.has(request)) this.#port.postMessage(message);
    };
    return {
      cut: (choice, at) => send({ type: 'cut', request, choice, at }),
      abort: () => {
        send({ type: 'abort', request });
        // Whatever still comes of it is of no interest.
        this.#requests.delete(request);
      },
    };
  }

  /** Renders and tokenizes. Rejects with a `BadRequestError` where the prompt can't be made. */
  encode(job: PromptJob): Promise<EncodedPrompt> {
    return new Promise((resolve, reject) => {
      if (this.#broken) return reject(this.#broken);
      const request = this.#nextRequest++;
      this.#encodings.set(request, { resolve, reject });
      this.#port.postMessage({ type: 'encode', request, job });
    });
  }

  /** Live GPU buffers of the model's device. */
  memory(): Promise<GpuMemory> {
    return new Promise((resolve, reject) => {
      if (this.#broken) return reject(this.#broken);
      this.#memory.push({ resolve, reject });
      this.#port.postMessage({ type: 'memory' });
    });
  }

  /** Ends open requests with an `EngineClosedError`, lets the worker release what it holds, and ends it. */
  async close(): Promise<void> {
    if (this.#broken) return;
    const closed = new Promise<void>((resolve) => {
      this.#onClosed = resolve;
    });
    this.#fail(new EngineClosedError('The engine was closed; make a new one with createEngine().'));
    this.#ended.abort();
    this.#port.postMessage({ type: 'close' });
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, closingMilliseconds);
    });
    await Promise.race([closed, timeout]);
    clearTimeout(timer);
    this.#port.terminate?.();
  }

  #awaitStart(): void {
    let looks = 0;
    this.#starting = setInterval(() => {
      if (++looks < startingLooks.most) return;
      const seconds = (startingLooks.most * startingLooks.milliseconds) / 1000;
      this.#break(
        new WorkerError(
          `The worker has not started within ${seconds} seconds. Check that its script can be fetched.`,
          { code: 'worker_silent' },
        ),
      );
    }, startingLooks.milliseconds);
  }

  #receive(message: FromWorker): void {
    clearInterval(this.#starting);
    if (this.#broken && message.type !== 'closed') return;
    switch (message.type) {
      case 'alive':
        if (message.lock !== null) void this.#watch(message.lock);
        return;
      case 'progress':
        this.#events.onProgress?.(message.progress);
        return;
      case 'loaded':
        this.#load?.resolve(message);
        this.#load = null;
        return;
      case 'device':
        this.#events.onDevice?.(message.device);
        return;
      case 'failed':
        this.#receiveFailure(message.request, deserializeError(message.error));
        return;
      case 'memory':
        this.#memory.shift()?.resolve({ buffers: message.gpuBuffers, bytes: message.gpuBytes });
        return;
      case 'encoded':
        this.#encodings.get(message.request)?.resolve(message);
        this.#encodings.delete(message.request);
        return;
      case 'closed':
        this.#onClosed?.();
        return;
      default: {
        const listener = this.#requests.get(message.request);
        listener?.message(message);
        if (message.type === 'done') this.#requests.delete(message.request);
      }
    }
  }

  #receiveFailure(request: number | null, error: TokenprismError): void {
    if (request === null) {
      this.#break(error);
      return;
    }
    const listener = this.#requests.get(request);
    this.#requests.delete(request);
    listener?.fail(error);
    this.#encodings.get(request)?.reject(error);
    this.#encodings.delete(request);
  }

  /** A worker that is ended from outside, as browsers do for want of memory, sends no message and fires no event. */
  async #watch(lock: string): Promise<void> {
    if (!(await whenReleased(lock, this.#ended.signal))) return;
    this.#break(new WorkerError('The worker was ended from outside.', { code: 'worker_ended' }));
  }

  /** The worker cannot be trusted any more: everything open fails, and it is ended. */
  #break(error: TokenprismError): void {
    if (this.#broken) return;
    this.#ended.abort();
    this.#port.terminate?.();
    this.#fail(error);
    this.#events.onBroken?.(error);
  }

  #fail(error: TokenprismError): void {
    clearInterval(this.#starting);
    this.#broken = error;
    const listeners = [...this.#requests.values()];
    this.#requests.clear();
    this.#load?.reject(error);
    this.#load = null;
    for (const pending of [...this.#memory.splice(0), ...this.#encodings.values()]) pending.reject(error);
    this.#encodings.clear();
    for (const listener of listeners) listener.fail(error);
  }
}

function messageData(event: Event): FromWorker {
  return (event as MessageEvent<FromWorker>).data;
}

function crashed(event: Event): WorkerError {
  const what = 'message' in event && typeof event.message === 'string' ? event.message : '';
  return new WorkerError(
    what
      ? `The worker crashed: ${what}.`
      : 'The worker could not be started. Check that its script is served with a JavaScript media type, and ' +
          "that the page's content security policy allows it (worker-src).",
    { code: 'worker_crashed' },
  );
}
