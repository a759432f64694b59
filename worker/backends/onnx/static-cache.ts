import type * as ort from 'onnxruntime-web/webgpu';
import { BadRequestError } from '../../../src/errors.ts';
import { cacheTensor, copyHeads, createCacheBuffer, type KeyValueCache } from './cache.ts';
import type { CapturedGraph } from './captured.ts';
import type { Graph } from './graph.ts';

/** The smallest capacity that is allocated, in tokens. */
const smallestCapacity = 256;

/** Buffers of one capacity, as tensors, with the graphs that were captured on them. */
interface BufferSet {
  capacity: number;
  buffers: GPUBuffer[];
  tensors: ort.Tensor[];
  /** By bucket of length, see `captured.ts`. */
  graphs: Map<number, CapturedGraph>;
}

/** Makes buffer sets, and keeps one that was given back: what is captured on it stays of use. */
export class BufferSets {
  readonly #graph: Graph;
  readonly #device: GPUDevice;
  #idle: BufferSet | null = null;

  constructor(graph: Graph, device: GPUDevice) {
    this.#graph = graph;
    this.#device = device;
  }

  /** @throws BadRequestError with code `context_length_exceeded` when the GPU has no memory for so many tokens */
  async take(capacity: number): Promise<BufferSet> {
    const idle = this.#idle;
    this.#idle = null;
    if (idle?.capacity === capacity) return idle;
    if (idle) destroySet(idle);
    const { cache, heads, headSize, valueBytes } = this.#graph;
    this.#device.pushErrorScope('out-of-memory');
    const buffers = cache.map(({ input }) =>
      createCacheBuffer(
        this.#device,
        `${input}, ${capacity} tokens`,
        heads * capacity * headSize * valueBytes,
      ),
    );
    const error = await this.#device.popErrorScope();
    const tensors = buffers.map((buffer) => cacheTensor(this.#graph, buffer, capacity));
    const set = { capacity, buffers, tensors, graphs: new Map() };
    if (!error) return set;
    destroySet(set);
    const size = Math.ceil(cacheBytes(this.#graph, capacity) / 2 ** 20);
    throw new BadRequestError(
      `The GPU has no memory for a context of ${capacity} tokens (${size} MiB of keys and values). Shorten the conversation or use a smaller model.`,
      { code: 'context_length_exceeded', cause: error },
    );
  }

  give(set: BufferSet): void {
    this.destroy();
    this.#idle = set;
  }

  destroy(): void {
    if (this.#idle) destroySet(this.#idle);
    this.#idle = null;
  }
}

function destroySet({ buffers }: BufferSet): void {
  for (const buffer of buffers) buffer.destroy();
}

/**
 * A cache in buffers with room for more tokens than they hold: attention appends in place, so that a pass copies and
 * allocates nothing and a truncation is free. The capacity doubles when it is used up, to at most `limit` tokens.
 */
export class StaticCache implements KeyValueCache {
  pasts: Record<string, ort.Tensor> = {};
  presents: Record<string, ort.Tensor> = {};
  #set: BufferSet | null = null;
  readonly #graph: Graph;
  readonly #device: GPUDevice;
  readonly #sets: BufferSets;
  readonly #limit: number;

  constructor(graph: Graph, device: GPUDevice, sets: BufferSets, limit: number) {
    this.#graph = graph;
    this.#device = device;
    this.#sets = sets;
    this.#limit = limit;
  }

  /** Tokens that the buffers have room for. */
  get capacity(): number {
    return this.#set?.capacity ?? 0;
  }

  get bytes(): number {
    return cacheBytes(this.#graph, this.capacity);
  }

  /** Graphs that were captured on the buffers. */
  get graphs(): Map<number, CapturedGraph> {
    return this.#set?.graphs ?? new Map();
  }

  async reserve(tokens: number, length: number): Promise<void> {
    if (tokens <= this.capacity) return;
    const set = await this.#sets.take(capacityFor(tokens, this.#limit));
    if (length > 0) this.#copyInto(set, length);
    if (this.#set) destroySet(this.#set);
    this.#adopt(set);
  }

  written(): void {}

  truncate(): void {}

  async copy(_from: number, length: number): Promise<StaticCache> {
    const copy = new StaticCache(this.#graph, this.#device, this.#sets, this.#limit);
    const set = await this.#sets.take(capacityFor(length, this.#limit));
    if (length > 0) this.#copyInto(set, length);
    copy.#adopt(set);
    return copy;
  }

  dispose(): void {
    if (this.#set) this.#sets.give(this.#set);
    this.#set = null;
  }

  #copyInto(target: BufferSet, length: number): void {
    const source = this.#set;
    if (!source) return;
    const encoder = this.#device.createCommandEncoder();
    for (const [index, buffer] of source.buffers.entries()) {
      copyHeads(
        encoder,
        this.#graph,
        { buffer, tokens: source.capacity },
        { buffer: target.buffers[index]!, tokens: target.capacity },
        length,
      );
    }
    this.#device.queue.submit([encoder.finish()]);
  }

  #adopt(set: BufferSet): void {
    this.#set = set;
    this.pasts = {};
    this.presents = {};
    for (const [index, { input, output }] of this.#graph.cache.entries()) {
      // One tensor for both: the buffer is past and present at once.
      this.pasts[input] = set.tensors[index]!;
      this.presents[output] = set.tensors[index]!;
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
