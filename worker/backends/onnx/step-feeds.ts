import * as ort from 'onnxruntime-web/webgpu';
import type { GraphEdits } from './edits.ts';
import type { Graph } from './graph.ts';

/**
 * The inputs of a step of one token, in buffers that stay: where they were made in memory, the runtime would make a
 * buffer for each of them in each step.
 */
export class StepFeeds {
  /** By input name: all but the cache and the total length. */
  readonly tensors: Record<string, ort.Tensor> = {};
  /** The token, as a 64-bit integer. The device may have written it itself. */
  readonly token: GPUBuffer;
  readonly #device: GPUDevice;
  readonly #buffers: GPUBuffer[] = [];
  readonly #position: GPUBuffer | null;
  readonly #last: GPUBuffer;
  readonly #words = new Uint32Array(2);

  /** @param graph one with edits for which {@link canFeedFromGpu} holds */
  constructor(device: GPUDevice, graph: Graph) {
    this.#device = device;
    const { lengths, rows } = graph.edits;
    this.token = this.#feed('input_ids', 'int64', [1, 1]);
    this.#position = graph.hasPositions ? this.#feed('position_ids', 'int64', [1, 1]) : null;
    this.#last = this.#feed(lengths!.last, 'int32', [1]);
    // The row of the one token: 0, as every new buffer is.
    this.#feed(rows!, 'int64', [1]);
  }

  /** @param id the token; `null`: the device has written it */
  write(id: number | null, position: number): void {
    if (id !== null) this.#write(this.token, id, 2);
    if (this.#position) this.#write(this.#position, position, 2);
    this.#write(this.#last, position, 1);
  }

  destroy(): void {
    for (const buffer of this.#buffers) buffer.destroy();
  }

  #feed(name: string, dataType: 'int64' | 'int32', dims: number[]): GPUBuffer {
    const buffer = createFeedBuffer(this.#device, name);
    this.#buffers.push(buffer);
    this.tensors[name] = ort.Tensor.fromGpuBuffer(buffer as never, { dataType, dims });
    return buffer;
  }

  /** Two words are a 64-bit integer: the low one first. */
  #write(buffer: GPUBuffer, value: number, words: 1 | 2): void {
    this.#words[0] = value;
    this.#device.queue.writeBuffer(buffer, 0, this.#words, 0, words);
  }
}

/** Room for one number. */
export function createFeedBuffer(device: GPUDevice, label: string): GPUBuffer {
  return device.createBuffer({
    label,
    size: 16,
    usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST,
  });
}

/** Whether all inputs of a decode step can be on the GPU and stay where they are. */
export const canFeedFromGpu = ({ lengths, rows, sharesCache }: GraphEdits): boolean =>
  lengths !== null && rows !== null && sharesCache;
