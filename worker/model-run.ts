import { BadRequestError, InvalidLogitsError } from '../src/errors.ts';
import type { TokenLogprobs } from '../src/protocol.ts';
import type { Backend, Logits, NextStep } from './backends/backend.ts';
import { KnownSequence, type PrefixCache, prefixBudget } from './cache/prefix.ts';
import type { Costs } from './drafts/drafter.ts';
import { DrawnSampler } from './sampling/drawn-sampler.ts';
import type { AnySampler } from './sampling/for-backend.ts';
import type { GpuRow } from './sampling/gpu/reducer.ts';
import { GpuSampler } from './sampling/gpu/sampler.ts';
import { logprobsOfRow, logprobsOnGpu } from './sampling/logprobs.ts';

/** How a run waits for its calls. */
export interface RunPace {
  /** Waits for a call to the backend, and not beyond its loss. */
  step<Result>(promise: Promise<Result>): Promise<Result>;
  /** Between two pieces of what is read; rejects where the request is over. */
  checkpoint(): Promise<void>;
}

/**
 * The sequence of one request and the logits of its last position. Drafts are read ahead: their logits are there when
 * their tokens come, and what has not come is cut off before anything else is read.
 *
 * ```
 *            decode([a], [b, c, d])       b comes       x comes, and not c
 * sequence   … a │ b   c   d              … a b │ c d   … a b x
 * logits         ▲ ▲   ▲   ▲                    ▲             ▲
 *                of the next token: the first row, then the second, then those of a new pass
 * ```
 */
export class ModelRun {
  readonly prompt: Uint32Array;
  /** What was done since the prompt was read. */
  readonly counts = { forwards: 0, drafted: 0, accepted: 0 };
  /** Whether the backend, and not the request, is at fault for the error that was thrown. */
  failed = false;
  /** Whether numbers came out of what was read that are none. */
  isWrong = false;
  readonly #prefixes: PrefixCache;
  readonly #backend: Backend;
  readonly #pace: RunPace;
  readonly #costs: Costs | null;
  #sequence: KnownSequence | null = null;
  #logits: Logits | null = null;
  /** Tokens that the sequence holds behind the last one that has come. */
  #ahead: number[] = [];
  #row: Float32Array | null = null;
  /** The pass whose first token is to come, and since when. */
  #measured: { tokens: number; start: number } | null = null;
  /** Since when the device has been at work on the one token ahead, which it has chosen itself. */
  #goingOn: number | null = null;

  /** @param costs are told how long passes take; `null` where nothing is drafted */
  constructor(prefixes: PrefixCache, prompt: Uint32Array, pace: RunPace, costs: Costs | null = null) {
    this.#prefixes = prefixes;
    this.#backend = prefixes.backend;
    this.prompt = prompt;
    this.#pace = pace;
    this.#costs = costs;
  }

  /** Tokens read, without those that were read ahead. */
  get length(): number {
    return (this.#sequence?.length ?? 0) - this.#ahead.length;
  }

  /** Whether drafts can be read: what does not come has to be cut off again. */
  get canDraft(): boolean {
    return this.#costs !== null && this.#backend.canTruncate;
  }

  /**
   * Gets a sequence and says how many tokens of the prompt it holds already.
   *
   * @param isEmpty it is to hold none
   */
  async open(isEmpty = false): Promise<number> {
    await this.#guard(async () => {
      this.#sequence = isEmpty
        ? new KnownSequence(await this.#backend.open())
        : await this.#prefixes.lend(this.prompt);
    });
    return this.length;
  }

