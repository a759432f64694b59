/** The structural tag of a request: calls in the envelope that the family writes, or free text around them. */
import { BadRequestError } from '../../src/errors.ts';
import { type CallWriting, DIGITS, type MessageFormat } from '../../src/parser/format.ts';
import type { Constraint } from '../../src/protocol.ts';
import { AnswerEnvelope } from './answer-envelope.ts';
import type { Dispatch, EbnfGrammar } from './ebnf.ts';
import { argumentsRule, contentRule, type Report } from './rules.ts';

/**
 * White space that models put between their reasoning and what follows; without reasoning it would be content, and
 * so it would where content may begin with white space of its own: JSON never does.
 */
const LEAD = '[\\n]{0,2}';

/**
 * The grammar of an answer from its first token after the reasoning.
 *
 * @param followsReasoning whether the model itself ends its reasoning before
 * @param report called for each keyword of a schema that the grammar does not hold
 * @returns the root expression, or null when the answer is free
 * @throws BadRequestError for a format whose calls can't be written by a grammar, and for schemas
 */
export function structuralTag(
  grammar: EbnfGrammar,
  format: MessageFormat,
  constraint: Constraint,
  followsReasoning: boolean,
  report: Report,
): string | null {
  if (format.channels) return channelTag(grammar, format.channels, constraint, report);
  const { calls, content } = constraint;
  const hasLayout = content === null || content.kind === 'json';
  const lead = followsReasoning && hasLayout ? LEAD : '""';
  const envelope = new AnswerEnvelope(grammar, format.answer ?? null);
  const body = content && envelope.held(contentRule(grammar, content, report, envelope.tail));
  if (!calls) return body && `${lead} ${body}`;
  const writing = format.tools?.writing ?? null;
  if (!writing) {
    throw new BadRequestError(
      `Calls in the format "${format.tools?.name ?? 'none'}" can't be held to a grammar: use tool_choice "auto" without strict tools.`,
      { param: 'tool_choice', code: 'unsupported_value' },
    );
  }
  const run = new CallRun(grammar, writing, calls, report);
  if (calls.choice !== 'auto') return `${lead} ${envelope.before(run.alone())}`;
  if (body) return `${lead} (${body} | ${envelope.withoutText(run.alone())})`;
  const dispatches = run.dispatches();
  return envelope.free(lead, dispatches) ?? grammar.freeText(dispatches, { isOnce: !calls.parallel });
}

type Calls = NonNullable<Constraint['calls']>;

/** Functions that the choice admits. */
function admitted({ choice, functions }: Calls): Calls['functions'] {
  return typeof choice === 'string' ? functions : functions.filter(({ name }) => name === choice.name);
}

/** One call or several, with the block around them. */
class CallRun {
  readonly #grammar: EbnfGrammar;
  readonly #writing: CallWriting;
  readonly #functions: Calls['functions'];
  readonly #isSingle: boolean;
  readonly #report: Report;

  constructor(grammar: EbnfGrammar, writing: CallWriting, calls: Calls, report: Report) {
    this.#report = report;
    this.#grammar = grammar;
    this.#writing = writing;
    this.#functions = admitted(calls);
    this.#isSingle = !calls.parallel || typeof calls.choice === 'object';
  }

  /** The whole run. */
  alone(): string {
    const { lead = '', blockStart, blockEnd } = this.#writing;
    const before = lead === '' ? '' : `(${this.#text(lead)})? `;
    return `${before}${this.#text(blockStart)} ${this.#run()} ${this.#text(blockEnd)}`;
  }

  /** What begins a run in free text, with what follows then. */
  dispatches(): Dispatch[] {
    const { blockStart, blockEnd, trigger } = this.#writing;
    const end = this.#text(blockEnd);
    if (typeof trigger !== 'string') {
      // The name has been written, and what stands before it.
      const more = this.#grammar.rule('more', `${this.#more()} ${end}`);
      return this.#functions.map((called) => {
        const opener = trigger(called.name);
        const begun = opener.slice(blockStart.length);
        return { opener, body: `${this.#call([called], begun)} ${more}` };
      });
    }
    if (blockStart === '') return [{ opener: trigger, body: this.#call(this.#functions, trigger) }];
    const rest = this.#text(blockStart.slice(trigger.length));
    return [{ opener: trigger, body: `${rest} ${this.#run()} ${end}` }];
  }

  /** Calls with what stands between them. */
  #run(): string {
    return `${this.#call(this.#functions, '')} ${this.#more()}`;
  }

  /** Calls behind the first, each behind what stands between them. */
  #more(): string {
    if (this.#isSingle) return '""';
    return `(${this.#text(this.#writing.separator)} ${this.#call(this.#functions, '')})*`;
  }

  /** One call of any of the functions, of which `begun` is written already. */
  #call(functions: Calls['functions'], begun: string): string {
    const calls = functions.map((called) => {
      const { callStart, callEnd } = this.#writing;
      const parts = callStart(called.name).map((part, index) => {
        if (part === DIGITS) return '[0-9]{1,3}';
        return this.#text(index === 0 ? part.slice(begun.length) : part);
      });
      const body = `${parts.join(' ')} ${this.#arguments(called)} ${this.#text(callEnd)}`;
      return this.#grammar.rule(`call_${called.name}`, body);
    });
    return this.#grammar.rule('call', calls.join(' | '));
  }

  /** Made once: rules that name themselves have names of their own each time. */
  #arguments(called: Calls['functions'][number]): string {
    return this.#grammar.once(`arguments of ${called.name}`, () =>
      argumentsRule(this.#grammar, called, this.#writing.arguments, this.#report),
    );
  }

  #text(text: string): string {
    return text === '' ? '""' : this.#grammar.markup(text);
  }
}

/**
 * Channels: reasoning and preambles, then a call or the final message. The model's end of turn closes the last one.
 */
function channelTag(
  grammar: EbnfGrammar,
  { writing }: NonNullable<MessageFormat['channels']>,
  { calls, content }: Constraint,
  report: Report,
): string | null {
  if (!calls && !content) return null;
  const message = (start: string) =>
    `${grammar.markup(start)} ${grammar.textUntil(writing.end)} ${grammar.markup(writing.next)}`;
  const thought = message(writing.reasoningStart);
  const alternatives: string[] = [];
  if (calls) {
    const callEnd = writing.callEnd ? grammar.markup(writing.callEnd) : '""';
    for (const called of admitted(calls)) {
      const start = grammar.markup(writing.callStart(called.name));
      alternatives.push(
        grammar.rule(
          `call_${called.name}`,
          `${start} ${argumentsRule(grammar, called, 'json', report)} ${callEnd}`,
        ),
      );
    }
  }
  if (calls?.choice === 'auto' && !content) {
    alternatives.push(`${grammar.markup(writing.contentStart)} ${grammar.freeText([])}`);
  }
  const preamble = message(writing.preambleStart);
  const answers =
    alternatives.length > 0
      ? [
          `${grammar.rule('before', `${thought} | ${preamble}`)}* (${grammar.rule('message', alternatives.join(' | '))})`,
        ]
      : [];
  if (content) {
    const start = content.kind === 'json' ? writing.constrainedStart : writing.contentStart;
    // Where the content has a form, a preamble would not be of it.
    answers.push(
      `${grammar.rule('thought', thought)}* ${grammar.markup(start)} ${contentRule(grammar, content, report)}`,
    );
  }
  return answers.join(' | ');
}
