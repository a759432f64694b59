import * as ort from 'onnxruntime-web/webgpu';
import type { GraphEdits } from './edits.ts';
import type { Graph } from './graph.ts';

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

/** Buffers on which graphs are captured. */
export interface GraphOwner {
  /** Tokens that they have room for. */
  readonly capacity: number;
  /** By bucket of length. */
  readonly graphs: Map<number, number>;
}

/**
 * Decode steps that ONNX Runtime records once and replays: no dispatch, bind group or buffer is made for a token, only
 * three small writes. All that a step reads has to be on the GPU, also its lengths: a value on the CPU would be
 * recorded, and later steps would silently use the old one.
 */
export class CapturedSteps {
  readonly #device: GPUDevice;
  readonly #buffers: GPUBuffer[] = [];
  readonly #feeds: Record<string, ort.Tensor> = {};
  readonly #id: GPUBuffer;
  readonly #position: GPUBuffer | null;
  readonly #last: GPUBuffer;
  readonly #total: GPUBuffer;
  readonly #pair = new Uint32Array(2);
  readonly #single = new Int32Array(1);
  #graphs = 0;
  #lastTotal = -1;

  /** @param graph one with edits for which {@link canCapture} holds */
  constructor(device: GPUDevice, graph: Graph) {
    this.#device = device;
    const { lengths, rows } = graph.edits;
    this.#id = this.#feed('input_ids', 'int64', [1, 1]);
    this.#position = graph.hasPositions ? this.#feed('position_ids', 'int64', [1, 1]) : null;
    this.#last = this.#feed(lengths!.last, 'int32', [1]);
    this.#total = this.#feed(lengths!.total, 'int32', []);
    // The row of the one token: 0, as every new buffer is.
    this.#feed(rows!, 'int64', [1]);
  }

  /**
   * Prepares the step of token `id` at `position`.
   *
   * @returns what to run it with, or `null` when no more graphs may be captured
   */
  prepare(
    cache: GraphOwner,
    id: number,
    position: number,
  ): { feeds: Record<string, ort.Tensor>; options: ort.InferenceSession.RunOptions } | null {
    const bucket = Math.floor(position / bucketTokens);
    let graph = cache.graphs.get(bucket);
    if (graph === undefined) {
      if (this.#graphs >= mostGraphs) return null;
      graph = ++this.#graphs;
      cache.graphs.set(bucket, graph);
    }
    this.#writeLong(this.#id, id);
    if (this.#position) this.#writeLong(this.#position, position);
    this.#write(this.#last, position);
    const total = Math.min((bucket + 1) * bucketTokens, cache.capacity);
    if (total !== this.#lastTotal) this.#write(this.#total, total);
    this.#lastTotal = total;
    return { feeds: this.#feeds, options: { extra: { gpu_graph_id: String(graph) } } };
  }

  destroy(): void {
    for (const buffer of this.#buffers) buffer.destroy();
  }

  #feed(name: string, dataType: 'int64' | 'int32', dims: number[]): GPUBuffer {
    const buffer = this.#device.createBuffer({
      label: name,
      size: 16,
      usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST,
    });
    this.#buffers.push(buffer);
    this.#feeds[name] = ort.Tensor.fromGpuBuffer(buffer as never, { dataType, dims });
    return buffer;
  }

  /** As a 64-bit integer: the low word first. */
  #writeLong(buffer: GPUBuffer, value: number): void {
    this.#pair[0] = value;
    this.#device.queue.writeBuffer(buffer, 0, this.#pair);
  }

  #write(buffer: GPUBuffer, value: number): void {
    this.#single[0] = value;
    this.#device.queue.writeBuffer(buffer, 0, this.#single);
  }
}

/** Whether all inputs of a decode step can be on the GPU and stay where they are. */
export const canCapture = ({ lengths, rows, sharesCache }: GraphEdits): boolean =>
  lengths !== null && rows !== null && sharesCache;

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
