import * as ort from 'onnxruntime-web/webgpu';
import { ModelLoadError } from '../../../src/errors.ts';
import type { OwnDevice } from './device.ts';
import { type Graph, readGraph } from './graph.ts';
import { explainFailure, RowReader } from './reader.ts';
import { exclusive } from './runtime.ts';
import type { Weights } from './weights.ts';

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
  /** After all sequences were closed; the device goes too. */
  release(): Promise<void>;
}

/**
 * Creates the session, on the given device or else on WASM.
 *
 * @param contextLength tokens that the model was made for; the device may hold fewer
 * @throws ModelLoadError when ONNX Runtime refuses the model
 */
export async function createSession(
  weights: Weights,
  config: Record<string, unknown>,
  contextLength: number,
  own: OwnDevice | null,
): Promise<LoadedSession> {
  let session: ort.InferenceSession;
  try {
    session = await exclusive(() =>
      ort.InferenceSession.create(weights.model, {
        // As an object: options, the device among them, are ignored for a provider given as a string.
        executionProviders: own ? [{ name: 'webgpu', device: own.device as never }] : ['wasm'],
        preferredOutputLocation: own ? 'gpu-buffer' : 'cpu',
        externalData: weights.external,
        logSeverityLevel: 3,
      }),
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
    const graph = readGraph(session, config);
    const bytesPerToken = graph.heads * graph.headSize * (graph.cacheType === 'float32' ? 4 : 2);
    const bindingLimit = own
      ? Math.floor(own.device.limits.maxStorageBufferBindingSize / bytesPerToken)
      : Infinity;
    const gpu = own && { ...own, reader: new RowReader(own.device, graph.width, graph.logitsType) };
    return {
      session,
      graph,
      capacity: Math.min(contextLength, bindingLimit),
      gpu,
      release: async () => {
        gpu?.reader.destroy();
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
