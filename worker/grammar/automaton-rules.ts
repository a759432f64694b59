import type { EbnfGrammar } from './ebnf.ts';
import { type Automaton, DEAD } from './language/automaton.ts';

/** Characters that rules of an automaton read: no more are asked for so far. */
const PRINTABLE = Array.from({ length: 0x7f - 0x20 }, (_, index) => String.fromCharCode(0x20 + index));

/**
 * Rules for the texts of an automaton over printable ASCII characters, a rule a state. No two alternatives begin
 * alike, as it is with automata.
 *
 * @returns the expression of a whole text
 */
export function automatonRules(grammar: EbnfGrammar, hint: string, automaton: Automaton): string {
  const expressions = new Map<number, string>();
  const expression = (state: number): string => {
    const known = expressions.get(state);
    if (known !== undefined) return known;
    const edges = new Map<number, string>();
    for (const character of PRINTABLE) {
      const target = automaton.step(state, character.charCodeAt(0));
      if (target !== DEAD) edges.set(target, (edges.get(target) ?? '') + character);
    }
    const isFinal = automaton.accepting[state] === 1;
    const own = edges.get(state);
    if (edges.size === 0 || (own !== undefined && edges.size === 1 && isFinal)) {
      const simple = own === undefined ? '' : `${oneOf(own)}*`;
      expressions.set(state, simple);
      return simple;
    }
    const name = grammar.reserve(hint);
    expressions.set(state, name);
    const alternatives = [...edges].map(
      ([target, characters]) => `${oneOf(characters)} ${expression(target)}`,
    );
    if (isFinal) alternatives.push('""');
    grammar.define(name, alternatives.join(' | '));
    return name;
  };
  return expression(0) || '""';
}

/** A class of characters, with ranges where they follow each other. */
function oneOf(characters: string): string {
  const codes = Array.from(characters, (character) => character.charCodeAt(0));
  let ranges = '';
  for (let at = 0; at < codes.length; ) {
    let last = at;
    while (codes[last + 1] === codes[last]! + 1) last++;
    ranges += hex(codes[at]!) + (last > at ? `-${hex(codes[last]!)}` : '');
    at = last + 1;
  }
  return `[${ranges}]`;
}

/** Letters and digits as they are, so that grammars can be read. */
function hex(code: number): string {
  const character = String.fromCharCode(code);
  return /[A-Za-z0-9]/.test(character) ? character : `\\u${code.toString(16).padStart(4, '0')}`;
}
