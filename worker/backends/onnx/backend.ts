import { DeviceLostError, ModelLoadError, WebGPUUnavailableError } from '../../../src/errors.ts';
import type { DeviceChoice, DeviceReport, Dtype, LoadProgress } from '../../../src/protocol.ts';
import type { ModelFiles } from '../../cache/files.ts';
import { RowReducer } from '../../sampling/gpu/reducer.ts';
import { checkReducer } from '../../sampling/gpu/selftest.ts';
import type { Backend, GpuMemory, Sequence } from '../backend.ts';
import type { KeyValueCache } from './cache.ts';
import { type AdapterReport, findAdapter, minimumSubgroupSize, openDevice } from './device.ts';
import { attempts, waysDown } from './ladder.ts';
import { type Preparation, prepareOnnx } from './preparation.ts';
import { explainFailure } from './reader.ts';
import { roomFor } from './room.ts';
import { checkNumbers, checkSteps } from './selftest.ts';
import { CachedSequence } from './sequence.ts';
import { createSession, type DecodeWay, type LoadedSession } from './session.ts';
import { loadWeights, type Weights } from './weights.ts';

export interface OnnxOptions {
  files: ModelFiles;
  /** The content of `config.json`. */
  config: Record<string, unknown>;
  device: DeviceChoice;
  dtype: Dtype;
  /** Tokens that the model was made for. */
  contextLength: number;
  /** The fastest way to try; unset: what pays on the device. For tests and measurements. */
  fastest?: DecodeWay;
  /** Tokens that may be chosen; unset: as many as a row of logits has values. */
  vocabularySize?: number;
  /** Where tokens are chosen; unset: on the GPU, unless it is a software one. For tests and measurements. */
  sampling?: DeviceReport['sampling'];
  onProgress(progress: LoadProgress): void;
}

/** Loads an ONNX export of the Hub's conventions, with what of it was begun before. */
export async function createOnnxBackend(
  options: OnnxOptions,
  prepared: Preparation = prepareOnnx(options.files, options.device, options.dtype),
): Promise<Backend> {
  const target = { ...(await prepared.target) };
  let weights = await prepared.weights;
  await prepared.runtime;
  if (target.adapter) {
    const fault = await tryWebGpu(options, weights, target.adapter, target.report, target.reason);
    if (fault instanceof OnnxBackend) return fault;
    if (options.device === 'webgpu') {
      throw new WebGPUUnavailableError(
        `WebGPU does not compute this model right on this adapter (${fault}). Use device 'wasm'; an update of the browser or the graphics driver may help.`,
      );
    }
    target.reason = `WASM, because WebGPU does not compute this model right on this adapter (${fault}).`;
    weights = await loadWeights(options.files, options.dtype, null, roomFor(null));
  }
  options.onProgress({ phase: 'session', file: null, loaded: 0, total: 0 });
  const session = await createSession(weights, options.config, options.contextLength, null);
  return new OnnxBackend(session, {
    device: 'wasm',
    reason: target.reason,
    adapter: target.report,
    dtype: weights.dtype,
    decode: 'growing',
    limits: weights.edits.skipped,
  });
}

/** The backend, in the fastest way whose numbers are right, or what the self-test found wrong in the last of them. */
async function tryWebGpu(
  options: OnnxOptions,
  weights: Weights,
  adapter: GPUAdapter,
  adapterReport: AdapterReport | null,
  reason: string,
): Promise<OnnxBackend | string> {
  const { config, contextLength, fastest, onProgress } = options;
  const limits = [...weights.edits.skipped];
  // On a software adapter computing is all that counts, and a captured step computes more than it must.
  const isSoftware = adapterReport?.isSoftware === true;
  if (isSoftware && !fastest) limits.push('captured graphs: of no use on a software adapter');
  const ladder = attempts(waysDown(weights.edits, fastest ?? (isSoftware ? 'static' : 'captured')));
  let next: GPUAdapter | null = adapter;
  let fault = '';
  for (let step = ladder.next(); !step.done; ) {
    const { way, subgroups } = step.value;
    // An adapter gives one device only: another try needs a new one.
    next ??= (await findAdapter()).adapter;
    if (!next) break;
    const own = await openDevice(next, subgroups ? minimumSubgroupSize : Number.POSITIVE_INFINITY);
    next = null;
    onProgress({ phase: 'session', file: null, loaded: 0, total: 0 });
    let session: LoadedSession;
    try {
      session = await createSession(weights, config, contextLength, own, way);
    } catch (error) {
      own.destroy();
      if (way !== 'captured' || !(error instanceof ModelLoadError)) throw error;
      limits.push(`captured graphs: ${error.message}`);
      step = ladder.next('refused');
      continue;
    }
    const report: DecodeReport = {
      device: 'webgpu',
      reason,
      adapter: adapterReport,
      dtype: weights.dtype,
      decode: way,
      limits,
    };
    const backend = new OnnxBackend(session, report);
    try {
      onProgress({ phase: 'warmup', file: null, loaded: 0, total: 0 });
      const found = await backend.selfTest();
      if (found === null) {
        if ((options.sampling ?? (isSoftware ? 'cpu' : 'gpu')) === 'gpu') {
          await backend.sampleOnGpu(options.vocabularySize);
        }
        own.trust();
        return backend;
      }
      fault = found;
    } catch (error) {
      await backend.close();
      if (way !== 'captured' && error instanceof DeviceLostError) throw error;
      fault = error instanceof Error ? error.message : String(error);
      limits.push(`${way === 'captured' ? 'captured graphs' : way}: ${fault}`);
      step = ladder.next('refused');
      continue;
    }
    await backend.close();
    if (!own.hasSubgroups) limits.push(`${way}: ${fault}`);
    step = ladder.next(own.hasSubgroups ? 'wrong with subgroups' : 'wrong');
  }
  return fault;
}

