import * as ort from 'onnxruntime-web/webgpu';
import { ModelLoadError } from '../../../src/errors.ts';
import { createCacheBuffer, GrowingCache, type KeyValueCache } from './cache.ts';
import { CapturedSteps, uncaptured, withCapture } from './captured.ts';
import type { OwnDevice } from './device.ts';
import { type Graph, readGraph } from './graph.ts';
import type { TensorLogits } from './logits.ts';
import { explainFailure, RowReader } from './reader.ts';
import { exclusive } from './runtime.ts';
import { BufferSets, StaticCache } from './static-cache.ts';
import { canFeedFromGpu, StepFeeds } from './step-feeds.ts';
import type { Weights } from './weights.ts';

/** How decode steps run: from captured graphs, on a cache that is written in place, or on one made anew each time. */
export type DecodeWay = 'captured' | 'static' | 'growing';

/** What runs on the GPU has its device and a way to read from it. */
export interface GpuParts extends OwnDevice {
  reader: RowReader;
}

/** A session with what sequences must know to run on it. */
export interface LoadedSession {
  session: ort.InferenceSession;
  graph: Graph;
  /** Tokens that a sequence can hold. */
  capacity: number;
  gpu: GpuParts | null;
  /** Where every pass that keeps one row writes its logits: [1, 1, width] on the GPU; `null`: the runtime allocates. */
  logits: ort.Tensor | null;
  /** What was handed out of `logits` last. */
  lastLogits: TensorLogits | null;
  /** Inputs of steps of one token, on the GPU; `null` where they are made in memory for each step. */
  stepFeeds: StepFeeds | null;
  /** Runs decode steps from captured graphs; `null` where steps are encoded anew each time. */
  captured: CapturedSteps | null;
  /** Options of all other runs. */
  readonly runOptions: ort.InferenceSession.RunOptions;
  newCache(): KeyValueCache;
  /** After all sequences were closed; the device goes too. */
  release(): Promise<void>;
}

/**
 * Creates the session, on the given device or else on WASM.
 *
 * @param contextLength tokens that the model was made for; the device may hold fewer
 * @param way on the GPU; the graph has to be made for it
 * @throws ModelLoadError when ONNX Runtime refuses the model
 */
export async function createSession(
  weights: Weights,
  config: Record<string, unknown>,
  contextLength: number,
  own: OwnDevice | null,
  way: DecodeWay = 'growing',
): Promise<LoadedSession> {
  const options: ort.InferenceSession.SessionOptions = {
    // As an object: options, the device among them, are ignored for a provider given as a string.
    executionProviders: own ? [{ name: 'webgpu', device: own.device as never }] : ['wasm'],
    preferredOutputLocation: own ? 'gpu-buffer' : 'cpu',
    externalData: weights.external,
    logSeverityLevel: 3,
  };
  const captures = own !== null && way === 'captured';
  let session: ort.InferenceSession;
  try {
    session = await exclusive(() =>
      ort.InferenceSession.create(weights.model, captures ? withCapture(options) : options),
    );
  } catch (thrown) {
    const error = await explainFailure(thrown, own?.lost ?? null);
    if (error !== thrown && own) throw error;
    throw new ModelLoadError(
      `${weights.file} can't be run on ${own ? 'WebGPU' : 'WASM'}: ${error.message}. It may be damaged, or need more memory than there is.`,
      { cause: thrown, code: 'session_failed' },
    );
  }
  try {
    const graph = readGraph(session, config, weights.edits);
    const bytesPerToken = graph.heads * graph.headSize * graph.valueBytes;
    const bindingLimit = own
      ? Math.floor(own.device.limits.maxStorageBufferBindingSize / bytesPerToken)
      : Infinity;
    const gpu = own && { ...own, reader: new RowReader(own.device, graph.width, graph.logitsType) };
    const capacity = Math.min(contextLength, bindingLimit);
    const logits = gpu && graph.keepsRows ? rowTensor(gpu.device, graph) : null;
    const sets = gpu && way !== 'growing' ? new BufferSets(graph, gpu.device) : null;
    const stepFeeds = gpu && sets && canFeedFromGpu(graph.edits) ? new StepFeeds(gpu.device, graph) : null;
    const captured = stepFeeds && captures ? new CapturedSteps(own.device, graph, stepFeeds) : null;
    return {
      session,
      graph,
      capacity,
      gpu,
      logits,
      lastLogits: null,
      stepFeeds,
      captured,
      runOptions: captures ? uncaptured : {},
      newCache: () =>
        gpu && sets
          ? new StaticCache(graph, gpu.device, sets, capacity)
          : new GrowingCache(graph, gpu?.device ?? null),
      release: async () => {
        gpu?.reader.destroy();
        logits?.dispose();
        sets?.destroy();
        captured?.destroy();
        stepFeeds?.destroy();
        try {
          await exclusive(() => session.release());
        } finally {
          gpu?.destroy();
        }
      },
    };
  } catch (error) {
    await exclusive(() => session.release()).catch(() => {});
    throw error;
  }
}

function rowTensor(device: GPUDevice, { width, logitsType }: Graph): ort.Tensor {
  const buffer = createCacheBuffer(device, 'logits', width * (logitsType === 'float32' ? 4 : 2));
  return ort.Tensor.fromGpuBuffer(buffer as never, {
    dataType: logitsType,
    dims: [1, 1, width],
    dispose: () => buffer.destroy(),
  });
}
