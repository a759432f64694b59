import type * as ort from 'onnxruntime-web/webgpu';
import type { GpuRow } from '../../sampling/gpu/reducer.ts';
import type { Logits } from '../backend.ts';
import { widenHalf } from './half.ts';
import { explainFailure } from './reader.ts';
import type { GpuParts } from './session.ts';

/** The logits of a pass of which none are kept. */
export const noLogits = (width: number): Logits => ({
  rows: 0,
  width,
  onGpu: () => null,
  read: async () => {
    throw new Error('No logits were kept for this forward pass.');
  },
  release: () => {},
});

/** The last `rows` positions of a logits tensor of shape [1, positions, width]. */
export class TensorLogits implements Logits {
  readonly rows: number;
  readonly width: number;
  readonly #gpu: GpuParts | null;
  readonly #tensor: ort.Tensor;
  readonly #isShared: boolean;
  readonly #first: number;
  #isReleased = false;

  /** @param isShared whether the tensor belongs to the session, which writes the next logits into it */
  constructor(tensor: ort.Tensor, rows: number, gpu: GpuParts | null, isShared: boolean) {
    this.#tensor = tensor;
    this.#gpu = gpu;
    this.#isShared = isShared;
    this.rows = rows;
    this.width = tensor.dims[2]!;
    this.#first = tensor.dims[1]! - rows;
  }

  onGpu(row: number): GpuRow | null {
    if (this.#tensor.location !== 'gpu-buffer') return null;
    const index = this.#index(row);
    return { buffer: this.#tensor.gpuBuffer as unknown as GPUBuffer, first: index * this.width };
  }

  async read(row: number): Promise<Float32Array> {
    const index = this.#index(row);
    if (this.#gpu && this.#tensor.location === 'gpu-buffer') {
      try {
        return await this.#gpu.reader.read(this.#tensor.gpuBuffer as unknown as GPUBuffer, index);
      } catch (thrown) {
        throw await explainFailure(thrown, this.#gpu.fault);
      }
    }
    const data = this.#tensor.data as Float32Array | Uint16Array;
    const values = data.subarray(index * this.width, (index + 1) * this.width);
    if (values instanceof Float32Array) return values;
    const widened = new Float32Array(this.width);
    // Newer runtimes give half-precision tensors as Float16Array; its bits are the same.
    widenHalf(new Uint16Array(values.buffer, values.byteOffset, values.length), widened);
    return widened;
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    if (!this.#isShared) this.#tensor.dispose();
  }

  /** Which of the tensor's positions a row is. */
  #index(row: number): number {
    if (this.#isReleased || row < 0 || row >= this.rows) {
      throw new Error(`Row ${row} of the logits is not there.`);
    }
    return this.#first + row;
  }
}