type DecodeReport = Omit<DeviceReport, 'sampling'>;

/** An ONNX decoder on WebGPU or WASM. */
export class OnnxBackend implements Backend {
  readonly report: DeviceReport;
  readonly capacity: number;
  readonly width: number;
  readonly canTruncate = true;
  readonly prefillPiece = 64;
  readonly lost: Promise<Error>;
  #reducer: RowReducer | null = null;
  readonly #session: LoadedSession;
  readonly #sequences = new Set<CachedSequence>();

  constructor(session: LoadedSession, report: DecodeReport) {
    this.#session = session;
    this.report = { ...report, sampling: 'cpu' };
    this.capacity = session.capacity;
    this.width = session.graph.width;
    this.lost = session.gpu?.fault ?? new Promise(() => {});
  }

  /**
   * What is wrong with the numbers, or `null`. Captured steps that are wrong are not used, which the report then says;
   * that is no fault.
   */
  async selfTest(): Promise<string | null> {
    const session = this.#session;
    const { captured } = session;
    session.captured = null;
    const fault = await checkNumbers(this);
    if (fault !== null || !captured) return fault;
    const difference = await checkSteps(this, (isOn) => {
      session.captured = isOn ? captured : null;
    });
    session.captured = difference === null ? captured : null;
    if (difference !== null) {
      this.report.decode = 'static';
      this.report.limits.push(`captured graphs: ${difference}`);
    } else if (captured.unrecorded > 0) {
      this.report.limits.push('captured graphs: replayed by the runtime, for it does more than dispatch');
    }
    return null;
  }

  get reducer(): RowReducer | null {
    return this.#reducer;
  }

  /** Has rows of logits reduced on the device from now on; where that goes wrong, the report says so. */
  async sampleOnGpu(vocabularySize = this.width): Promise<void> {
    const { gpu, graph } = this.#session;
    if (!gpu) return;
    const size = Math.min(vocabularySize, this.width);
    const explain = (thrown: unknown) => explainFailure(thrown, gpu.fault);
    let reducer: RowReducer | null = null;
    let fault: string | null;
    try {
      reducer = await RowReducer.create(gpu.device, size, graph.logitsType, explain);
      fault = await checkReducer(gpu.device, reducer, graph.logitsType);
    } catch (thrown) {
      fault = (await explain(thrown)).message;
    }
    if (fault === null) {
      this.#reducer = reducer;
      this.report.sampling = 'gpu';
    } else {
      reducer?.destroy();
      this.report.limits.push(`sampling on the GPU: ${fault}`);
    }
  }

  async open(): Promise<Sequence> {
    return this.#add(this.#session.newCache(), 0);
  }

  async copy(sequence: Sequence, length: number): Promise<Sequence> {
    if (!(sequence instanceof CachedSequence)) throw new Error('The sequence is of another backend.');
    const kept = Math.min(length, sequence.length);
    return this.#add(await sequence.copyCache(kept), kept);
  }

  memory(): GpuMemory | null {
    return this.#session.gpu?.memory() ?? null;
  }

  async close(): Promise<void> {
    for (const sequence of [...this.#sequences]) sequence.close();
    this.#reducer?.destroy();
    try {
      await this.#session.release();
    } catch (cause) {
      throw new ModelLoadError('The session could not be released.', { cause, code: 'release_failed' });
    }
  }

  #add(cache: KeyValueCache, length: number): CachedSequence {
    const sequence = new CachedSequence(this.#session, cache, length, (closed) =>
      this.#sequences.delete(closed),
    );
    this.#sequences.add(sequence);
    return sequence;
  }
}
