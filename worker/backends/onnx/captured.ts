import * as ort from 'onnxruntime-web/webgpu';
import type { Graph } from './graph.ts';
import { type Recording, record } from './recording.ts';
import { createFeedBuffer, type StepFeeds } from './step-feeds.ts';

/**
 * A captured step does the work of the length that it was captured with: it is captured for the end of a bucket of so
 * many tokens and serves all lengths of the bucket.
 */
const bucketTokens = 128;

/**
 * The runtime never gives a captured graph up before the session ends; conversations that come and go make new ones.
 * Beyond so many, steps run uncaptured.
 */
const mostGraphs = 512;

/** A step that the runtime has captured. */
export interface CapturedGraph {
  /** The runtime's name for it. */
  id: string;
  /** How often the runtime has run it: it captures in the first run, and replays from the second on. */
  runs: number;
  /** What the runtime does in a replay, done without it; `null` before it was seen, and where that can't be done. */
  recording: Recording | null;
}

/** Buffers on which graphs are captured. */
export interface GraphOwner {
  /** Tokens that they have room for. */
  readonly capacity: number;
  /** By bucket of length. */
  readonly graphs: Map<number, CapturedGraph>;
}

/**
 * Decode steps that ONNX Runtime captures once: no dispatch, bind group or buffer is made for a token, only two or
 * three small writes. The runtime's own replay still binds each input and output anew, some hundred calls through
 * WebAssembly; so its first replay is recorded, and later ones are made from here.
 *
 * All that a step reads has to be on the GPU, also its lengths: a value on the CPU would be recorded, and later steps
 * would silently use the old one.
 */
export class CapturedSteps {
  readonly #device: GPUDevice;
  readonly #feeds: StepFeeds;
  readonly #tensors: Record<string, ort.Tensor>;
  readonly #total: GPUBuffer;
  readonly #totalValue = new Int32Array([-1]);
  #graphs = 0;
  #unrecorded = 0;

  /** @param feeds what the steps read besides the cache */
  constructor(device: GPUDevice, { edits }: Graph, feeds: StepFeeds) {
    this.#device = device;
    this.#feeds = feeds;
    const name = edits.lengths!.total;
    this.#total = createFeedBuffer(device, name);
    const total = ort.Tensor.fromGpuBuffer(this.#total as never, { dataType: 'int32', dims: [] });
    this.#tensors = { ...feeds.tensors, [name]: total };
  }

  /**
   * Runs the step of a token at `position`.
   *
   * @param id the token; `null`: the device has written it
   * @param run runs the session
   * @returns false when no more graphs may be captured; then nothing was done
   */
  async run(
    cache: GraphOwner,
    id: number | null,
    position: number,
    run: (feeds: Record<string, ort.Tensor>, options: ort.InferenceSession.RunOptions) => Promise<void>,
  ): Promise<boolean> {
    const bucket = Math.floor(position / bucketTokens);
    let graph = cache.graphs.get(bucket);
    if (!graph) {
      if (this.#graphs >= mostGraphs) return false;
      graph = { id: String(++this.#graphs), runs: 0, recording: null };
      cache.graphs.set(bucket, graph);
    }
    this.#feeds.write(id, position);
    this.#writeTotal(Math.min((bucket + 1) * bucketTokens, cache.capacity));
    if (graph.recording) {
      const encoder = this.#device.createCommandEncoder({ label: 'captured step' });
      graph.recording.encode(encoder);
      this.#device.queue.submit([encoder.finish()]);
      return true;
    }
    const options = { extra: { gpu_graph_id: graph.id } };
    const replay = () => run(this.#tensors, options);
    if (graph.runs === 1) {
      graph.recording = await record(this.#device, replay);
      if (!graph.recording) this.#unrecorded++;
    } else {
      await replay();
    }
    graph.runs++;
    return true;
  }

  /** Graphs that only the runtime can replay. */
  get unrecorded(): number {
    return this.#unrecorded;
  }

  destroy(): void {
    this.#total.destroy();
  }

  #writeTotal(total: number): void {
    if (total === this.#totalValue[0]) return;
    this.#totalValue[0] = total;
    this.#device.queue.writeBuffer(this.#total, 0, this.#totalValue);
  }
}

/** Runs that are not to be captured, in a session that can capture. */
export const uncaptured: ort.InferenceSession.RunOptions = { extra: { gpu_graph_id: '-1' } };

/**
 * Session options with which the runtime itself can capture, while its JavaScript layer does not know: that layer
 * would bind inputs and outputs once for the session's life, and the same session could not prefill. It reads
 * `enableGraphCapture` for the runtime before `freeDimensionOverrides` and for itself behind it.
 */
export function withCapture(
  options: ort.InferenceSession.SessionOptions,
): ort.InferenceSession.SessionOptions {
  let isRead = false;
  return Object.defineProperties(
    { ...options },
    {
      enableGraphCapture: { enumerable: true, get: () => !isRead },
      freeDimensionOverrides: {
        enumerable: true,
        get: () => {
          isRead = true;
          return undefined;
        },
      },
    },
  );
}
