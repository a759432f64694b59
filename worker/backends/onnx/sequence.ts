import * as ort from 'onnxruntime-web/webgpu';
import { BadRequestError, TokenprismError } from '../../../src/errors.ts';
import type { Logits, Sequence } from '../backend.ts';
import { widenHalf } from './half.ts';
import { explainFailure } from './reader.ts';
import { exclusive } from './runtime.ts';
import type { LoadedSession } from './session.ts';

/**
 * One KV cache that grows by a new set of tensors with every forward pass: on the GPU the tensors stay there,
 * on WASM they are arrays. Layout of each: [1, heads, tokens, size].
 */
export class CachedSequence implements Sequence {
  readonly #session: LoadedSession;
  readonly #onClose: (sequence: CachedSequence) => void;
  readonly #cache = new Map<string, ort.Tensor>();
  #length = 0;
  #isRunning = false;
  #isClosed = false;

  constructor(session: LoadedSession, onClose: (sequence: CachedSequence) => void) {
    this.#session = session;
    this.#onClose = onClose;
    this.#clear();
  }

  get length(): number {
    return this.#length;
  }

  async forward(ids: readonly number[], rows = 1): Promise<Logits> {
    const { session, graph, capacity, gpu } = this.#session;
    this.#assertUsable();
    const total = this.#length + ids.length;
    if (ids.length === 0 || rows > ids.length) {
      throw new Error(`A forward pass over ${ids.length} tokens can't give ${rows} rows.`);
    }
    if (total > capacity) {
      throw new BadRequestError(`The model's context holds ${capacity} tokens; ${total} were asked for.`, {
        code: 'context_length_exceeded',
      });
    }
    const feeds = this.#feeds(ids, total, rows);
    this.#isRunning = true;
    try {
      const outputs = await exclusive(() => session.run(feeds));
      this.#disposeCache();
      for (const { output } of graph.cache) this.#cache.set(output, outputs[output]!);
      this.#length = total;
      const logits = outputs.logits!;
      if (rows === 0) {
        logits.dispose();
        // Else a long prompt would be queued whole, and an abort had to wait for all of it.
        await gpu?.device.queue.onSubmittedWorkDone();
      }
      return rows === 0 ? emptyLogits(graph.width) : new TensorLogits(this.#session, logits, rows);
    } catch (thrown) {
      this.#isClosed = true;
      throw await this.#explain(thrown);
    } finally {
      this.#isRunning = false;
      if (this.#isClosed) this.#finish();
    }
  }

  async truncate(length: number): Promise<void> {
    this.#assertUsable();
    if (length >= this.#length) return;
    if (length <= 0) {
      this.#clear();
      return;
    }
    const { gpu, graph } = this.#session;
    if (gpu) {
      const encoder = gpu.device.createCommandEncoder();
      const cropped = graph.cache.map(({ output }) => this.#cropOnGpu(gpu.device, encoder, output, length));
      gpu.device.queue.submit([encoder.finish()]);
      this.#replaceCache(cropped);
    } else {
      this.#replaceCache(graph.cache.map(({ output }) => this.#cropInMemory(output, length)));
    }
    this.#length = length;
  }

  /** Gives the memory back; while a forward pass runs, as soon as it has ended. */
  close(): void {
    this.#isClosed = true;
    if (!this.#isRunning) this.#finish();
  }

  #assertUsable(): void {
    if (this.#isClosed) throw new Error('The sequence is closed.');
    if (this.#isRunning) throw new Error('The sequence is used by another call.');
  }

  #feeds(ids: readonly number[], total: number, rows: number): Record<string, ort.Tensor> {
    const { graph } = this.#session;
    const integers = (values: BigInt64Array, dims: number[]) => new ort.Tensor('int64', values, dims);
    const feeds: Record<string, ort.Tensor> = {
      input_ids: integers(BigInt64Array.from(ids, BigInt), [1, ids.length]),
      attention_mask: integers(new BigInt64Array(total).fill(1n), [1, total]),
    };
    if (graph.hasPositions) {
      const positions = BigInt64Array.from(ids, (_, index) => BigInt(this.#length + index));
      feeds.position_ids = integers(positions, [1, ids.length]);
    }
    if (graph.keepInput !== null)
      feeds[graph.keepInput] = integers(BigInt64Array.of(BigInt(Math.max(1, rows))), []);
    for (const { input, output } of graph.cache) feeds[input] = this.#cache.get(output)!;
    return feeds;
  }

  #cropOnGpu(
    device: GPUDevice,
    encoder: GPUCommandEncoder,
    name: string,
    length: number,
  ): [string, ort.Tensor] {
    const { graph } = this.#session;
    const tokenBytes = graph.headSize * (graph.cacheType === 'float32' ? 4 : 2);
    const source = this.#cache.get(name)!.gpuBuffer as unknown as GPUBuffer;
    const buffer = device.createBuffer({
      label: `${name} cut to ${length}`,
      size: Math.ceil((graph.heads * length * tokenBytes) / 16) * 16,
      usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST,
    });
    for (let head = 0; head < graph.heads; head++) {
      const from = head * this.#length * tokenBytes;
      encoder.copyBufferToBuffer(source, from, buffer, head * length * tokenBytes, length * tokenBytes);
    }
    const tensor = ort.Tensor.fromGpuBuffer(buffer as never, {
      dataType: graph.cacheType,
      dims: [1, graph.heads, length, graph.headSize],
      dispose: () => buffer.destroy(),
    });
    return [name, tensor];
  }

  #cropInMemory(name: string, length: number): [string, ort.Tensor] {
    const { graph } = this.#session;
    const source = this.#cache.get(name)!.data as Float32Array | Uint16Array;
    const size = graph.heads * length * graph.headSize;
    const target = source.slice(0, size);
    for (let head = 0; head < graph.heads; head++) {
      const from = head * this.#length * graph.headSize;
      target.set(source.subarray(from, from + length * graph.headSize), head * length * graph.headSize);
    }
    return [name, new ort.Tensor(graph.cacheType, target, [1, graph.heads, length, graph.headSize])];
  }

  #replaceCache(tensors: [string, ort.Tensor][]): void {
    this.#disposeCache();
    for (const [name, tensor] of tensors) this.#cache.set(name, tensor);
  }

  #clear(): void {
    const { graph } = this.#session;
    const empty = () => (graph.cacheType === 'float32' ? new Float32Array(0) : new Uint16Array(0));
    this.#replaceCache(
      graph.cache.map(({ output }) => [
        output,
        new ort.Tensor(graph.cacheType, empty(), [1, graph.heads, 0, graph.headSize]),
      ]),
    );
    this.#length = 0;
  }

  #disposeCache(): void {
    for (const tensor of this.#cache.values()) tensor.dispose();
    this.#cache.clear();
  }

  #finish(): void {
    this.#disposeCache();
    this.#onClose(this);
  }

  async #explain(thrown: unknown): Promise<Error> {
    const error = await explainFailure(thrown, this.#session.gpu?.lost ?? null);
    if (error instanceof TokenprismError) return error;
    return new TokenprismError(`The model failed to compute: ${error.message}`, {
      cause: thrown,
      code: 'forward_failed',
    });
  }
}

const emptyLogits = (width: number): Logits => ({
  rows: 0,
  width,
  buffer: null,
  read: async () => {
    throw new Error('No logits were kept for this forward pass.');
  },
  release: () => {},
});

/** The last `rows` positions of a logits tensor of shape [1, positions, width]. */
class TensorLogits implements Logits {
  readonly rows: number;
  readonly width: number;
  readonly #session: LoadedSession;
  readonly #tensor: ort.Tensor;
  readonly #first: number;
  #isReleased = false;

  constructor(session: LoadedSession, tensor: ort.Tensor, rows: number) {
    this.#session = session;
    this.#tensor = tensor;
    this.rows = rows;
    this.width = tensor.dims[2]!;
    this.#first = tensor.dims[1]! - rows;
  }

  /** The whole tensor is on the GPU only when it starts with the first row kept. */
  get buffer(): GPUBuffer | null {
    const isWhole =
      this.#first === 0 && this.#tensor.location === 'gpu-buffer' && this.#tensor.type === 'float32';
    return isWhole ? (this.#tensor.gpuBuffer as unknown as GPUBuffer) : null;
  }

  async read(row: number): Promise<Float32Array> {
    if (this.#isReleased || row < 0 || row >= this.rows)
      throw new Error(`Row ${row} of the logits is not there.`);
    const index = this.#first + row;
    const { gpu } = this.#session;
    if (gpu && this.#tensor.location === 'gpu-buffer') {
      try {
        return await gpu.reader.read(this.#tensor.gpuBuffer as unknown as GPUBuffer, index);
      } catch (thrown) {
        throw await explainFailure(thrown, gpu.lost);
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
    this.#tensor.dispose();
  }
}
