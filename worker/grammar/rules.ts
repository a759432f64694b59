/** Rules for what a request names: the arguments of a call, and the form of the content. */
import { BadRequestError } from '../../src/errors.ts';
import type { CallWriting } from '../../src/parser/format.ts';
import type { ConstrainedFunction, ContentConstraint } from '../../src/protocol.ts';
import type { Tail } from './answer-envelope.ts';
import type { EbnfGrammar } from './ebnf.ts';
import { givenGrammar } from './given-grammar.ts';
import { givenTag } from './given-tag.ts';
import type { LanguageSpec } from './guard/spec.ts';
import {
  delimitedNotation,
  jsonRule,
  keywordsRule,
  type PostCheck,
  parametersRule,
} from './json-schema/index.ts';
import { isTypeName } from './json-schema/keywords.ts';
import { pathTo, schemaError } from './json-schema/schema.ts';
import { AutomatonTooLargeError, DEAD } from './language/automaton.ts';
import { languageOf } from './language/language.ts';
import { parseRegex } from './language/regex.ts';

/** Called for each keyword that the grammar does not hold. */
export type Report = (check: PostCheck) => void;

/** Arguments in the writing of the family; an object, whatever the schema says besides. */
export function argumentsRule(
  grammar: EbnfGrammar,
  { schema, path }: ConstrainedFunction,
  writing: CallWriting['arguments'],
  report: Report,
): string {
  const object = schema === true ? { type: 'object', additionalProperties: true } : asObject(schema, path);
  const options = { path, isClosed: true, report };
  if (writing === 'json') return jsonRule(grammar, object, options);
  if (writing === 'python') return keywordsRule(grammar, object, options);
  if ('delimiter' in writing) {
    const notation = delimitedNotation(grammar, writing.delimiter, path);
    return jsonRule(grammar, object, { ...options, notation });
  }
  return parametersRule(grammar, object, writing, options);
}

/** @throws BadRequestError where the schema's type leaves no object */
function asObject(schema: unknown, path: string): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  const type: unknown = 'type' in schema ? schema.type : undefined;
  const types = Array.isArray(type) ? type : [type];
  if (type === undefined || types.includes('object')) return { ...schema, type: 'object' };
  // Any other value of "type" has an error of its own.
  if (!types.every((name) => typeof name === 'string' && isTypeName(name))) return schema;
  throw schemaError(
    'The arguments of a call are an object, which this "type" leaves out: make it "object".',
    pathTo(path, 'type'),
    'schema_unsatisfiable',
  );
}

/** The whole content, with what may stand behind it. */
export function contentRule(
  grammar: EbnfGrammar,
  content: ContentConstraint,
  report: Report,
  tail: Tail | null = null,
): string {
  const followed = (rule: string) => (tail ? `${rule} (${grammar.markup(tail.closer)} ${tail.rest})?` : rule);
  switch (content.kind) {
    case 'json':
      return followed(jsonRule(grammar, content.schema, { path: content.path, report }));
    case 'choice':
      return content.choices.length <= MOST_SPELLED
        ? followed(choiceRule(grammar, content.choices))
        : textRule(grammar, choiceLanguage(content.choices), tail);
    case 'regex':
      return textRule(grammar, regexLanguage(content.pattern, content.path), tail);
    case 'grammar':
      return followed(givenGrammar(grammar, content.source, content.path));
    case 'structural_tag':
      return followed(givenTag(grammar, content.tag, content.path));
  }
}

/** Texts that are spelled one by one; more of them are followed by a guard. */
const MOST_SPELLED = 1000;

const choiceRule = (grammar: EbnfGrammar, choices: readonly string[]): string =>
  grammar.rule('choice', choices.map((choice) => grammar.literal(choice)).join(' | '));

function choiceLanguage(choices: readonly string[]): LanguageSpec {
  const language = [[{ words: choices }]];
  try {
    languageOf(language);
  } catch (error) {
    if (!(error instanceof AutomatonTooLargeError)) throw error;
    throw new BadRequestError('The choices are too long together.', {
      code: 'grammar_too_large',
      cause: error,
    });
  }
  return language;
}

/** Text of a language up to the end of the turn, or to what may stand behind it. */
function textRule(grammar: EbnfGrammar, language: LanguageSpec, tail: Tail | null): string {
  const guard = (closer: string | null) => grammar.guard({ kind: 'text', language, closer });
  const whole = `${guard(null)} ${grammar.freeText([])}`;
  const closed = tail && `${guard(tail.closer)} ${grammar.textUntil(tail.closer)} ${tail.rest}`;
  return grammar.rule('content', closed === null ? whole : `${whole} | ${closed}`);
}

export const regexRule = (grammar: EbnfGrammar, pattern: string, path: string): string =>
  textRule(grammar, regexLanguage(pattern, path), null);

function regexLanguage(pattern: string, path: string): LanguageSpec {
  const language = [[{ pattern: `^(?:${pattern})$` }]];
  let isEmpty: boolean;
  try {
    // By itself, since `a)|(?:b` is an expression only in parentheses.
    parseRegex(pattern);
    isEmpty = languageOf(language).start === DEAD;
  } catch (error) {
    throw new BadRequestError(
      `The regular expression can't be held while text is written: ${error instanceof Error ? error.message : String(error)}.`,
      { param: path, code: 'grammar_unsupported', cause: error },
    );
  }
  if (isEmpty) {
    throw new BadRequestError(
      `No text matches the regular expression ${JSON.stringify(pattern)} as a whole: give one that some text matches.`,
      { param: path, code: 'grammar_unsatisfiable' },
    );
  }
  return language;
}
