import {
  BadRequestError,
  DeviceLostError,
  ModelLoadError,
  RequestAbortedError,
  WebGPUUnavailableError,
} from '../../../src/errors.ts';
import type { DeviceReport, LoadProgress, WebLlmRoute } from '../../../src/protocol.ts';
import type { Backend, GpuMemory, Logits, RuntimeSampler, Sequence } from '../backend.ts';
import { findAdapter } from '../onnx/device.ts';
import { DeviceWatch } from './device.ts';
import { isDamaged, loadError, passError } from './errors.ts';
import type { AppConfig, ModelRecord, WebLlm, WebLlmEngine } from './library.ts';
import { PipelineRoute } from './pipeline-route.ts';
import { progressTeller } from './progress.ts';
import { PublicRoute, RowTap } from './public-route.ts';
import type { Route } from './route.ts';
import { findPipeline, missingNames, pipelineUnsupported } from './self-check.ts';

export interface WebLlmBackendOptions {
  library: WebLlm;
  record: ModelRecord;
  /** Put over the chat configuration of the model and of its record. */
  chatOptions: Record<string, unknown>;
  route: WebLlmRoute;
  /** Tokens of prompt and answer together. */
  contextLength: number;
  /** Values of one row of logits. */
  width: number;
  /** Tokens that may be drawn. */
  vocabularySize: number;
  /** Of the weights, for people. */
  quantization: string;
  /** Of all weights; 0 where nobody knows. */
  bytes: number;
  onProgress(progress: LoadProgress): void;
  signal: AbortSignal;
}

/** Sampling is asked for with each token; these are there because web-llm does not run without. */
const neutral = {
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  repetition_penalty: 1,
};

/**
 * Loads a model with web-llm, which fetches and keeps its files by itself.
 *
 * @throws WebGPUUnavailableError without a device that can run the model
 * @throws ModelLoadError when web-llm can't load it, or `route` can't be had
 * @throws DeviceLostError when the device goes meanwhile, often for want of memory
 * @throws RequestAbortedError after an abort of `signal`
 */
export async function createWebLlmBackend(options: WebLlmBackendOptions): Promise<Backend> {
  const { library, record, route, onProgress, signal } = options;
  const found = await findAdapter();
  if (!found.adapter) {
    throw new WebGPUUnavailableError(
      `web-llm runs models on WebGPU only, and ${found.missing}. ${found.advice}`,
    );
  }
  const appConfig: AppConfig = { ...library.prebuiltAppConfig, model_list: [record] };
  const tap = new RowTap();
  const tell = progressTeller(options.bytes, onProgress);
  const engine = new library.MLCEngine({
    appConfig,
    logLevel: 'WARN',
    logitProcessorRegistry: new Map([[record.model_id, tap]]),
    initProgressCallback: (report) => {
      if (!signal.aborted) tell(report);
    },
  });
  const watch = new DeviceWatch(found.adapter);
  try {
    await watch.race(
      untilAborted(engine.reload(record.model_id, { ...neutral, ...options.chatOptions }), signal),
    );
  } catch (thrown) {
    watch.end();
    await leave(engine, watch.isLost || signal.aborted);
    if (isDamaged(thrown))
      await library.deleteModelAllInfoInCache(record.model_id, appConfig).catch(() => {});
    throw loadError(thrown, record.model_id);
  } finally {
    watch.stop();
  }
  const { pipeline, missing } = findPipeline(engine, record.model_id, tap);
  let unfit: ModelLoadError | null = null;
  if (missing && route === 'pipeline') unfit = pipelineUnsupported(missing);
  else if (pipeline && pipeline.fullVocabSize < options.vocabularySize) {
    unfit = new ModelLoadError(
      `The tokenizer of ${record.model_id} has ${options.vocabularySize} tokens, and the compiled model only ${pipeline.fullVocabSize}: they are not of one model.`,
      { code: 'model_invalid' },
    );
  }
  if (unfit) {
    watch.end();
    await leave(engine, false);
    throw unfit;
  }
  const chosen =
    pipeline && route !== 'public'
      ? new PipelineRoute(pipeline, options.vocabularySize)
      : new PublicRoute(engine, record.model_id, tap, options.width);
  const limits = missing
    ? [`Logits go to memory and back with each token, for ${missingNames(missing)}.`]
    : chosen.sampler === null
      ? ["Logits go to memory and back with each token, as webLlm.route 'public' says."]
      : [];
  const report: DeviceReport = {
    device: 'webgpu',
    reason: 'web-llm runs models on WebGPU.',
    adapter: found.report,
    dtype: options.quantization,
    decode: 'static',
    sampling: chosen.sampler ? 'gpu' : 'cpu',
    limits,
  };
  return new WebLlmBackend(engine, watch, chosen, report, options.contextLength);
}