  /**
   * A run of its own, which has read the same prompt but for its last token. `null` where it can't be copied, so many
   * would take too much memory, or steps that were captured would have to be captured anew for it.
   */
  async fork(count: number): Promise<ModelRun | null> {
    const sequence = this.#sequence;
    const { canTruncate, report } = this.#backend;
    if (!sequence || !canTruncate || report.decode === 'captured') return null;
    if (count * sequence.bytes > prefixBudget) return null;
    const fork = new ModelRun(this.#prefixes, this.prompt, this.#pace, this.#costs);
    try {
      await this.#guard(async () => {
        fork.#sequence = await sequence.copy(this.#backend, this.prompt.length - 1);
      });
    } catch (thrown) {
      if (thrown instanceof BadRequestError) return null;
      throw thrown;
    }
    return fork;
  }

  /** Leaves the backend to another run for a while: what was read ahead is read again. */
  async rest(): Promise<void> {
    await this.truncate();
    this.#releaseLogits();
  }

  /** Reads one token of the prompt: log probabilities of the one behind it, and of the `count` most probable ones. */
  async score(count: number, vocabularySize: number): Promise<TokenLogprobs> {
    const at = this.length;
    await this.#forward([this.prompt[at]!], 1);
    return this.logprobs(this.prompt[at + 1]!, null, count, vocabularySize);
  }

  /** @param draft tokens to read with the last piece, which has so many tokens, in case they come first */
  async prefillPiece(draft?: (piece: number) => readonly number[]): Promise<void> {
    const end = Math.min(this.length + this.#backend.prefillPiece, this.prompt.length);
    const piece = [...this.prompt.subarray(this.length, end)];
    if (end < this.prompt.length) return this.#forward(piece, 0);
    await this.#readWith(piece, draft?.(piece.length) ?? []);
  }

  /**
   * Whether tokens that came are those that were read ahead, so that the logits after them are there already. If so,
   * they count as read.
   */
  advance(ids: readonly number[]): boolean {
    if (ids.some((id, index) => this.#ahead[index] !== id)) return false;
    this.#measured = this.#goingOn === null ? null : { tokens: 1, start: this.#goingOn };
    this.#came(ids.length);
    return true;
  }

  /**
   * Reads tokens of the answer, in pieces; the logits are those after the last of them.
   *
   * @param draft tokens that are read with them, in case they come next
   */
  async decode(ids: readonly number[], draft: readonly number[] = []): Promise<void> {
    const start = performance.now();
    let known = 0;
    while (known < ids.length && this.#ahead[known] === ids[known]) known++;
    this.#came(known);
    if (this.#ahead.length > 0) await this.truncate();
    const rest = ids.slice(known);
    const { prefillPiece } = this.#backend;
    this.#measured = rest.length > prefillPiece ? null : { tokens: rest.length + draft.length, start };
    while (rest.length > prefillPiece) {
      this.counts.forwards++;
      await this.#forward(rest.splice(0, prefillPiece), 0);
      await this.#pace.checkpoint();
    }
    this.counts.forwards++;
    await this.#readWith(rest, draft);
  }

  async #readWith(ids: number[], draft: readonly number[]): Promise<void> {
    if (draft.length === 0) return this.#forward(ids, 1);
    try {
      await this.#forward([...ids, ...draft], draft.length + 1);
    } catch (thrown) {
      if (!(thrown instanceof BadRequestError)) throw thrown;
      // There is no room for the draft.
      return this.#forward(ids, 1);
    }
    this.#ahead = [...draft];
    this.counts.drafted += draft.length;
  }

  /** Resolves when the logits after the last token fed are there; until then the device may be at work. */
  async settled(): Promise<void> {
    const { reducer, sampler } = this.#backend;
    const device = reducer ?? sampler;
    await this.#guard(async () => {
      await (device ? device.settled() : this.#readRow());
    });
  }

  /**
   * The next token, chosen from the logits after the last token fed.
   *
   * @param vocabularySize tokens that may be chosen; rows can be padded beyond it
   * @param goesOn whether the device shall begin to read the token before it is known here, where it can
   */
  async choose(
    sampler: AnySampler,
    mask: Uint32Array | null,
    vocabularySize: number,
    goesOn = false,
  ): Promise<number> {
    const { tokens, start } = this.#measured ?? { tokens: 0, start: performance.now() };
    this.#measured = null;
    const id = await this.#guard(async () => {
      const read = async () => (await this.#readRow()).subarray(0, vocabularySize);
      if (sampler instanceof DrawnSampler) return sampler.next(this.#lastLogits(), mask, read);
      if (!(sampler instanceof GpuSampler)) return sampler.next(await read(), mask);
      const canGoOn = goesOn && sampler.choosesAlone && this.#ahead.length === 0;
      const next = canGoOn ? this.#sequence?.next : null;
      const chosen = sampler.next(this.#rowOnGpu(), mask, read, next?.token);
      return next ? this.#goOn(next, sampler, chosen) : chosen;
    });
    const milliseconds = performance.now() - start;
    if (tokens > 0) this.#costs?.pass(tokens, milliseconds);
    else this.#costs?.chosen(milliseconds);
    return id;
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

  /** Keeps the first `length` tokens at most, and nothing that was read ahead. */
  async truncate(length = this.length): Promise<void> {
    const sequence = this.#sequence;
    const kept = Math.min(length, this.length);
    if (!sequence || !this.#backend.canTruncate || kept >= sequence.length) return;
    this.#ahead = [];
    this.#goingOn = null;
    await this.#guard(() => sequence.truncate(kept));
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

  /** Leaves what was read to later requests, unless it may be wrong. */
  close(): void {
    this.#releaseLogits();
    const sequence = this.#sequence;
    if (!sequence) return;
    sequence.forget(this.length);
    if (this.isWrong) sequence.close();
    else this.#prefixes.giveBack(sequence);
    this.#sequence = null;
  }

  async #forward(ids: number[], rows: number): Promise<void> {
    this.#releaseLogits();
    const sequence = this.#sequence;
    if (!sequence) throw new Error('There is no sequence before open().');
    this.#logits = await this.#guard(() => sequence.forward(ids, rows));
  }

  #came(count: number): void {
    if (count === 0) return;
    this.#ahead.splice(0, count);
    if (this.#goingOn === null) this.counts.accepted += count;
    this.#goingOn = null;
    this.#row = null;
  }

  /**
   * Reads a token that is being chosen on the device, before it is known; then it counts as read ahead. Rarely it is
   * another one than the one chosen.
   */
  async #goOn(next: NextStep, sampler: GpuSampler, chosen: Promise<number>): Promise<number> {
    const sequence = this.#sequence!;
    const written = chosen.then(() => sampler.written);
    const logits = await sequence.forwardNext(next, written);
    this.#releaseLogits();
    this.#logits = logits;
    this.#ahead = [await written];
    this.#goingOn = performance.now();
    this.counts.forwards++;
    return chosen;
  }

  async #guard<Result>(call: () => Promise<Result>): Promise<Result> {
    try {
      return await this.#pace.step(call());
    } catch (thrown) {
      this.isWrong ||= thrown instanceof InvalidLogitsError;
      const isOfRequest = thrown instanceof BadRequestError || this.isWrong;
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
    const row = logits.onGpu(this.#index(logits));
    if (!row) throw new Error('The backend has a reducer, and its logits are not on the GPU.');
    return row;
  }

  /** Valid until the next forward pass. */
  async #readRow(): Promise<Float32Array> {
    const logits = this.#lastLogits();
    this.#row ??= await logits.read(this.#index(logits));
    return this.#row;
  }

  /** The row after the last token that has come. */
  #index(logits: Logits): number {
    return logits.rows - 1 - this.#ahead.length;
  }

  #releaseLogits(): void {
    this.#logits?.release();
    this.#logits = null;
    this.#row = null;
  }
}
