import { BadRequestError } from '../../src/errors.ts';
import type { Backend, Logits, NextStep, Sequence } from '../backends/backend.ts';

/** Memory for the keys and values of conversations that are not running, in bytes. */
export const prefixBudget = 256 * 2 ** 20;

/**
 * Sequences of earlier requests, kept so that a request reads only what they have not read:
 *
 * ```
 * kept     system │ question │ answer │
 * prompt   system │ question │ answer │ next question      the next turn: goes on in place
 * prompt   system │ other question                         another conversation: starts from a copy of the prefix
 * ```
 *
 * One sequence is lent at a time. What does not fit the budget goes, the longest unused first.
 */
export class PrefixCache {
  readonly backend: Backend;
  readonly #budget: number;
  /** Not lent; the one used last is last. */
  readonly #kept: KnownSequence[] = [];

  /** @param budget bytes that the sequences kept may take together; the one given back last is kept whatever it takes */
  constructor(backend: Backend, budget = prefixBudget) {
    this.backend = backend;
    this.#budget = budget;
  }

  /**
   * Lends a sequence that holds as much of `prompt` as is known, though never its last token, whose logits are
   * needed. Its `length` says how much that is.
   */
  async lend(prompt: Uint32Array): Promise<KnownSequence> {
    const { canTruncate } = this.backend;
    let best: KnownSequence | null = null;
    let shared = 0;
    for (const sequence of this.#kept) {
      if (!sequence.isSound) continue;
      const common = commonLength(sequence.ids, prompt, prompt.length - 1);
      // A state that can't be cut back serves only prompts that go on from its end.
      if (common > shared && (canTruncate || common === sequence.ids.length)) {
        best = sequence;
        shared = common;
      }
    }
    if (!best) return new KnownSequence(await this.backend.open());
    if (2 * shared < best.ids.length) {
      const copy = await this.#copy(best, shared);
      if (copy) return copy;
    }
    this.#kept.splice(this.#kept.indexOf(best), 1);
    try {
      // Also where nothing is cut: the sequence learns that another request begins.
      if (canTruncate) await best.truncate(shared);
    } catch (error) {
      best.close();
      throw error;
    }
    return best;
  }

  /** Takes a sequence back; one that failed is closed. */
  giveBack(sequence: KnownSequence): void {
    if (!sequence.isSound || sequence.ids.length === 0) {
      sequence.close();
      return;
    }
    this.#dropDead();
    this.#kept.push(sequence);
    this.#evict(this.#budget, 1);
  }

  /** Closes all that are kept: what they hold may be wrong. */
  clear(): void {
    for (const sequence of this.#kept.splice(0)) sequence.close();
  }

  #dropDead(): void {
    const dead = this.#kept.filter(({ isSound }) => !isSound);
    for (const sequence of dead) {
      this.#kept.splice(this.#kept.indexOf(sequence), 1);
      sequence.close();
    }
  }

  /** `null` where there is no room beside the original, which then serves itself. */
  async #copy(original: KnownSequence, length: number): Promise<KnownSequence | null> {
    // The copy takes no more than the original; it counts before it is made.
    if (2 * original.bytes > this.#budget) return null;
    this.#kept.push(...this.#kept.splice(this.#kept.indexOf(original), 1));
    this.#evict(this.#budget - original.bytes, 1);
    try {
      return await original.copy(this.backend, length);
    } catch (error) {
      if (error instanceof BadRequestError) return null;
      throw error;
    }
  }

  #evict(budget: number, least: number): void {
    let bytes = this.#kept.reduce((sum, sequence) => sum + sequence.bytes, 0);
    while (bytes > budget && this.#kept.length > least) {
      const oldest = this.#kept.shift()!;
      bytes -= oldest.bytes;
      oldest.close();
    }
  }
}

/** A sequence, and the ids of the tokens that it holds. */
export class KnownSequence {
  readonly ids: number[] = [];
  readonly #sequence: Sequence;
  #isBusy = false;
  #hasFailed = false;

  constructor(sequence: Sequence) {
    this.#sequence = sequence;
  }

  get length(): number {
    return this.ids.length;
  }

  get bytes(): number {
    return this.#sequence.bytes;
  }

  /** False after an error, while a pass runs whose end nobody has waited for, and once its memory is another's. */
  get isSound(): boolean {
    return !this.#isBusy && !this.#hasFailed && this.#sequence.isAlive !== false;
  }

  async forward(ids: readonly number[], rows: number): Promise<Logits> {
    return this.#call(async () => {
      const logits = await this.#sequence.forward(ids, rows);
      for (const id of ids) this.ids.push(id);
      return logits;
    });
  }

  /** See {@link Sequence.next}. */
  get next(): NextStep | null {
    return this.#sequence.next ?? null;
  }

  /** Reads a token that the device has written, and that `id` tells when it was read back. */
  async forwardNext(next: NextStep, id: Promise<number>): Promise<Logits> {
    return this.#call(async () => {
      // Whatever fails, both have come to an end before the sequence is used again.
      const [logits, token] = await Promise.allSettled([next.forward(), id]);
      if (logits.status === 'rejected') throw logits.reason;
      if (token.status === 'rejected') throw token.reason;
      this.ids.push(token.value);
      return logits.value;
    });
  }

  async truncate(length: number): Promise<void> {
    return this.#call(async () => {
      await this.#sequence.truncate(length);
      this.ids.length = Math.min(this.ids.length, length);
    });
  }

  /** Only the first `length` tokens count as known; the others are cut off before the sequence is used again. */
  forget(length: number): void {
    this.ids.length = Math.min(this.ids.length, length);
  }

  async copy(backend: Backend, length: number): Promise<KnownSequence> {
    return this.#call(async () => {
      const copy = new KnownSequence(await backend.copy(this.#sequence, length));
      for (const id of this.ids.slice(0, length)) copy.ids.push(id);
      return copy;
    });
  }

  close(): void {
    this.#sequence.close();
  }

  async #call<Result>(call: () => Promise<Result>): Promise<Result> {
    this.#isBusy = true;
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof BadRequestError)) this.#hasFailed = true;
      throw error;
    } finally {
      this.#isBusy = false;
    }
  }
}

function commonLength(a: ArrayLike<number>, b: ArrayLike<number>, limit: number): number {
  const end = Math.min(a.length, b.length, limit);
  let length = 0;
  while (length < end && a[length] === b[length]) length++;
  return length;
}
