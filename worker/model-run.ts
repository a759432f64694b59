import { BadRequestError, InvalidLogitsError } from '../src/errors.ts';
import type { TokenLogprobs } from '../src/protocol.ts';
import type { Backend, Logits } from './backends/backend.ts';
import { KnownSequence, type PrefixCache } from './cache/prefix.ts';
import type { GpuRow } from './sampling/gpu/reducer.ts';
import { GpuSampler } from './sampling/gpu/sampler.ts';
import { logprobsOfRow, logprobsOnGpu } from './sampling/logprobs.ts';
import type { Sampler } from './sampling/sampler.ts';

/** The sequence of one request and the logits of its last position. */
export class ModelRun {
  readonly prompt: Uint32Array;
  /** Whether the backend, and not the request, is at fault for the error that was thrown. */
  failed = false;
  readonly #prefixes: PrefixCache;
  readonly #backend: Backend;
  readonly #step: <Result>(promise: Promise<Result>) => Promise<Result>;
  #sequence: KnownSequence | null = null;
  #logits: Logits | null = null;
  #row: Float32Array | null = null;

  constructor(
    prefixes: PrefixCache,
    prompt: Uint32Array,
    step: <Result>(promise: Promise<Result>) => Promise<Result>,
  ) {
    this.#prefixes = prefixes;
    this.#backend = prefixes.backend;
    this.prompt = prompt;
    this.#step = step;
  }

  /** Tokens held. */
  get length(): number {
    return this.#sequence?.length ?? 0;
  }

  /** Gets a sequence and says how many tokens of the prompt it holds already. */
  async open(): Promise<number> {
    await this.#guard(async () => {
      this.#sequence = await this.#prefixes.lend(this.prompt);
    });
    return this.length;
  }

  async prefillPiece(): Promise<void> {
    const end = Math.min(this.length + this.#backend.prefillPiece, this.prompt.length);
    await this.#forward([...this.prompt.subarray(this.length, end)], end === this.prompt.length ? 1 : 0);
  }

  /** Reads tokens of the answer, in pieces; the logits are those after the last of them. */
  async decode(ids: readonly number[]): Promise<void> {
    const { prefillPiece } = this.#backend;
    for (let from = 0; from < ids.length; from += prefillPiece) {
      const end = Math.min(from + prefillPiece, ids.length);
      await this.#forward(ids.slice(from, end), end === ids.length ? 1 : 0);
    }
  }

  /** Resolves when the logits after the last token fed are there; until then the device may be at work. */
  async settled(): Promise<void> {
    const { reducer } = this.#backend;
    await (reducer ? this.#guard(() => reducer.settled()) : this.#guard(() => this.#readRow()));
  }

  /**
   * The next token, chosen from the logits after the last token fed.
   *
   * @param vocabularySize tokens that may be chosen; rows can be padded beyond it
   */
  async choose(
    sampler: Sampler | GpuSampler,
    mask: Uint32Array | null,
    vocabularySize: number,
  ): Promise<number> {
    return this.#guard(async () => {
      const read = async () => (await this.#readRow()).subarray(0, vocabularySize);
      if (!(sampler instanceof GpuSampler)) return sampler.next(await read(), mask);
      return sampler.next(this.#rowOnGpu(), mask, read);
    });
  }

  /**
   * Log probabilities of the token `id`, and of the `count` most probable ones, after the last token fed.
   *
   * @param mask what a grammar lets come; `null` where all may
   * @param vocabularySize tokens that may be chosen; rows can be padded beyond it
   */
  async logprobs(
    id: number,
    mask: Uint32Array | null,
    count: number,
    vocabularySize: number,
  ): Promise<TokenLogprobs> {
    return this.#guard(async () => {
      const { reducer } = this.#backend;
      const read = async () => (await this.#readRow()).subarray(0, vocabularySize);
      return reducer
        ? logprobsOnGpu(reducer, this.#rowOnGpu(), mask, id, count, read)
        : logprobsOfRow(await read(), mask, id, count);
    });
  }

  async truncate(length: number): Promise<void> {
    const sequence = this.#sequence;
    if (!sequence || !this.#backend.canTruncate || length >= sequence.length) return;
    await this.#guard(() => sequence.truncate(length));
  }

  /** Back to before the last token of the prompt, or to nothing where the backend can't cut. */
  async rewind(): Promise<void> {
    this.#releaseLogits();
    if (this.#backend.canTruncate) return this.truncate(this.prompt.length - 1);
    this.#sequence?.close();
    this.#sequence = null;
    await this.#guard(async () => {
      this.#sequence = new KnownSequence(await this.#backend.open());
    });
  }

  /** Leaves what was read to later requests. */
  close(): void {
    this.#releaseLogits();
    if (this.#sequence) this.#prefixes.giveBack(this.#sequence);
    this.#sequence = null;
  }

  async #forward(ids: number[], rows: number): Promise<void> {
    this.#releaseLogits();
    const sequence = this.#sequence;
    if (!sequence) throw new Error('There is no sequence before open().');
    this.#logits = await this.#guard(() => sequence.forward(ids, rows));
  }

  async #guard<Result>(call: () => Promise<Result>): Promise<Result> {
    try {
      return await this.#step(call());
    } catch (thrown) {
      const isOfRequest = thrown instanceof BadRequestError || thrown instanceof InvalidLogitsError;
      if (!isOfRequest) this.failed = true;
      throw thrown;
    }
  }

  #lastLogits(): Logits {
    if (!this.#logits) throw new Error('There are no logits before a forward pass.');
    return this.#logits;
  }

  #rowOnGpu(): GpuRow {
    const logits = this.#lastLogits();
    const row = logits.onGpu(logits.rows - 1);
    if (!row) throw new Error('The backend has a reducer, and its logits are not on the GPU.');
    return row;
  }

  /** Valid until the next forward pass. */
  async #readRow(): Promise<Float32Array> {
    const logits = this.#lastLogits();
    this.#row ??= await logits.read(logits.rows - 1);
    return this.#row;
  }

  #releaseLogits(): void {
    this.#logits?.release();
    this.#logits = null;
    this.#row = null;
  }
}
