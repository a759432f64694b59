/** Text with a mark in it, found by rules: for marks that xgrammar's own search does not find reliably. */
import { type EbnfGrammar, escapeClass } from './ebnf.ts';
import { bordersOf } from './language/borders.ts';

/**
 * Rules that read any text up to a mark, a rule for each number of the mark's characters that have just come.
 *
 * @param found what follows the mark; it gets the rule by which such a text begins again
 * @param mayEnd the text may also end without the mark
 * @returns the expression of the text, the mark and what follows
 */
export function textWithMark(
  grammar: EbnfGrammar,
  mark: string,
  found: (again: string) => string,
  mayEnd: boolean,
): string {
  const characters = Array.from(mark);
  const borders = bordersOf(characters);
  const letters = new Set(characters);
  const names = characters.map(() => grammar.reserve('scan'));
  const again = names[0]!;
  for (const [length, name] of names.entries()) {
    const edges = new Map<string, string>();
    for (const letter of letters) {
      let matched = length;
      while (matched > 0 && characters[matched] !== letter) matched = borders[matched]!;
      if (characters[matched] === letter) matched++;
      const target = matched === characters.length ? found(again) : names[matched]!;
      edges.set(target, (edges.get(target) ?? '') + letter);
    }
    const alternatives = [...edges].map(([target, list]) => `[${escapeClass(list)}] ${target}`);
    alternatives.push(`[^${escapeClass([...letters].join(''))}] ${again}`);
    if (mayEnd) alternatives.push('""');
    grammar.define(name, alternatives.join(' | '));
  }
  return again;
}
