import type { EbnfGrammar } from './ebnf.ts';
import { type Automaton, DEAD } from './language/automaton.ts';
import type { Language } from './language/language.ts';

/** Characters that rules of an automaton read: no more are asked for so far. */
const PRINTABLE = Array.from({ length: 0x7f - 0x20 }, (_, index) => String.fromCharCode(0x20 + index));

/**
 * Rules for the texts of an automaton over printable ASCII characters.
 *
 * @returns the expression of a whole text
 */
export function automatonRules(grammar: EbnfGrammar, hint: string, automaton: Automaton): string {
  return stateRules(grammar, hint, PRINTABLE, 0, {
    step: (state, codePoint) => {
      const target = automaton.step(state, codePoint);
      return target === DEAD ? null : target;
    },
    end: (state) => (automaton.accepting[state] === 1 ? '""' : null),
  });
}

/**
 * Rules for texts of several languages, each with an expression of what stands behind its texts: that of the first
 * language that holds the text. Letters are printable ASCII characters, and those that are given.
 */
export function classRules(
  grammar: EbnfGrammar,
  hint: string,
  classes: readonly { language: Language; rest: string }[],
  letters: Iterable<string>,
): string {
  const start = classes.map(({ language }) => language.start);
  return stateRules(grammar, hint, new Set([...PRINTABLE, ...letters]), start, {
    step: (states, codePoint) => {
      const next = states.map((state, index) =>
        state === DEAD ? DEAD : classes[index]!.language.step(state, codePoint),
      );
      return next.every((state) => state === DEAD) ? null : next;
    },
    end: (states) =>
      classes.find(({ language }, index) => states[index] !== DEAD && language.accepts(states[index]!))
        ?.rest ?? null,
  });
}

interface Steps<State> {
  /** Null where no text goes on. */
  step(state: State, codePoint: number): State | null;
  /** What follows a text that ends here; null if none does. */
  end(state: State): string | null;
}

/** A rule a state. No two alternatives begin alike, as it is with automata. */
function stateRules<State>(
  grammar: EbnfGrammar,
  hint: string,
  letters: Iterable<string>,
  start: State,
  { step, end }: Steps<State>,
): string {
  const expressions = new Map<string, string>();
  const expression = (state: State): string => {
    const key = String(state);
    const known = expressions.get(key);
    if (known !== undefined) return known;
    const edges = new Map<string, { target: State; characters: string }>();
    for (const character of letters) {
      const target = step(state, character.codePointAt(0)!);
      if (target === null) continue;
      const edge = edges.get(String(target));
      if (edge) edge.characters += character;
      else edges.set(String(target), { target, characters: character });
    }
    const then = end(state);
    const own = edges.get(key);
    if (then !== null && (edges.size === 0 || (own !== undefined && edges.size === 1))) {
      const simple = own === undefined ? then : `${oneOf(own.characters)}* ${then}`;
      expressions.set(key, simple);
      return simple;
    }
    const name = grammar.reserve(hint);
    expressions.set(key, name);
    const alternatives = Array.from(
      edges.values(),
      ({ target, characters }) => `${oneOf(characters)} ${expression(target)}`,
    );
    if (then !== null) alternatives.push(then);
    grammar.define(name, alternatives.join(' | '));
    return name;
  };
  return expression(start);
}

/** A class of characters, with ranges where they follow each other. */
function oneOf(characters: string): string {
  const codes = Array.from(characters, (character) => character.codePointAt(0)!).sort((a, b) => a - b);
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
  const character = String.fromCodePoint(code);
  if (/[A-Za-z0-9]/.test(character)) return character;
  const digits = code.toString(16);
  return code > 0xffff ? `\\U${digits.padStart(8, '0')}` : `\\u${digits.padStart(4, '0')}`;
}
