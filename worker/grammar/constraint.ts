import { TokenprismError } from '../../src/errors.ts';
import type { GrammarMatcher } from './matcher.ts';
import type { AnswerCheck } from './post-check.ts';
import type { ReasoningBudget } from './reasoning-budget.ts';
import type { ReasoningGate } from './reasoning-gate.ts';
import type { SpelledEnd } from './spelled-end.ts';

export interface ChoiceConstraintOptions {
  gate: ReasoningGate;
  /** Null where only the length of the reasoning is limited. */
  matcher: GrammarMatcher | null;
  /** Tokens that may not come while the model is still thinking, a mask of all others. */
  whileThinking: Uint32Array | null;
  /** Where the end marker of the reasoning is spelled out and a grammar begins behind it. */
  spelledEnd: SpelledEnd | null;
  /** Tokens of the reasoning's end marker. */
  reasoningEnd: readonly number[];
  /** Mask of the tokens that begin with a backtick. */
  backticks(): Uint32Array;
  thinkingTokenBudget: number | null;
  /** The same budget for what comes behind the first block of reasoning, or on channels. */
  budget?: ReasoningBudget | null;
  /**
   * Text to ids, as the model's tokenizer has them. With it, text that must come is taken in these tokens where
   * others could spell it too; without it only where a single token may come.
   */
  encode: ((text: string) => readonly number[]) | null;
  /** Of what the grammar does not hold; null when it holds everything. */
  check?: AnswerCheck | null;
}

/** Where more tokens may come, no text is forced that is worth looking for. */
const MOST_SPELLINGS = 64;

/** What one choice is held to: which tokens may come next, and which one must. */
export class ChoiceConstraint {
  readonly #options: ChoiceConstraintOptions;
  /** What is left of a forced end of the reasoning. */
  #ending: number[] = [];
  #isEnding = false;
  /** Tokens of a text that must come. */
  #spelling: number[] = [];

  constructor(options: ChoiceConstraintOptions) {
    this.#options = options;
  }

  /**
   * Bit `id % 32` of word `id / 32` says whether a token may come; null lets all of them. Valid until the next call.
   * @throws TokenprismError when the grammar leaves nothing that could come
   */
  mask(): Uint32Array | null {
    const { gate, matcher } = this.#options;
    if (gate.isUndecided) return this.#maskOfEither();
    if (!gate.isOpen) return this.#maskOfThinking();
    if (matcher?.isStuck) {
      throw new TokenprismError(
        "The grammar leaves no token that could come next: the answer can't be finished in this model's tokens.",
        { code: 'grammar_stuck' },
      );
    }
    return this.#withoutReasoning(matcher?.mask() ?? null);
  }

  /** When the budget is spent, no other block of reasoning begins, unless the grammar asks for one. */
  #withoutReasoning(mask: Uint32Array | null): Uint32Array | null {
    const more = this.#options.budget?.mask() ?? null;
    if (!mask || !more) return mask ?? more;
    const both = mask.map((word, index) => word & more[index]!);
    return both.every((word) => word === 0) ? mask : both;
  }

  #maskOfThinking(): Uint32Array | null {
    const { gate, whileThinking, spelledEnd } = this.#options;
    const withheld = spelledEnd?.withheldBehind(gate.tail) ?? [];
    if (!whileThinking || withheld.length === 0) return whileThinking;
    const mask = whileThinking.slice();
    for (const id of withheld) mask[id >> 5]! &= ~(1 << (id & 31));
    return mask;
  }

  /**
   * The answer begins, or the marker that came was quoted and a backtick follows. A marker that was forced ends the
   * reasoning in any case.
   */
  #maskOfEither(): Uint32Array | null {
    const { matcher, backticks } = this.#options;
    const quotes = backticks();
    const answer = matcher?.mask() ?? new Uint32Array(quotes.length).fill(0xffffffff);
    return answer.map((word, index) => (this.#isEnding ? word & ~quotes[index]! : word | quotes[index]!));
  }

  /** The token that must come next, or null when the model has a choice. */
  forced(): number | null {
    const { gate, matcher, reasoningEnd, thinkingTokenBudget } = this.#options;
    if (gate.isOpen) return this.#endOfBudget() ?? (matcher && this.#forcedBy(matcher));
    if (!this.#isEnding && thinkingTokenBudget !== null && gate.reasoningTokens >= thinkingTokenBudget) {
      this.#isEnding = true;
      // The marker that has just come may count, if it is not taken for quoted.
      this.#ending = gate.isUndecided ? [] : [...reasoningEnd];
    }
    return this.#ending[0] ?? null;
  }

  #endOfBudget(): number | null {
    const { matcher, budget } = this.#options;
    const id = budget?.forced() ?? null;
    return id !== null && (!matcher || matcher.allows(id)) ? id : null;
  }

  #forcedBy(matcher: GrammarMatcher): number | null {
    return matcher.forced() ?? this.#spelled(matcher);
  }

  /** The next token of a text that must come. */
  #spelled(matcher: GrammarMatcher): number | null {
    const { encode } = this.#options;
    if (encode && this.#spelling.length === 0 && matcher.allowsAtMost(MOST_SPELLINGS)) {
      const [text, marker] = matcher.forcedText();
      if (typeof text === 'string') {
        this.#spelling = [...encode(text)];
        // The last one might be longer together with the text that the model chooses.
        if (marker === undefined) this.#spelling.pop();
      }
    }
    const [next] = this.#spelling;
    if (next !== undefined && matcher.allows(next)) return next;
    this.#spelling = [];
    return null;
  }

  /**
   * Takes the token that came.
   * @throws SchemaViolationError when a call has ended that breaks what the grammar does not hold
   */
  accept(id: number): void {
    this.#take(id);
    this.#options.budget?.accept(id);
    this.#options.check?.accept(id);
  }

  #take(id: number): void {
    const { gate, matcher } = this.#options;
    if (this.#spelling[0] === id) this.#spelling.shift();
    else this.#spelling = [];
    const wasUndecided = gate.isUndecided;
    if (!gate.isOpen) {
      if (this.#ending[0] === id) this.#ending.shift();
      gate.accept(id);
      if (!wasUndecided || !gate.isOpen) return;
    }
    if (matcher && !matcher.accept(id)) {
      throw new TokenprismError(`The token ${id} was drawn, which the grammar does not allow.`, {
        code: 'internal_error',
      });
    }
  }

  /**
   * What may come from here on, without taking it: tokens that must come, and where there is a choice the ones that
   * `next` gives, as far as the grammar lets them come. While the model thinks, all that `next` gives.
   *
   * @param next the token to follow `draft` with; `null` for none
   */
  ahead(next: (draft: readonly number[]) => number | null, most: number): number[] {
    const { gate, matcher } = this.#options;
    const isHeld = matcher !== null && gate.isOpen;
    const spelling = [...this.#spelling];
    const draft: number[] = [];
    let accepted = 0;
    try {
      while (draft.length < most) {
        const id = (isHeld ? this.#forcedBy(matcher) : null) ?? next(draft);
        if (id === null) break;
        if (isHeld) {
          if (!matcher.accept(id)) break;
          accepted++;
          if (this.#spelling[0] === id) this.#spelling.shift();
          else this.#spelling = [];
        }
        draft.push(id);
      }
    } finally {
      if (accepted > 0) matcher?.rollback(accepted);
      this.#spelling = spelling;
    }
    return draft;
  }

  /**
   * The model has ended its turn.
   * @throws SchemaViolationError
   */
  finish(): void {
    this.#options.check?.finish();
  }

  dispose(): void {
    this.#options.matcher?.dispose();
  }
}
