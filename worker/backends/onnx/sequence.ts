import * as ort from 'onnxruntime-web/webgpu';
import { BadRequestError, TokenprismError } from '../../../src/errors.ts';
import type { Logits, NextStep, Sequence } from '../backend.ts';
import type { KeyValueCache } from './cache.ts';
import { noLogits, TensorLogits } from './logits.ts';
import { explainFailure } from './reader.ts';
import { exclusive } from './runtime.ts';
import type { LoadedSession } from './session.ts';
import { StaticCache } from './static-cache.ts';

/** One sequence: its KV cache and how many tokens of it are held. */
export class CachedSequence implements Sequence {
  readonly #session: LoadedSession;
  readonly #onClose: (sequence: CachedSequence) => void;
  readonly #cache: KeyValueCache;
  #length: number;
  #isRunning = false;
  #isClosed = false;

  /** @param cache holds `length` tokens */
  constructor(
    session: LoadedSession,
    cache: KeyValueCache,
    length: number,
    onClose: (sequence: CachedSequence) => void,
  ) {
    this.#session = session;
    this.#cache = cache;
    this.#length = length;
    this.#onClose = onClose;
  }

  get length(): number {
    return this.#length;
  }

  get bytes(): number {
    return this.#isClosed ? 0 : this.#cache.bytes;
  }

  get next(): NextStep | null {
    const { stepFeeds } = this.#session;
    const cache = this.#cache;
    if (!stepFeeds || !(cache instanceof StaticCache) || this.#length >= cache.capacity) return null;
    return { token: stepFeeds.token, forward: () => this.#forward([null], 1) };
  }

  async forward(ids: readonly number[], rows = 1): Promise<Logits> {
    return this.#forward(ids, rows);
  }

  /** @param ids `[null]`: the token that the device has written */
  async #forward(ids: readonly number[] | [null], rows: number): Promise<Logits> {
    const { graph, capacity, gpu } = this.#session;
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
    this.#isRunning = true;
    try {
      await this.#cache.reserve(total, this.#length);
      const logits = await this.#run(ids, total, rows);
      this.#length = total;
      if (rows > 0) return logits;
      logits.release();
      // Else a long prompt would be queued whole, and an abort had to wait for all of it.
      await gpu?.device.queue.onSubmittedWorkDone();
      return noLogits(graph.width);
    } catch (thrown) {
      if (thrown instanceof BadRequestError) throw thrown;
      this.#isClosed = true;
      throw await this.#explain(thrown);
    } finally {
      this.#isRunning = false;
      if (this.#isClosed) this.#finish();
    }
  }

  async truncate(length: number): Promise<void> {
    this.#assertUsable();
    const kept = Math.max(0, length);
    if (kept >= this.#length) return;
    this.#cache.truncate(this.#length, kept);
    this.#length = kept;
  }

  /** A cache with the first `length` tokens of this one. */
  async copyCache(length: number): Promise<KeyValueCache> {
    this.#assertUsable();
    return this.#cache.copy(this.#length, length);
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

  async #run(ids: readonly number[] | [null], total: number, rows: number): Promise<TensorLogits> {
    const { graph, gpu, logits: shared } = this.#session;
    const isShared = shared !== null && rows <= 1;
    const isStep = ids.length === 1 && isShared;
    const output = await exclusive(async () => {
      if (isStep && (await this.#replay(ids[0]!))) return shared;
      const feeds = isStep ? this.#stepFeeds(ids[0]!) : null;
      return this.#runSession(
        feeds ?? this.#feeds(ids as readonly number[], total, rows),
        isShared ? shared : null,
        this.#session.runOptions,
      );
    });
    const logits = new TensorLogits(output, graph.keepsRows ? Math.max(1, rows) : rows, gpu, isShared);
    // The shared tensor holds other values now than when the last ones were handed out.
    this.#session.lastLogits?.release();
    this.#session.lastLogits = isShared ? logits : null;
    return logits;
  }

  /** The logits' tensor, which is `given` where one is. */
  async #runSession(
    feeds: Record<string, ort.Tensor>,
    given: ort.Tensor | null,
    options: ort.InferenceSession.RunOptions,
  ): Promise<ort.Tensor> {
    const inputs = { ...this.#cache.pasts, ...feeds };
    const outputs = { ...this.#cache.presents, logits: given };
    const written = await this.#session.session.run(inputs, outputs, options);
    this.#cache.written(written);
    return written.logits!;
  }

  /** A step from a captured graph; false where there is none and there won't be one. */
  async #replay(id: number | null): Promise<boolean> {
    const { captured, logits } = this.#session;
    const cache = this.#cache;
    if (!captured || !(cache instanceof StaticCache)) return false;
    return captured.run(cache, id, this.#length, async (feeds, options) => {
      await this.#runSession(feeds, logits, options);
    });
  }

  /** Of one token, from buffers that stay; the runtime reads the total length on the CPU. */
  #stepFeeds(id: number | null): Record<string, ort.Tensor> | null {
    const { stepFeeds, graph } = this.#session;
    if (!stepFeeds) return null;
    stepFeeds.write(id, this.#length);
    const total = new ort.Tensor('int32', Int32Array.of(this.#length + 1), []);
    return { ...stepFeeds.tensors, [graph.edits.lengths!.total]: total };
  }

  /** Of any number of tokens, made in memory. */
  #feeds(ids: readonly number[], total: number, rows: number): Record<string, ort.Tensor> {
    const { graph } = this.#session;
    const { edits } = graph;
    const longs = (values: Iterable<bigint>, dims: number[]) =>
      new ort.Tensor('int64', BigInt64Array.from(values), dims);
    const feeds: Record<string, ort.Tensor> = {
      input_ids: longs(ids.map(BigInt), [1, ids.length]),
    };
    if (edits.lengths) {
      feeds[edits.lengths.last] = new ort.Tensor('int32', Int32Array.of(total - 1), [1]);
      feeds[edits.lengths.total] = new ort.Tensor('int32', Int32Array.of(total), []);
    } else {
      feeds.attention_mask = new ort.Tensor('int64', new BigInt64Array(total).fill(1n), [1, total]);
    }
    if (graph.hasPositions) {
      feeds.position_ids = longs(
        ids.map((_, index) => BigInt(this.#length + index)),
        [1, ids.length],
      );
    }
    const kept = Math.max(1, rows);
    if (graph.keepInput !== null) feeds[graph.keepInput] = longs([BigInt(kept)], []);
    if (edits.rows !== null) {
      const first = ids.length - kept;
      feeds[edits.rows] = longs(
        Array.from({ length: kept }, (_, row) => BigInt(first + row)),
        [kept],
      );
    }
    return feeds;
  }

  #finish(): void {
    this.#cache.dispose();
    this.#onClose(this);
  }

  async #explain(thrown: unknown): Promise<Error> {
    const error = await explainFailure(thrown, this.#session.gpu?.fault ?? null);
    if (error instanceof TokenprismError) return error;
    return new TokenprismError(`The model failed to compute: ${error.message}`, {
      cause: thrown,
      code: 'forward_failed',
    });
  }
}
