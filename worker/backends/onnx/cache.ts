import * as ort from 'onnxruntime-web/webgpu';
import type { Graph } from './graph.ts';

/** Keys and values of one sequence, each tensor of shape [1, heads, tokens, size]. */
export interface KeyValueCache {
  /** Bytes that are allocated. */
  readonly bytes: number;
  /** Makes room for `tokens`, of which `length` are held. Keeps everything as it was when it throws. */
  reserve(tokens: number, length: number): Promise<void>;
  /** What a run reads, by input name. */
  readonly pasts: Record<string, ort.Tensor>;
  /** Where a run writes, by output name; `null`: the runtime allocates. */
  readonly presents: Record<string, ort.Tensor | null>;
  /** After a run that wrote. */
  written(outputs: ort.InferenceSession.OnnxValueMapType): void;
  /** Drops all but the first `length` of `from` tokens. */
  truncate(from: number, length: number): void;
  /** The first `length` of `from` tokens once more. */
  copy(from: number, length: number): Promise<KeyValueCache>;
  dispose(): void;
}

/**
 * A cache whose tensors every pass makes anew, one row longer: for attention that can't append in place, and for
 * WASM, where inputs and outputs are copied in and out whatever one does.
 */
export class GrowingCache implements KeyValueCache {
  readonly pasts: Record<string, ort.Tensor> = {};
  readonly presents: Record<string, null> = {};
  readonly #graph: Graph;
  /** The device of the tensors; `null`: they are arrays. */
  readonly #device: GPUDevice | null;

  constructor(graph: Graph, device: GPUDevice | null) {
    this.#graph = graph;
    this.#device = device;
    const empty = () => (graph.cacheType === 'float32' ? new Float32Array(0) : new Uint16Array(0));
    for (const { input, output } of graph.cache) {
      this.presents[output] = null;
      this.pasts[input] = new ort.Tensor(graph.cacheType, empty(), [1, graph.heads, 0, graph.headSize]);
    }
  }

  get bytes(): number {
    const { cache, heads, headSize, valueBytes } = this.#graph;
    const tokens = this.pasts[cache[0]!.input]?.dims[2] ?? 0;
    return cache.length * heads * tokens * headSize * valueBytes;
  }

  async reserve(): Promise<void> {}

  written(outputs: ort.InferenceSession.OnnxValueMapType): void {
    for (const { input, output } of this.#graph.cache) this.#replace(input, outputs[output] as ort.Tensor);
  }

  truncate(from: number, length: number): void {
    const cropped = this.#crop(from, length);
    for (const [input, tensor] of Object.entries(cropped)) this.#replace(input, tensor);
  }

  async copy(from: number, length: number): Promise<KeyValueCache> {
    const copy = new GrowingCache(this.#graph, this.#device);
    for (const [input, tensor] of Object.entries(this.#crop(from, length))) copy.#replace(input, tensor);
    return copy;
  }

  dispose(): void {
    for (const tensor of Object.values(this.pasts)) tensor.dispose();
  }

  #replace(input: string, tensor: ort.Tensor): void {
    this.pasts[input]?.dispose();
    this.pasts[input] = tensor;
  }

  #crop(from: number, length: number): Record<string, ort.Tensor> {
    const { cache, cacheType, heads, headSize, valueBytes } = this.#graph;
    const dims = [1, heads, length, headSize];
    const cropped: Record<string, ort.Tensor> = {};
    if (length === 0 || !this.#device) {
      for (const { input } of cache) {
        const source = length > 0 ? (this.pasts[input]!.data as Float32Array | Uint16Array) : null;
        const Values = cacheType === 'float32' ? Float32Array : Uint16Array;
        const target = new Values(heads * length * headSize);
        for (let head = 0; source && head < heads; head++) {
          const start = head * from * headSize;
          target.set(source.subarray(start, start + length * headSize), head * length * headSize);
        }
        cropped[input] = new ort.Tensor(cacheType, target, dims);
      }
      return cropped;
    }
    const device = this.#device;
    const encoder = device.createCommandEncoder();
    for (const { input } of cache) {
      const buffer = createCacheBuffer(device, input, heads * length * headSize * valueBytes);
      const source = this.pasts[input]!.gpuBuffer as unknown as GPUBuffer;
      copyHeads(encoder, this.#graph, { buffer: source, tokens: from }, { buffer, tokens: length }, length);
      cropped[input] = cacheTensor(this.#graph, buffer, length);
    }
    device.queue.submit([encoder.finish()]);
    return cropped;
  }
}

/** A buffer that ONNX Runtime can read and write, and that can be copied from and to. */
export function createCacheBuffer(device: GPUDevice, label: string, bytes: number): GPUBuffer {
  return device.createBuffer({
    label,
    size: Math.ceil(bytes / 16) * 16,
    usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST,
  });
}

/** A buffer as a tensor of the cache; where the cache disposes of tensors, that destroys the buffer. */
export function cacheTensor(graph: Graph, buffer: GPUBuffer, tokens: number): ort.Tensor {
  return ort.Tensor.fromGpuBuffer(buffer as never, {
    dataType: graph.cacheType,
    dims: [1, graph.heads, tokens, graph.headSize],
    dispose: () => buffer.destroy(),
  });
}

/** Copies the first `length` tokens of every head. */
export function copyHeads(
  encoder: GPUCommandEncoder,
  { heads, headSize, valueBytes }: Graph,
  source: { buffer: GPUBuffer; tokens: number },
  target: { buffer: GPUBuffer; tokens: number },
  length: number,
): void {
  const token = headSize * valueBytes;
  for (let head = 0; head < heads; head++) {
    const [from, to] = [head * source.tokens * token, head * target.tokens * token];
    encoder.copyBufferToBuffer(source.buffer, from, target.buffer, to, length * token);
  }
}
