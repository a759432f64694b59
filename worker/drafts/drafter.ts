import type { Copies, Copy } from './copies.ts';
import { longestMatch } from './copies.ts';
import type { HitRates } from './hit-rates.ts';
import type { PassCosts } from './pass-costs.ts';

/** The most tokens that are drafted at once. */
const mostTokens = 24;
/** A draft must be expected to save so much: it can be wrong, and the numbers are estimates. */
const margin = 1.05;

/** What costs are known; `PassCosts`, or fixed ones. */
export type Costs = Pick<PassCosts, 'pass' | 'chosen' | 'of'>;

/** Follows a draft through a grammar: see `ChoiceConstraint.ahead`. */
export type Ahead = (next: (draft: readonly number[]) => number | null, most: number) => number[];

/** What is to be drafted for. */
export interface DraftRequest {
  /** Tokens that the next pass reads in any case. */
  unread: number;
  /** The most tokens that may be drafted. */
  room: number;
  /** Whether a token is the last one of an answer, behind which nothing is read. */
  ends(id: number): boolean;
  /** Whether what a grammar forces is read token by token too. */
  readsForced: boolean;
  ahead: Ahead;
}

/** Drafts how one choice may go on. */
export interface Drafter {
  /** The token that came. */
  take(id: number): void;
  /** Whether a draft is likely after the next token. */
  readonly isHopeful: boolean;
  /** Tokens that may come next and are worth reading with those that must be read; often none. */
  draft(request: DraftRequest): number[];
}

/** Without a grammar a draft is what comes next, as far as that goes. */
export const freely: Ahead = (next, most) => {
  const draft: number[] = [];
  while (draft.length < most) {
    const id = next(draft);
    if (id === null) break;
    draft.push(id);
  }
  return draft;
};

/**
 * Drafts what came before behind the same text (prompt-lookup decoding).
 *
 * ```
 * … {"location": "Paris", "temperature": 18} … It is in {"location": "Par
 *                 ▲ came next                                            ▲ the same 6 tokens
 * ```
 */
export class CopyDrafter implements Drafter {
  readonly #copies: Copies;
  readonly #rates: HitRates;
  readonly #costs: Costs;
  #copy: Copy | null;

  /** @param copies holds all that was read and written before the choice */
  constructor(copies: Copies, rates: HitRates, costs: Costs) {
    this.#copies = copies;
    this.#rates = rates;
    this.#costs = costs;
    this.#copy = copies.find();
  }

  take(id: number): void {
    if (this.#copy) this.#rates.record(this.#copy.length, this.#copies.at(this.#copy.at) === id);
    this.#copies.add(id);
    this.#copy = this.#copies.find();
  }

  /** One would be worth it now. */
  get isHopeful(): boolean {
    return this.#worth(1) > 0;
  }

  /** What a grammar forces between and behind the copied tokens is put in, for it is sure to follow. */
  draft({ unread, room, ends, readsForced, ahead }: DraftRequest): number[] {
    const worth = this.#worth(unread);
    if (room <= 0 || (worth === 0 && !readsForced)) return [];
    let copy = this.#copy;
    let known = 0;
    let copied = 0;
    const next = (draft: readonly number[]): number | null => {
      // What a grammar put in may lead elsewhere.
      for (; known < draft.length; known++) {
        if (copy && this.#copies.at(copy.at) === draft[known]) {
          copy = { at: copy.at + 1, length: copy.length + 1 };
        } else {
          copy = this.#copies.find(draft.slice(0, known + 1));
        }
      }
      const id = copied++ < worth && copy ? this.#copies.at(copy.at) : null;
      return id === null || ends(id) ? null : id;
    };
    return ahead(next, Math.min(room, mostTokens));
  }

  /** How many tokens give the most tokens a millisecond, if that is more than without them. */
  #worth(unread: number): number {
    const copy = this.#copy;
    if (!copy) return 0;
    // What must be read costs its time in any case, beyond that of the one token that a pass has at least.
    const spent = this.#costs.of(unread) - this.#costs.of(1);
    let best = 0;
    let bestSpeed = margin / this.#costs.of(1);
    let [reached, expected] = [1, 1];
    for (let tokens = 1; tokens <= mostTokens; tokens++) {
      reached *= this.#rates.of(Math.min(copy.length + tokens - 1, longestMatch));
      expected += reached;
      const speed = expected / (this.#costs.of(unread + tokens, expected - 1) - spent);
      if (speed > bestSpeed) [best, bestSpeed] = [tokens, speed];
    }
    return best;
  }
}
