import { TokenprismError } from '../../src/errors.ts';
import { type Forced, type MatcherContext, MatcherPath } from './matcher-path.ts';
import { MatcherPool } from './matcher-pool.ts';

/** Paths that are followed at once. */
const MOST_PATHS = 512;

/**
 * Follows one output. One instance a choice.
 *
 * Where a text that a guard follows may begin, and something else, nothing that was written tells which of them it
 * will be. Then both are followed, as paths of their own, until one of them can't go on, or until the texts have ended:
 * then they go on as one.
 */
export class GrammarMatcher {
  readonly #context: MatcherContext;
  readonly #pool: MatcherPool;
  #paths: MatcherPath[];
  /** Paths that could not take a token, or go on as part of another; in the order in which they ended. */
  readonly #ended: MatcherPath[] = [];
  /** Tokens that were taken. */
  #length = 0;
  /** Tokens that some path may take. */
  #mask: Uint32Array;
  /** Holds it where there are several paths. */
  #union: Uint32Array | null = null;
  /** The mask is that of the current place. */
  #isFresh = false;

  constructor(context: MatcherContext) {
    this.#context = context;
    this.#pool = new MatcherPool(context.create);
    this.#paths = [MatcherPath.start({ ...context, pool: this.#pool })];
    this.#mask = this.#paths[0]!.mask;
  }

  /** True once the model's turn has ended: nothing may follow. */
  get isTerminated(): boolean {
    return this.#paths[0]!.isTerminated;
  }

  /**
   * Bit `id % 32` of word `id / 32` says whether a token may come next. The array is valid until the next call of
   * any method. Null once terminated. All zero means that the output can't be finished in these tokens: an error,
   * see `isStuck`.
   */
  mask(): Uint32Array | null {
    if (this.isTerminated) return null;
    if (!this.#isFresh) this.#refresh();
    return this.#mask;
  }

  /** No token may come, and the turn may not end either. */
  get isStuck(): boolean {
    return this.mask()?.every((word) => word === 0) ?? false;
  }

  /** The only token that may come next, or null. */
  forced(): number | null {
    const mask = this.mask();
    if (!mask) return null;
    let only = -1;
    for (let index = 0; index < mask.length; index++) {
      const word = mask[index]!;
      if (word === 0) continue;
      if (only >= 0 || (word & (word - 1)) !== 0) return null;
      only = 32 * index + (31 - Math.clz32(word));
    }
    return only < 0 ? null : only;
  }

  /** Whether a token may come next. */
  allows(id: number): boolean {
    const mask = this.mask();
    return mask !== null && ((mask[id >> 5]! >>> (id & 31)) & 1) === 1;
  }

  /** Whether no more than `most` tokens may come next. */
  allowsAtMost(most: number): boolean {
    let left = most;
    for (let word of this.mask() ?? []) {
      for (; word !== 0; word &= word - 1) if (--left < 0) return false;
    }
    return true;
  }

  /** What must come next, whatever the tokens. Empty inside of guarded texts. */
  forcedText(): Forced[] {
    const isOne = this.mask() !== null && this.#paths.length === 1;
    return isOne ? this.#paths[0]!.forcedText() : [];
  }

  /** Takes a token. False, and nothing happens, when it may not come. */
  accept(id: number): boolean {
    const { vocabulary, withheld, specs } = this.#context;
    if (!Number.isInteger(id) || id < 0 || id >= vocabulary.width) return false;
    if (this.isTerminated || withheld.has(id)) return false;
    // Guards decide by the mask.
    const isGuarded = specs.length > 0;
    if (isGuarded && !this.allows(id)) return false;
    const taken: MatcherPath[] = [];
    const ended: MatcherPath[] = [];
    for (const path of this.#paths)
      ((!isGuarded || path.allows(id)) && path.accept(id) ? taken : ended).push(path);
    if (taken.length === 0) return false;
    this.#paths = taken;
    for (const path of ended) this.#end(path);
    this.#length++;
    this.#isFresh = false;
    return true;
  }

  /** Takes back the last `count` tokens. */
  rollback(count: number): void {
    if (count === 0) return;
    if (count > this.#length) throw new RangeError(`Only ${this.#length} tokens were accepted.`);
    this.#length -= count;
    const paths = this.#paths;
    while (this.#ended.length > 0 && this.#ended.at(-1)!.length >= this.#length)
      paths.push(this.#ended.pop()!);
    this.#paths = [];
    for (const path of paths) {
      // It would begin again.
      if (path.born > this.#length) path.release();
      else {
        path.rollbackTo(this.#length);
        this.#paths.push(path);
      }
    }
    this.#isFresh = false;
  }

  dispose(): void {
    for (const path of this.#paths) path.release();
    this.#pool.dispose();
  }

  #end(path: MatcherPath): void {
    path.release();
    this.#ended.push(path);
  }

  /** @throws TokenprismError for more paths than can be followed */
  #refresh(): void {
    this.#join();
    const paths = this.#paths;
    // Some are added on the way.
    for (const path of paths) {
      paths.push(...path.settle());
      if (paths.length <= MOST_PATHS) continue;
      throw new TokenprismError(
        'The grammar can be read in too many ways here: give alternatives that begin alike a property of their own to tell them by, and declare it first.',
        { code: 'grammar_ambiguous' },
      );
    }
    const [{ mask }, ...others] = this.#paths as [MatcherPath, ...MatcherPath[]];
    if (others.length === 0) this.#mask = mask;
    else {
      this.#union ??= new Uint32Array(mask.length);
      this.#union.set(mask);
      for (const { mask: more } of others) {
        for (let index = 0; index < more.length; index++) this.#union[index]! |= more[index]!;
      }
      this.#mask = this.#union;
    }
    this.#isFresh = true;
  }

  /** Makes one path of those that can go on as one. */
  #join(): void {
    const kept: MatcherPath[] = [];
    for (const path of this.#paths) {
      let whole = path;
      for (let index = 0; index < kept.length; index++) {
        const other = kept[index]!;
        const joined = other.joined(whole);
        if (!joined) continue;
        for (const part of [other, whole]) if (part !== joined) this.#end(part);
        whole = joined;
        kept.splice(index, 1);
        // It may now be joined with one that it could not be joined with before.
        index = -1;
      }
      kept.push(whole);
    }
    this.#paths = kept;
  }
}
