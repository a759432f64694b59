import { EngineClosedError, serializeError, WorkerError } from '../src/errors.ts';
import type { FromWorker, LoadProgress, ToWorker } from '../src/protocol.ts';
import type { Backend } from './backends/backend.ts';
import { PrefixCache } from './cache/prefix.ts';
import { LoadClock } from './load-clock.ts';
import type { Model } from './model.ts';
import { GenerateRequest } from './request.ts';

export type LoadMessage = Extract<ToWorker, { type: 'load' }>;

/** Loads what a message names, with its first backend. */
export type LoadModel = (
  message: LoadMessage,
  onProgress: (progress: LoadProgress) => void,
  signal: AbortSignal,
) => Promise<{ model: Model; backend: Backend }>;

type Post = (message: FromWorker) => void;

/** The worker's side of the protocol: one model, one request running, the others waiting in order. */
export class Service {
  readonly #post: Post;
  readonly #load: LoadModel;
  readonly #loadAbort = new AbortController();
  readonly #queue: GenerateRequest[] = [];
  #loading: Promise<void> | null = null;
  #model: Model | null = null;
  #backend: Backend | null = null;
  /** What the backend's sequences have read; goes with it. */
  #prefixes: PrefixCache | null = null;
  #current: GenerateRequest | null = null;
  #running: Promise<void> = Promise.resolve();
  /** The release of a failed backend, which the next one waits for. */
  #releasing: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(post: Post, load: LoadModel) {
    this.#post = post;
    this.#load = load;
  }

  /** Handles one message of the page. Never throws. */
  receive(message: ToWorker): void {
    switch (message.type) {
      case 'load':
        this.#startLoad(message);
        break;
      case 'generate':
        this.#accept(message);
        break;
      case 'cut':
        if (this.#current?.number === message.request) this.#current.cut(message.choice, message.at);
        break;
      case 'abort':
        this.#abort(message.request);
        break;
      case 'encode':
        this.#encode(message);
        break;
      case 'memory': {
        const memory = this.#backend?.memory();
        this.#post({ type: 'memory', gpuBuffers: memory?.buffers ?? 0, gpuBytes: memory?.bytes ?? 0 });
        break;
      }
      case 'close':
        void this.#close();
        break;
      default:
        this.#post({
          type: 'failed',
          request: null,
          error: serializeError(
            new WorkerError(
              `The worker does not know the message ${JSON.stringify(message satisfies never)}.`,
            ),
          ),
        });
    }
  }

  #startLoad(message: LoadMessage): void {
    if (this.#loading || this.#closed) {
      const error = new WorkerError(
        'This worker has loaded a model already: start another worker for another one.',
      );
      this.#post({ type: 'failed', request: null, error: serializeError(error) });
      return;
    }
    this.#loading = this.#runLoad(message);
  }

  async #runLoad(message: LoadMessage): Promise<void> {
    const clock = new LoadClock();
    try {
      const { model, backend } = await this.#load(
        message,
        (progress) => {
          clock.see(progress);
          this.#post({ type: 'progress', progress });
        },
        this.#loadAbort.signal,
      );
      if (this.#closed) {
        await backend.close();
        return;
      }
      await checkAlive(backend);
      this.#model = model;
      this.#adopt(backend);
      const { table } = model;
      const timings = clock.timings();
      // The page gets a copy: grammars are made from the table here.
      this.#post({ type: 'loaded', model: model.report, device: backend.report, table, timings });
      this.#advance();
    } catch (thrown) {
      const error = serializeError(thrown);
      if (!this.#closed) this.#post({ type: 'failed', request: null, error });
      for (const request of this.#queue.splice(0)) request.fail(thrown as Error);
    }
  }

  #accept({ request, job }: Extract<ToWorker, { type: 'generate' }>): void {
    if (this.#closed || !this.#loading) {
      const error = this.#closed
        ? new EngineClosedError('The engine was closed.')
        : new WorkerError('The worker was asked to generate before it was told to load a model.');
      this.#post({ type: 'failed', request, error: serializeError(error) });
      return;
    }
    this.#queue.push(new GenerateRequest(request, job, this.#post));
    this.#advance();
  }

  /** At once, also while a request runs. */
  #encode({ request, job }: Extract<ToWorker, { type: 'encode' }>): void {
    try {
      if (!this.#model || this.#closed) throw new EngineClosedError('The engine has no model now.');
      const { ids, text } = this.#model.template.render(job);
      this.#post({ type: 'encoded', request, promptTokenIds: ids, prompt: text });
    } catch (error) {
      this.#post({ type: 'failed', request, error: serializeError(error) });
    }
  }

  #abort(number: number): void {
    if (this.#current?.number === number) {
      this.#current.abort();
      return;
    }
    const index = this.#queue.findIndex((request) => request.number === number);
    if (index >= 0) this.#queue.splice(index, 1)[0]!.abort();
  }

  /** Starts the next request when none runs. */
  #advance(): void {
    if (this.#current || !this.#model) return;
    const next = this.#queue.shift();
    if (!next) return;
    this.#current = next;
    this.#running = this.#run(next, this.#model);
  }

  async #run(request: GenerateRequest, model: Model): Promise<void> {
    const { backendFailed } = await request.run(model, () => this.#acquire(model));
    if (backendFailed) this.#discard(this.#backend);
    this.#current = null;
    this.#advance();
  }

  /** The backend, made anew after a fault. */
  async #acquire(model: Model): Promise<PrefixCache> {
    if (this.#backend && this.#prefixes) return this.#prefixes;
    await this.#releasing;
    const backend = await model.createBackend();
    await checkAlive(backend);
    const prefixes = this.#adopt(backend);
    this.#post({ type: 'device', device: backend.report });
    return prefixes;
  }

  #adopt(backend: Backend): PrefixCache {
    const prefixes = new PrefixCache(backend);
    this.#backend = backend;
    this.#prefixes = prefixes;
    void backend.lost.then((error) => {
      if (this.#backend !== backend) return;
      this.#backend = null;
      const { state } = this.#current ?? {};
      if (state === 'prefilling' || state === 'decoding') this.#current?.fail(error);
      // The request's own clean-up comes first: its tensors must go before their session.
      this.#releasing = this.#running.then(() => backend.close()).catch(() => {});
    });
    return prefixes;
  }

  #discard(backend: Backend | null): void {
    if (!backend || this.#backend !== backend) return;
    this.#backend = null;
    this.#releasing = backend.close().catch(() => {});
  }

  async #close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      this.#loadAbort.abort();
      for (const request of this.#queue.splice(0)) request.abort();
      this.#current?.abort();
      await this.#running;
      await this.#loading;
      this.#discard(this.#backend);
      await this.#releasing;
    }
    this.#post({ type: 'closed' });
  }
}

/** Throws where the backend's device has gone while it was made. */
async function checkAlive({ lost }: Backend): Promise<void> {
  const error = await Promise.race([lost, null]);
  if (error) throw error;
}
