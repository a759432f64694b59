import type { Adjustments } from '../adjustments.ts';

/** The adjustments of one choice at a time on the GPU: one bit and one offset a token, brought up to date by words. */
export class AdjustmentBuffers {
  /** Bit `id % 32` of word `id / 32`: whether the token is repeated. */
  readonly repeated: GPUBuffer;
  /** What is added to each token's logit, in single precision. */
  readonly offsets: GPUBuffer;
  readonly #device: GPUDevice;
  readonly #size: number;
  readonly #bits: Uint32Array<ArrayBuffer>;
  #held: Adjustments | null = null;
  /** So many of the taken tokens of `#held` are there. */
  #upTo = 0;

  /** @param size tokens of the vocabulary */
  constructor(device: GPUDevice, size: number) {
    this.#device = device;
    this.#size = size;
    this.#bits = new Uint32Array(Math.ceil(size / 32));
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST;
    this.repeated = device.createBuffer({
      label: 'sampling: repeated tokens',
      size: this.#bits.byteLength,
      usage,
    });
    this.offsets = device.createBuffer({ label: 'sampling: offsets', size: size * 4, usage });
  }

  /** Writes what is not there yet: all of it for another choice than the last one, else a word a token and kind. */
  update(adjustments: Adjustments): void {
    const { repeated, offsets, taken } = adjustments;
    if (this.#held !== adjustments) {
      this.#held = adjustments;
      this.#bits.fill(0);
      for (const id of repeated) this.#set(id);
      this.#device.queue.writeBuffer(this.repeated, 0, this.#bits);
      const dense = new Float32Array(this.#size);
      for (const [id, offset] of offsets) if (id < this.#size) dense[id] = offset;
      this.#device.queue.writeBuffer(this.offsets, 0, dense);
    } else {
      for (const id of taken.slice(this.#upTo)) this.#write(id, adjustments);
    }
    this.#upTo = taken.length;
  }

  destroy(): void {
    this.repeated.destroy();
    this.offsets.destroy();
  }

  #set(id: number): void {
    if (id < this.#size) this.#bits[id >>> 5]! |= 1 << (id & 31);
  }

  #write(id: number, { repeated, offsets }: Adjustments): void {
    if (id >= this.#size) return;
    if (repeated.has(id)) {
      this.#set(id);
      this.#device.queue.writeBuffer(this.repeated, (id >>> 5) * 4, this.#bits, id >>> 5, 1);
    }
    const offset = offsets.get(id);
    if (offset !== undefined) this.#device.queue.writeBuffer(this.offsets, id * 4, Float32Array.of(offset));
  }
}
