/**
 * Whether each rule of a grammar has a text, and a short one. What has none is forced for ever, character by
 * character, and what has only long ones for as long.
 */
import { type EbnfPiece, ebnfPieces, MACRO_WORDS } from './ebnf-source.ts';

/** Characters that a grammar may force before it leaves a choice, or ends. */
const LONGEST = 20_000;

type Node =
  | { kind: 'text'; length: number }
  | { kind: 'name'; name: string }
  | { kind: 'sequence' | 'choice'; parts: Node[] }
  | { kind: 'repeat'; part: Node; least: number };

/**
 * What is wrong with the first rule, of those that `root` reaches, that does not end; null if all do.
 *
 * @param bodies expressions by the names of their rules, all of which are there
 */
export function endProblem(bodies: ReadonlyMap<string, string>): string | null {
  const trees = new Map<string, Node>();
  const users = new Map<string, Set<string>>();
  const isMacro = (word: string) => MACRO_WORDS.has(word) && !bodies.has(word);
  const waiting = ['root'];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (trees.has(name)) continue;
    const reader = new BodyReader(bodies.get(name)!, isMacro);
    trees.set(name, reader.choice());
    for (const used of reader.names) {
      const known = users.get(used);
      if (known) known.add(name);
      else users.set(used, new Set([name]));
      waiting.push(used);
    }
  }
  const lengths = new Map<string, number>();
  const changed = new Set(trees.keys());
  // What is added to a set while it is walked is walked too.
  for (const name of changed) {
    changed.delete(name);
    const length = shortest(trees.get(name)!, lengths);
    if (length >= (lengths.get(name) ?? Number.POSITIVE_INFINITY)) continue;
    lengths.set(name, length);
    for (const user of users.get(name) ?? []) changed.add(user);
  }
  for (const [name, tree] of trees) {
    const longest = longestPart(tree, lengths);
    if (longest === Number.POSITIVE_INFINITY) {
      return `The rule ${name} of the grammar has an alternative that no finite text satisfies: what it names needs itself again and again, or a class without characters. Give that an end.`;
    }
    if (longest > LONGEST) {
      return `The rule ${name} of the grammar has an alternative whose texts are all longer than ${LONGEST} characters: make its repetitions smaller.`;
    }
  }
  return null;
}

/** Characters of the shortest text; infinite without one. */
function shortest(node: Node, lengths: ReadonlyMap<string, number>): number {
  switch (node.kind) {
    case 'text':
      return node.length;
    case 'name':
      return lengths.get(node.name) ?? Number.POSITIVE_INFINITY;
    case 'sequence':
      return node.parts.reduce((sum, part) => sum + shortest(part, lengths), 0);
    case 'choice':
      return Math.min(...node.parts.map((part) => shortest(part, lengths)));
    case 'repeat':
      return node.least === 0 ? 0 : node.least * shortest(node.part, lengths);
  }
}

/** Of all that may have to be written once it has been chosen, the longest of the shortest texts. */
function longestPart(node: Node, lengths: ReadonlyMap<string, number>): number {
  const own = shortest(node, lengths);
  if (node.kind === 'repeat') return Math.max(own, longestPart(node.part, lengths));
  if (node.kind !== 'sequence' && node.kind !== 'choice') return own;
  return node.parts.reduce((most, part) => Math.max(most, longestPart(part, lengths)), own);
}

const NOTHING: Node = { kind: 'text', length: 0 };
/** Characters as literals and classes spell them. */
const CHARACTERS = /\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{1,2}|[\s\S])|[\s\S]/gu;
/** A class of nothing, or of halves of surrogate pairs, which text does not have. */
const EMPTY_CLASS = /^\[(?:\\u[dD][89a-fA-F][0-9a-fA-F]{2}-?)*\]$/;

class BodyReader {
  /** Rules that the body names. */
  readonly names = new Set<string>();
  readonly #pieces: EbnfPiece[];
  readonly #isMacro: (word: string) => boolean;
  #at = 0;

  constructor(body: string, isMacro: (word: string) => boolean) {
    this.#isMacro = isMacro;
    this.#pieces = [...ebnfPieces(body)].filter(({ kind }) => kind !== 'space' && kind !== 'comment');
  }

  choice(): Node {
    const parts = [this.#sequence()];
    while (this.#take('|')) parts.push(this.#sequence());
    return parts.length === 1 ? parts[0]! : { kind: 'choice', parts };
  }

  #take(text: string): boolean {
    if (this.#pieces[this.#at]?.text !== text) return false;
    this.#at++;
    return true;
  }

  #sequence(): Node {
    const parts: Node[] = [];
    for (
      let piece = this.#pieces[this.#at];
      piece && piece.text !== '|' && piece.text !== ')';
      piece = this.#pieces[this.#at]
    ) {
      this.#at++;
      parts.push(this.#repeated(this.#item(piece)));
    }
    return { kind: 'sequence', parts };
  }

  #item({ kind, text }: EbnfPiece): Node {
    if (text === '(') {
      // What is only looked at is not written.
      const isLookedAt = this.#take('=');
      const inner = this.choice();
      this.#take(')');
      return isLookedAt ? NOTHING : inner;
    }
    switch (kind) {
      case 'string':
        return { kind: 'text', length: text.slice(1, -1).match(CHARACTERS)?.length ?? 0 };
      case 'class':
        return { kind: 'text', length: EMPTY_CLASS.test(text) ? Number.POSITIVE_INFINITY : 1 };
      case 'name':
        if (this.#isMacro(text)) return this.#macro();
        this.names.add(text);
        return { kind: 'name', name: text };
      default:
        // What is no notation at all is for the compiler to refuse.
        return NOTHING;
    }
  }

  /** Free text may always end, or go on to what its arguments name. */
  #macro(): Node {
    const named: Node[] = [];
    let depth = 0;
    for (let piece = this.#pieces[this.#at]; piece; piece = this.#pieces[this.#at]) {
      if (depth === 0 && piece.text !== '(') break;
      this.#at++;
      if (piece.text === '(') depth++;
      else if (piece.text === ')' && --depth === 0) break;
      else if (piece.kind === 'name' && !this.#isMacro(piece.text)) {
        this.names.add(piece.text);
        named.push({ kind: 'name', name: piece.text });
      }
    }
    return { kind: 'choice', parts: [NOTHING, ...named] };
  }

  #repeated(part: Node): Node {
    let node = part;
    for (let piece = this.#pieces[this.#at]; piece; piece = this.#pieces[this.#at]) {
      if (piece.text === '*' || piece.text === '?') node = { kind: 'repeat', part: node, least: 0 };
      else if (piece.text === '{') node = { kind: 'repeat', part: node, least: this.#least() };
      else if (piece.text !== '+') break;
      this.#at++;
    }
    return node;
  }

  /** The lower bound of `{2,5}`; leaves the reader at the last brace. */
  #least(): number {
    let bounds = '';
    while (this.#at + 1 < this.#pieces.length && this.#pieces[this.#at + 1]!.text !== '}') {
      bounds += this.#pieces[++this.#at]!.text;
    }
    this.#at++;
    return Number.parseInt(bounds, 10) || 0;
  }
}
