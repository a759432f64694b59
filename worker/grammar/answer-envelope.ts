/** The tags that some families put around an answer. */
import type { AnswerWriting } from '../../src/parser/format.ts';
import type { Dispatch, EbnfGrammar } from './ebnf.ts';

/** What may stand behind content that is held to a form. */
export interface Tail {
  /** Begins it, and ends what may be any text. */
  closer: string;
  /** Expression for what follows the closer. */
  rest: string;
}

/**
 * Puts the tags around expressions. Which of them the prompt has written is not known here, so that the model may go
 * without each; families without tags get their expressions back.
 *
 * ```
 * start text end blockStart … blockEnd messageEnd
 * ```
 */
export class AnswerEnvelope {
  /** Null for families without tags. */
  readonly tail: Tail | null;
  readonly #grammar: EbnfGrammar;
  readonly #answer: AnswerWriting | null;
  readonly #start: string;
  readonly #messageEnd: string;

  constructor(grammar: EbnfGrammar, answer: AnswerWriting | null) {
    this.#grammar = grammar;
    // Where no added token spells them, they can't be told from text.
    this.#answer = answer && grammar.hasToken(answer.start) && grammar.hasToken(answer.end) ? answer : null;
    const optional = (tag: string | undefined) => (tag === undefined ? '""' : `(${grammar.markup(tag)})?`);
    this.#start = optional(this.#answer?.start);
    this.#messageEnd = optional(this.#answer?.messageEnd);
    this.tail = this.#answer && { closer: this.#answer.end, rest: this.#messageEnd };
  }

  /** Content that is held to a form, its tail included. */
  held(content: string): string {
    return this.#answer ? `${this.#start} (${content})` : content;
  }

  /** Calls that must come, behind any text where the family has them there. */
  before(calls: string): string {
    if (!this.#answer?.precedesCalls) return calls;
    return `(${this.#start} ${this.#grammar.textUntil(this.#answer.end)})? ${calls} ${this.#messageEnd}`;
  }

  /** Calls that come instead of text. */
  withoutText(calls: string): string {
    if (!this.#answer?.precedesCalls) return calls;
    return `(${this.#start} ${this.#grammar.markup(this.#answer.end)})? ${calls} ${this.#messageEnd}`;
  }

  /**
   * Any text, behind which calls may come; null for families without tags.
   *
   * @param lead what may stand before the first tag
   */
  free(lead: string, dispatches: readonly Dispatch[]): string | null {
    if (!this.#answer) return null;
    const { start, end, messageEnd } = this.#answer;
    const calls = dispatches.map(({ opener, body }) => ({ opener, body: `${body} ${this.#messageEnd}` }));
    const called = calls.map(({ opener, body }) => `${this.#grammar.markup(opener)} ${body}`);
    const text = this.#grammar.freeText(
      [
        ...calls,
        { opener: end, body: `(${[...called, this.#messageEnd].join(' | ')})` },
        ...(messageEnd === undefined ? [] : [{ opener: messageEnd, body: '""' }]),
      ],
      { isOnce: true },
    );
    return `(${lead} ${this.#grammar.markup(start)})? ${text}`;
  }
}
