/** Rules for what a request names: the arguments of a call, and the form of the content. */
import { BadRequestError } from '../../src/errors.ts';
import type { CallWriting } from '../../src/parser/format.ts';
import type { ConstrainedFunction, ContentConstraint } from '../../src/protocol.ts';
import type { EbnfGrammar } from './ebnf.ts';
import { ebnfPieces } from './ebnf-source.ts';
import { givenTag } from './given-tag.ts';
import {
  delimitedNotation,
  jsonRule,
  keywordsRule,
  type PostCheck,
  parametersRule,
} from './json-schema/index.ts';
import { languageOf } from './language/language.ts';

/** Called for each keyword that the grammar does not hold. */
export type Report = (check: PostCheck) => void;

/** Arguments in the writing of the family; an object, whatever the schema says besides. */
export function argumentsRule(
  grammar: EbnfGrammar,
  { schema, path }: ConstrainedFunction,
  writing: CallWriting['arguments'],
  report: Report,
): string {
  const object = schema === true ? { type: 'object', additionalProperties: true } : withObjectType(schema);
  const options = { path, isClosed: true, report };
  if (writing === 'json') return jsonRule(grammar, object, options);
  if (writing === 'python') return keywordsRule(grammar, object, options);
  if ('delimiter' in writing) {
    const notation = delimitedNotation(grammar, writing.delimiter, path);
    return jsonRule(grammar, object, { ...options, notation });
  }
  return parametersRule(grammar, object, writing, options);
}

function withObjectType(schema: unknown): unknown {
  const isOpen = typeof schema === 'object' && schema !== null && !('type' in schema);
  return isOpen ? { ...schema, type: 'object' } : schema;
}

/** The whole content. */
export function contentRule(grammar: EbnfGrammar, content: ContentConstraint, report: Report): string {
  switch (content.kind) {
    case 'json':
      return jsonRule(grammar, content.schema, { path: content.path, report });
    case 'choice':
      return grammar.rule('choice', content.choices.map((choice) => grammar.literal(choice)).join(' | '));
    case 'regex':
      return regexRule(grammar, content.pattern, content.path);
    case 'grammar':
      return givenGrammar(grammar, content.source, content.path);
    case 'structural_tag':
      return givenTag(grammar, content.tag, content.path);
  }
}

export function regexRule(grammar: EbnfGrammar, pattern: string, path: string): string {
  const language = [[{ pattern: `^(?:${pattern})$` }]];
  try {
    languageOf(language);
  } catch (error) {
    throw new BadRequestError(
      `The regular expression can't be held while text is written: ${error instanceof Error ? error.message : String(error)}`,
      { param: path, code: 'grammar_unsupported', cause: error },
    );
  }
  const guard = grammar.guard({ kind: 'text', language, closer: null });
  return grammar.rule('regex', `${guard} ${grammar.freeText([])}`);
}

/** A grammar that came with the request, its rules under names of their own. */
export function givenGrammar(grammar: EbnfGrammar, source: string, path: string): string {
  const wrong = (message: string) => new BadRequestError(message, { param: path, code: 'grammar_invalid' });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that are looked for
  if (/[\0-\u0003]|\\x0[0-3]|\\u000[0-3]/.test(source)) {
    throw wrong('A grammar can not spell the control characters U+0000 to U+0003.');
  }
  const bodies = new Map<string, string>();
  const pieces = [...ebnfPieces(source)].filter(({ kind }) => kind !== 'comment');
  let current: string | null = null;
  for (let index = 0; index < pieces.length; index++) {
    const piece = pieces[index]!;
    const next = pieces.slice(index + 1).find(({ kind }) => kind !== 'space');
    if (piece.kind === 'name' && next?.text === '::=') {
      current = piece.text;
      if (bodies.has(current)) throw wrong(`The grammar has the rule ${current} twice.`);
      bodies.set(current, '');
      index = pieces.indexOf(next);
    } else if (current !== null) {
      bodies.set(current, bodies.get(current)! + piece.text);
    } else if (piece.kind !== 'space')
      throw wrong(`The grammar begins with ${JSON.stringify(piece.text)}, not with a rule.`);
  }
  const empty = [...bodies].find(([, body]) => body.trim() === '');
  if (empty) throw wrong(`The rule ${empty[0]} of the grammar is empty; write "" for nothing.`);
  if (!bodies.has('root')) throw wrong('The grammar has no rule root, which is the whole content.');
  const names = new Map([...bodies.keys()].map((name) => [name, grammar.reserve(`given_${name}`)]));
  for (const [name, body] of bodies) {
    let renamed = '';
    for (const { kind, text } of ebnfPieces(body)) {
      if (kind === 'space') renamed += ' ';
      else renamed += kind === 'name' ? (names.get(text) ?? text) : text;
    }
    const unknown = [...ebnfPieces(body)].find(
      ({ kind, text }) => kind === 'name' && !names.has(text) && !MACROS.test(text),
    );
    if (unknown) throw wrong(`The grammar names the rule ${unknown.text}, which it does not have.`);
    grammar.define(names.get(name)!, renamed.trim());
  }
  return names.get('root')!;
}

const MACROS = /^(?:TagDispatch|stop_eos|stop_str|loop_after_dispatch|true|false)$/;
