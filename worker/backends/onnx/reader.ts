import { DeviceLostError } from '../../../src/errors.ts';
import type { FloatType } from './graph.ts';
import { widenHalf } from './half.ts';

/** Downloads rows of logits from the GPU through one buffer that is mapped again and again. */
export class RowReader {
  readonly #device: GPUDevice;
  readonly #type: FloatType;
  readonly #staging: GPUBuffer;
  readonly #row: Float32Array;
  readonly #bytesPerRow: number;

  constructor(device: GPUDevice, width: number, type: FloatType) {
    this.#device = device;
    this.#type = type;
    this.#row = new Float32Array(width);
    this.#bytesPerRow = width * (type === 'float32' ? 4 : 2);
    this.#staging = device.createBuffer({
      label: 'logits row',
      // Copies are in units of 4 bytes, and a row of 16-bit values may start and end in the middle of one.
      size: Math.ceil(this.#bytesPerRow / 4) * 4 + 4,
      usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ,
    });
  }

  /** Row `index` of a row-major buffer. The array is reused by the next call. */
  async read(buffer: GPUBuffer, index: number): Promise<Float32Array> {
    const start = index * this.#bytesPerRow;
    const skip = start % 4;
    const size = Math.ceil((this.#bytesPerRow + skip) / 4) * 4;
    const encoder = this.#device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, start - skip, this.#staging, 0, size);
    this.#device.queue.submit([encoder.finish()]);
    await this.#staging.mapAsync(GPUMapMode.READ, 0, size);
    try {
      const bytes = this.#staging.getMappedRange(0, size);
      if (this.#type === 'float32') this.#row.set(new Float32Array(bytes, 0, this.#row.length));
      else widenHalf(new Uint16Array(bytes, skip, this.#row.length), this.#row);
    } finally {
      this.#staging.unmap();
    }
    return this.#row;
  }

  destroy(): void {
    this.#staging.destroy();
  }
}

/** What a failed call means: a loss is reported a moment after the call that it breaks. */
export async function explainFailure(thrown: unknown, lost: Promise<DeviceLostError> | null): Promise<Error> {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  if (!lost || error instanceof DeviceLostError) return error;
  const moment = new Promise<null>((resolve) => setTimeout(() => resolve(null), 200));
  return (await Promise.race([lost, moment])) ?? error;
}