/** Rejects at an abort; then nobody waits for the end of the load any more. */
async function untilAborted(load: Promise<void>, signal: AbortSignal): Promise<void> {
  load.catch(() => {});
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new RequestAbortedError('The load was aborted.'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  aborted.catch(() => {});
  try {
    await Promise.race([load, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** @param isDoubtful whether web-llm may never come to the end of its clean-up */
async function leave(engine: WebLlmEngine, isDoubtful: boolean): Promise<void> {
  const left = engine.unload().catch(() => {});
  if (!isDoubtful) await left;
}

class WebLlmBackend implements Backend {
  readonly report: DeviceReport;
  readonly capacity: number;
  readonly width: number;
  /** Its KV cache can be emptied and gone on from. */
  readonly canTruncate = false;
  readonly prefillPiece: number;
  readonly reducer = null;
  readonly sampler: RuntimeSampler | null;
  readonly lost: Promise<Error>;
  readonly #engine: WebLlmEngine;
  readonly #watch: DeviceWatch;
  readonly #route: Route;
  /** The sequence whose tokens the only KV cache holds. */
  #owner: WebLlmSequence | null = null;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(
    engine: WebLlmEngine,
    watch: DeviceWatch,
    route: Route,
    report: DeviceReport,
    capacity: number,
  ) {
    this.report = report;
    this.capacity = capacity;
    this.width = route.width;
    this.prefillPiece = route.piece;
    this.lost = watch.lost;
    this.#engine = engine;
    this.#watch = watch;
    this.#route = route;
    const { sampler } = route;
    this.sampler = sampler && {
      settled: () => this.#call(() => sampler.settled()),
      draw: (logits, draw) =>
        this.#call(() => sampler.draw(logits instanceof GuardedLogits ? logits.inner : logits, draw)),
    };
  }

  async open(): Promise<Sequence> {
    const sequence = new WebLlmSequence(this, () => this.#owner === sequence);
    this.#owner = sequence;
    await this.#call(() => this.#route.reset());
    return sequence;
  }

  async copy(): Promise<Sequence> {
    throw new BadRequestError('web-llm has one KV cache.', { code: 'context_length_exceeded' });
  }

  async forward(ids: readonly number[], rows: number): Promise<Logits> {
    const logits = await this.#call(() => this.#route.forward(ids, rows));
    return new GuardedLogits(logits, (row) => this.#call(() => logits.read(row)));
  }

  memory(): GpuMemory {
    return this.#watch.memory();
  }

  async close(): Promise<void> {
    this.#owner = null;
    this.#watch.end();
    await leave(this.#engine, this.#watch.isLost);
  }

  /** One call after another, each over at the latest with the device. */
  #call<Result>(call: () => Promise<Result>): Promise<Result> {
    const before = this.#tail;
    const run = async () => {
      await before.catch(() => {});
      return call();
    };
    const result = run();
    this.#tail = result.catch(() => {});
    return this.#watch.race(result).catch((thrown) => {
      throw thrown instanceof DeviceLostError ? thrown : passError(thrown);
    });
  }
}

/** Logits whose reading ends with the device at the latest. */
class GuardedLogits implements Logits {
  readonly inner: Logits;
  readonly read: Logits['read'];

  constructor(inner: Logits, read: Logits['read']) {
    this.inner = inner;
    this.read = read;
  }

  get rows(): number {
    return this.inner.rows;
  }

  get width(): number {
    return this.inner.width;
  }

  onGpu(): null {
    return null;
  }

  release(): void {
    this.inner.release();
  }
}

class WebLlmSequence implements Sequence {
  /** Whatever it holds, the cache is as large as the model was loaded with. */
  readonly bytes = 0;
  readonly #backend: WebLlmBackend;
  readonly #hasCache: () => boolean;
  #length = 0;

  constructor(backend: WebLlmBackend, hasCache: () => boolean) {
    this.#backend = backend;
    this.#hasCache = hasCache;
  }

  get length(): number {
    return this.#length;
  }

  get isAlive(): boolean {
    return this.#hasCache();
  }

  async forward(ids: readonly number[], rows = 1): Promise<Logits> {
    if (!this.isAlive) throw new Error('Another sequence has the KV cache of web-llm now.');
    if (rows > 1) throw new Error('web-llm keeps the logits of the last token only.');
    if (this.#length + ids.length > this.#backend.capacity) {
      throw new BadRequestError(`The sequence holds at most ${this.#backend.capacity} tokens.`, {
        code: 'context_length_exceeded',
      });
    }
    const logits = await this.#backend.forward(ids, rows);
    this.#length += ids.length;
    return logits;
  }

  async truncate(): Promise<void> {
    throw new Error('The KV cache of web-llm is not cut back.');
  }

  close(): void {}
}
