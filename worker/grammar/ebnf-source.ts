/** Grammars as text, in the notation of xgrammar: what of it is a name, what a literal. */
import { classExpression } from './ebnf-class.ts';
import { factored } from './ebnf-expression.ts';

export interface EbnfPiece {
  kind: 'string' | 'class' | 'name' | 'comment' | 'space' | 'sign';
  text: string;
  /** Offset in the source. */
  at: number;
}

const PIECE =
  /(?<string>"(?:[^"\\\n]|\\[\s\S])*")|(?<class>\[(?:[^\]\\\n]|\\[\s\S])*\])|(?<name>[A-Za-z_][\w.-]*)|(?<comment>#[^\n]*)|(?<space>\s+)|(?<sign>::=|[\s\S])/gy;

/** All of the source, in pieces. What is unfinished (a quote without its end) comes as a `sign`. */
export function* ebnfPieces(source: string): Generator<EbnfPiece> {
  PIECE.lastIndex = 0;
  for (const match of source.matchAll(PIECE)) {
    for (const [kind, text] of Object.entries(match.groups!)) {
      if (text !== undefined) yield { kind: kind as EbnfPiece['kind'], text, at: match.index };
    }
  }
}

/** Words that are no names of rules. */
export const MACRO_WORDS: ReadonlySet<string> = new Set([
  'TagDispatch',
  'stop_eos',
  'stop_str',
  'loop_after_dispatch',
  'excludes',
  'true',
  'false',
]);

/** Parentheses within each other that xgrammar's stack is sure to hold. */
export const DEEPEST = 100;

interface Body {
  pieces: readonly EbnfPiece[];
  /** More than one alternative, outside of parentheses. */
  isChoice: boolean;
  isMacro: boolean;
}

/**
 * The rules that `root` reaches, one a line, `root` first. A rule that is named once and has no alternatives is
 * written where it is named: the time that a compiler takes grows faster than the number of rules.
 */
export function writeRules(root: string, rules: ReadonlyMap<string, string>): string[] {
  const bodies = new Map<string, Body>();
  const uses = new Map<string, number>();
  const kept = new Set<string>();
  const waiting = ['root'];
  const all = new Map([...rules, ['root', root]]);
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (bodies.has(name)) continue;
    const source = all.get(name);
    if (source === undefined) throw new Error(`The grammar names the rule ${name}, which it does not have.`);
    const body = readBody(source);
    bodies.set(name, body);
    for (const { kind, text } of body.pieces) {
      if (kind !== 'name' || MACRO_WORDS.has(text)) continue;
      uses.set(text, (uses.get(text) ?? 0) + 1);
      if (body.isMacro) kept.add(text);
      waiting.push(text);
    }
  }
  /** How many rules a rule is written into, one into the other; who names it comes before it. */
  const depths = new Map<string, number>();
  for (const [name, { pieces, isChoice, isMacro }] of bodies) {
    let depth = depths.get(name) ?? 0;
    if (name === 'root' || uses.get(name) !== 1 || isChoice || isMacro || depth > DEEPEST) {
      kept.add(name);
      depth = 0;
    }
    for (const { kind, text } of pieces) if (kind === 'name') depths.set(text, depth + 1);
  }
  const write = (name: string): string => {
    const { pieces } = bodies.get(name)!;
    return pieces
      .map(({ kind, text }, index) => {
        if (kind === 'class') return withoutSigns(classExpression(text));
        if (kind !== 'name' || kept.has(text) || MACRO_WORDS.has(text)) return text;
        const inner = write(text);
        return /^[*+?{]/.test(pieces[index + 1]?.text ?? '') ? `(${inner})` : inner;
      })
      .join('');
  };
  const lines: string[] = [];
  let parts = 0;
  const define = (body: string): string => {
    const name = `part-${parts++}`;
    lines.push(`${name} ::= ${body}`);
    return name;
  };
  for (const [name, { isMacro }] of bodies) {
    if (kept.has(name)) lines.push(`${name} ::= ${isMacro ? write(name) : factored(write(name), define)}`);
  }
  return lines;
}

/** A negated class does not mean the characters that stand for tokens and signals. */
const withoutSigns = (text: string) =>
  text.startsWith('[^') && !text.includes('\\u0000-\\u001f') ? `[^\\u0001-\\u0003${text.slice(2)}` : text;

function readBody(source: string): Body {
  const pieces = [...ebnfPieces(source)];
  let depth = 0;
  let isChoice = false;
  for (const { kind, text } of pieces) {
    if (kind !== 'sign') continue;
    if (text === '(') depth++;
    else if (text === ')') depth--;
    else if (text === '|' && depth === 0) isChoice = true;
  }
  return { pieces, isChoice, isMacro: pieces.some(({ text }) => text === 'TagDispatch') };
}
