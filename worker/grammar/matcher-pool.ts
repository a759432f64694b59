import type { XgrammarMatcher } from 'virtual:xgrammar';

/** A token of the output with the signals that were taken behind it; never changed. */
export interface Taken {
  /** Null at the start, which has no token. */
  readonly before: Taken | null;
  /** Ids as xgrammar takes them. */
  readonly ids: readonly number[];
  /** Tokens up to here. */
  readonly length: number;
}

/** Matchers that nobody uses are kept: most of what another path has taken, it has taken, too. */
const MOST_KEPT = 32;

/** Matchers of xgrammar for the paths of one output. */
export class MatcherPool {
  readonly #create: () => XgrammarMatcher;
  /** With what they have taken. */
  readonly #kept: { matcher: XgrammarMatcher; taken: Taken | null }[] = [];

  /** @param create makes a matcher before the first token */
  constructor(create: () => XgrammarMatcher) {
    this.#create = create;
  }

  /** A matcher that has taken this. */
  take(wanted: Taken): XgrammarMatcher {
    const { matcher, taken } = this.#kept.pop() ?? { matcher: this.#create(), taken: null };
    let undone = 0;
    const missing: Taken[] = [];
    let [kept, next]: [Taken | null, Taken | null] = [taken, wanted];
    while (kept !== next) {
      const [keptLength, nextLength] = [kept?.length ?? -1, next?.length ?? -1];
      if (keptLength >= nextLength) {
        undone += kept!.ids.length;
        kept = kept!.before;
      }
      if (nextLength >= keptLength) {
        missing.push(next!);
        next = next!.before;
      }
    }
    if (undone > 0) matcher.Rollback(undone);
    for (const { ids } of missing.reverse()) for (const id of ids) matcher.AcceptToken(id, false);
    return matcher;
  }

  /** Gives a matcher back. */
  give(matcher: XgrammarMatcher, taken: Taken): void {
    if (this.#kept.length < MOST_KEPT) this.#kept.push({ matcher, taken });
    else matcher.delete();
  }

  dispose(): void {
    for (const { matcher } of this.#kept.splice(0)) matcher.delete();
  }
}
