/** What a grammar does not hold of a schema is checked when the answer is there. */
import { SchemaViolationError } from '../../src/errors.ts';
import { createParser, heldFormat, type MessageFormat, type TokenReader } from '../../src/parser/index.ts';
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
 * Reads a whole answer as the page does and validates its calls and its content.
 *
 * @throws SchemaViolationError that names the keyword and its place in the value
 */
export function checkAnswer(ids: readonly number[], options: PostCheckOptions): void {
  const { calls, content } = options.constraint;
  const functions = calls?.functions ?? [];
  const parser = createParser({
    format: heldFormat(
      options.format,
      { calls: calls !== null, content: content !== null },
      functions.map(({ name }) => name),
    ),
    vocabulary: options.vocabulary,
    templateArguments: options.templateArguments,
    prompt: { ids: options.promptTokenIds },
    continues: options.continues,
    tools: functions.map(({ name, schema }) => ({ name, parameters: schema === true ? undefined : schema })),
  });
  const made: { name: string; json: string; isWhole: boolean }[] = [];
  let text = '';
  for (const event of [...parser.feed({ ids }), ...parser.finish('stop')]) {
    if (event.type === 'content') text += event.text;
    else if (event.type === 'call-start') made.push({ name: event.name, json: '', isWhole: false });
    else if (event.type === 'call-arguments') made[event.index]!.json += event.text;
    else if (event.type === 'call-end') made[event.index]!.isWhole = true;
  }
  for (const { name, json, isWhole } of made) {
    const called = functions.find((candidate) => candidate.name === name);
    if (called && isWhole) check(called.schema, json, called.path, `The arguments of the call of "${name}"`);
  }
  if (content?.kind === 'json' && made.length === 0) check(content.schema, text, content.path, 'The answer');
}

function check(schema: unknown, json: string, path: string, what: string): void {
  const violation = validateJson(schema, JSON.parse(json), path);
  if (!violation) return;
  throw new SchemaViolationError(
    `${what} breaks "${violation.keyword}" of ${path} at ${violation.at}; a grammar can't hold the model to this keyword. Ask again, or with another seed.`,
    { param: path, code: 'schema_violation' },
  );
}
