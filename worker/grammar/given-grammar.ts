import { BadRequestError } from '../../src/errors.ts';
import type { EbnfGrammar } from './ebnf.ts';
import { classExpression, UnspellableClassError } from './ebnf-class.ts';
import { endProblem } from './ebnf-ends.ts';
import { DEEPEST, ebnfPieces, MACRO_WORDS } from './ebnf-source.ts';

/**
 * A grammar that came with the request, its rules under names of their own; the name of its root.
 *
 * @throws BadRequestError for what is no grammar, and for one with a rule that no text satisfies
 */
export function givenGrammar(grammar: EbnfGrammar, source: string, path: string): string {
  const wrong = (message: string) => new BadRequestError(message, { param: path, code: 'grammar_invalid' });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that are looked for
  if (/[\0-\u0003]|\\x0[0-3]|\\u000[0-3]/.test(source)) {
    throw wrong('A grammar can not spell the control characters U+0000 to U+0003.');
  }
  const bodies = new Map<string, string>();
  const pieces = [...ebnfPieces(source)].filter(({ kind }) => kind !== 'comment');
  let depth = 0;
  for (const { kind, text } of pieces) {
    if (kind === 'sign') depth += text === '(' ? 1 : text === ')' ? -1 : 0;
    if (depth > DEEPEST) {
      throw wrong(`The grammar has parentheses more than ${DEEPEST} deep: make them rules.`);
    }
  }
  let current: string | null = null;
  for (let index = 0; index < pieces.length; index++) {
    const piece = pieces[index]!;
    let ahead = index + 1;
    while (pieces[ahead]?.kind === 'space') ahead++;
    if (piece.kind === 'name' && pieces[ahead]?.text === '::=') {
      current = piece.text;
      if (bodies.has(current)) throw wrong(`The grammar has the rule ${current} twice.`);
      bodies.set(current, '');
      index = ahead;
    } else if (current !== null) {
      bodies.set(current, bodies.get(current)! + piece.text);
    } else if (piece.kind !== 'space')
      throw wrong(`The grammar begins with ${JSON.stringify(piece.text)}, not with a rule.`);
  }
  const empty = [...bodies].find(([, body]) => body.trim() === '');
  if (empty) throw wrong(`The rule ${empty[0]} of the grammar is empty; write "" for nothing.`);
  if (!bodies.has('root')) throw wrong('The grammar has no rule root, which is the whole content.');
  const names = new Map([...bodies.keys()].map((name) => [name, grammar.reserve(`given_${name}`)]));
  const spelledClass = (name: string, text: string) => {
    try {
      return classExpression(text);
    } catch (error) {
      if (!(error instanceof UnspellableClassError)) throw error;
      throw new BadRequestError(`In the rule ${name} of the grammar ${error.message}.`, {
        param: path,
        code: 'grammar_unsupported',
        cause: error,
      });
    }
  };
  for (const [name, body] of bodies) {
    let renamed = '';
    for (const { kind, text } of ebnfPieces(body)) {
      if (kind === 'space') renamed += ' ';
      else if (kind === 'name') renamed += names.get(text) ?? text;
      else renamed += kind === 'class' ? spelledClass(name, text) : text;
    }
    const unknown = [...ebnfPieces(body)].find(
      ({ kind, text }) => kind === 'name' && !names.has(text) && !MACRO_WORDS.has(text),
    );
    if (unknown) throw wrong(`The grammar names the rule ${unknown.text}, which it does not have.`);
    grammar.define(names.get(name)!, renamed.trim());
  }
  const problem = endProblem(bodies);
  if (problem !== null) throw wrong(problem);
  return names.get('root')!;
}
