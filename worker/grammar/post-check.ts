/** What a grammar does not hold of a schema is checked when the answer is there. */
import { SchemaViolationError } from '../../src/errors.ts';
import {
  createParser,
  heldFormat,
  type MessageFormat,
  type Parser,
  type ParserEvent,
  type TokenReader,
} from '../../src/parser/index.ts';
import type { Constraint } from '../../src/protocol.ts';
import { validateJson } from './json-schema/index.ts';

export interface PostCheckOptions {
  constraint: Constraint;
  format: MessageFormat;
  vocabulary: TokenReader;
  promptTokenIds: ArrayLike<number>;
  templateArguments: Readonly<Record<string, unknown>>;
  continues?: 'reasoning' | 'content' | null;
}

/**
 * Reads an answer as the page does and validates each call as soon as it has ended, before anybody gets its last
 * token, and the content when the turn has ended.
 */
export class AnswerCheck {
  readonly #options: PostCheckOptions;
  readonly #parser: Parser;
  readonly #calls: { name: string; json: string }[] = [];
  #text = '';

  constructor(options: PostCheckOptions) {
    const { constraint, format, vocabulary, templateArguments, promptTokenIds, continues } = options;
    const functions = constraint.calls?.functions ?? [];
    this.#options = options;
    this.#parser = createParser({
      format: heldAnswer(constraint, format),
      vocabulary,
      templateArguments,
      prompt: { ids: promptTokenIds },
      continues,
      tools: functions.map(({ name, schema }) => ({
        name,
        parameters: schema === true ? undefined : schema,
      })),
    });
  }

  /** @throws SchemaViolationError that names the keyword and its place in the value of the call that has ended */
  accept(id: number): void {
    this.#take(this.#parser.feed({ ids: [id] }));
  }

  /** @throws SchemaViolationError that names the keyword and its place in the value */
  finish(): void {
    this.#take(this.#parser.finish('stop'));
    const { content } = this.#options.constraint;
    if (content?.kind === 'json' && this.#calls.length === 0) {
      check(content.schema, this.#text, content.path, 'The answer');
    }
  }

  #take(events: readonly ParserEvent[]): void {
    for (const event of events) {
      if (event.type === 'content') this.#text += event.text;
      else if (event.type === 'call-start') this.#calls.push({ name: event.name, json: '' });
      else if (event.type === 'call-arguments') this.#calls[event.index]!.json += event.text;
      else if (event.type === 'call-end') this.#checkCall(this.#calls[event.index]!);
    }
  }

  #checkCall({ name, json }: { name: string; json: string }): void {
    const called = this.#options.constraint.calls?.functions.find((candidate) => candidate.name === name);
    if (called) check(called.schema, json, called.path, `The arguments of the call of "${name}"`);
  }
}

/** The format as the page reads what a grammar leads. */
export function heldAnswer({ calls, content }: Constraint, format: MessageFormat): MessageFormat {
  return heldFormat(
    format,
    { calls: calls !== null, content: content !== null },
    calls?.functions.map(({ name }) => name),
  );
}

function check(schema: unknown, json: string, path: string, what: string): void {
  const violation = validateJson(schema, JSON.parse(json), path);
  if (!violation) return;
  throw new SchemaViolationError(
    `${what} breaks "${violation.keyword}" of ${path} at ${violation.at}; a grammar can't hold the model to this keyword. Ask again, or with another seed.`,
    { param: path, code: 'schema_violation' },
  );
}
