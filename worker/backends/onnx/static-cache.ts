import type * as ort from 'onnxruntime-web/webgpu';
import { BadRequestError } from '../../../src/errors.ts';
import { cacheTensor, copyHeads, createCacheBuffer, type KeyValueCache } from './cache.ts';
import type { Graph } from './graph.ts';

/** The smallest capacity that is allocated, in tokens. */
const smallestCapacity = 256;

/**
 * A cache in buffers with room for more tokens than they hold: attention appends in place, so that a pass copies and
 * allocates nothing and a truncation is free. The capacity doubles when it is used up, to at most `limit` tokens.
 */
export class StaticCache implements KeyValueCache {
  #pasts: Record<string, ort.Tensor> = {};
  #presents: Record<string, ort.Tensor> = {};
  #buffers: GPUBuffer[] = [];
  #capacity = 0;
  readonly #graph: Graph;
  readonly #device: GPUDevice;
  readonly #limit: number;

  constructor(graph: Graph, device: GPUDevice, limit: number) {
    this.#graph = graph;
    this.#device = device;
    this.#limit = limit;
  }

  /** Tokens that the buffers have room for. */
  get capacity(): number {
    return this.#capacity;
  }

  get bytes(): number {
    return cacheBytes(this.#graph, this.#capacity);
  }

  get pasts(): Record<string, ort.Tensor> {
    return this.#pasts;
  }

  get presents(): Record<string, ort.Tensor> {
    return this.#presents;
  }

  /** @throws BadRequestError with code `context_length_exceeded` when the GPU has no memory for so many tokens */
  async reserve(tokens: number, length: number): Promise<void> {
    if (tokens <= this.#capacity) return;
    const capacity = capacityFor(tokens, this.#limit);
    const device = this.#device;
    const { cache, heads, headSize, valueBytes } = this.#graph;
    device.pushErrorScope('out-of-memory');
    const buffers = cache.map(({ input }) =>
      createCacheBuffer(device, `${input}, ${capacity} tokens`, heads * capacity * headSize * valueBytes),
    );
    const error = await device.popErrorScope();
    if (error) {
      for (const buffer of buffers) buffer.destroy();
      throw new BadRequestError(
        `The GPU has no memory for a context of ${capacity} tokens (${Math.ceil(cacheBytes(this.#graph, capacity) / 2 ** 20)} MiB of keys and values). Shorten the conversation or use a smaller model.`,
        { code: 'context_length_exceeded', cause: error },
      );
    }
    if (length > 0) this.#copyInto(buffers, capacity, length);
    this.dispose();
    this.#adopt(buffers, capacity);
  }

  written(): void {}

  truncate(): void {}

  async copy(_from: number, length: number): Promise<StaticCache> {
    const copy = new StaticCache(this.#graph, this.#device, this.#limit);
    await copy.reserve(Math.max(1, length), 0);
    if (length > 0) this.#copyInto(copy.#buffers, copy.#capacity, length);
    return copy;
  }

  dispose(): void {
    for (const buffer of this.#buffers) buffer.destroy();
    this.#buffers = [];
    this.#capacity = 0;
  }

  #copyInto(targets: readonly GPUBuffer[], capacity: number, length: number): void {
    const encoder = this.#device.createCommandEncoder();
    for (const [index, buffer] of this.#buffers.entries()) {
      const source = { buffer, tokens: this.#capacity };
      copyHeads(encoder, this.#graph, source, { buffer: targets[index]!, tokens: capacity }, length);
    }
    this.#device.queue.submit([encoder.finish()]);
  }

  #adopt(buffers: GPUBuffer[], capacity: number): void {
    this.#buffers = buffers;
    this.#capacity = capacity;
    this.#pasts = {};
    this.#presents = {};
    for (const [index, { input, output }] of this.#graph.cache.entries()) {
      // One tensor for both: the buffer is past and present at once.
      const tensor = cacheTensor(this.#graph, buffers[index]!, capacity);
      this.#pasts[input] = tensor;
      this.#presents[output] = tensor;
    }
  }
}

/** The capacity that is allocated for `tokens`. */
export function capacityFor(tokens: number, limit: number): number {
  let capacity = smallestCapacity;
  while (capacity < tokens) capacity *= 2;
  return Math.min(capacity, limit);
}

/** Bytes of keys and values of `tokens` tokens. */
export function cacheBytes({ cache, heads, headSize, valueBytes }: Graph, tokens: number): number {
  return cache.length * heads * tokens * headSize * valueBytes;
}
