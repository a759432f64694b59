import { TokenprismError } from '../../src/errors.ts';
import type { GrammarMatcher } from './matcher.ts';
import type { ReasoningGate } from './reasoning-gate.ts';

export interface ChoiceConstraintOptions {
  gate: ReasoningGate;
  /** Null where only the length of the reasoning is limited. */
  matcher: GrammarMatcher | null;
  /** Tokens that may not come while the model is still thinking, a mask of all others. */
  whileThinking: Uint32Array | null;
  /** Tokens of the reasoning's end marker. */
  reasoningEnd: readonly number[];
  /** Mask of the tokens that begin with a backtick. */
  backticks(): Uint32Array;
  thinkingTokenBudget: number | null;
  /** Throws when a whole answer breaks what the grammar does not hold; null when it holds everything. */
  check?: ((ids: readonly number[]) => void) | null;
}

/** What one choice is held to: which tokens may come next, and which one must. */
export class ChoiceConstraint {
  readonly #options: ChoiceConstraintOptions;
  /** What is left of a forced end of the reasoning. */
  #ending: number[] = [];
  #isEnding = false;
  /** The answer, where it must be checked. */
  readonly #ids: number[] = [];

  constructor(options: ChoiceConstraintOptions) {
    this.#options = options;
  }

  /**
   * Bit `id % 32` of word `id / 32` says whether a token may come; null lets all of them. Valid until the next call.
   * @throws TokenprismError when the grammar leaves nothing that could come
   */
  mask(): Uint32Array | null {
    const { gate, matcher, whileThinking } = this.#options;
    if (gate.isUndecided) return this.#maskOfEither();
    if (!gate.isOpen) return whileThinking;
    if (matcher?.isStuck) {
      throw new TokenprismError(
        "The grammar leaves no token that could come next: the answer can't be finished in this model's tokens.",
        { code: 'grammar_stuck' },
      );
    }
    return matcher?.mask() ?? null;
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
    if (gate.isOpen) return matcher?.forced() ?? null;
    if (!this.#isEnding && thinkingTokenBudget !== null && gate.reasoningTokens >= thinkingTokenBudget) {
      this.#isEnding = true;
      // The marker that has just come may count, if it is not taken for quoted.
      this.#ending = gate.isUndecided ? [] : [...reasoningEnd];
    }
    return this.#ending[0] ?? null;
  }

  /** Takes the token that came. */
  accept(id: number): void {
    const { gate, matcher, check } = this.#options;
    if (check) this.#ids.push(id);
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
   * The model has ended its turn.
   * @throws SchemaViolationError
   */
  finish(): void {
    this.#options.check?.(this.#ids);
  }

  dispose(): void {
    this.#options.matcher?.dispose();
  }
}
