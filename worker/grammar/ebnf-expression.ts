/**
 * Expressions in which no two alternatives begin alike.
 *
 * xgrammar merges the states of alternatives that begin or end alike, and goes wrong where one begins like a second
 * and ends like a third: of `"10" | "20" | "14"` it accepts `24`. Without common beginnings it does not merge, and
 * it has fewer ways to follow at once.
 */
import { ebnfPieces } from './ebnf-source.ts';

/** Characters of a literal, as they are spelled. */
type Literal = readonly string[];
/** Anything else, as it is spelled. */
interface Other {
  text: string;
}
type Item = Literal | Other;
type Sequence = readonly Item[];

const isLiteral = (item: Item | undefined): item is Literal => Array.isArray(item);

/** Groups within each other that one rule has; what is deeper becomes a rule. */
const DEEPEST = 12;

/**
 * The expression with what its alternatives begin with written once, in all of its groups.
 *
 * @param define adds a rule for a part that is nested too deep, and returns its name
 */
export function factored(expression: string, define: (body: string) => string): string {
  const parser = new Parser(expression, define);
  const text = parser.choice();
  // What is not read as a whole (a look-ahead) is left as it is.
  return parser.isDone ? text : expression;
}

const CHARACTERS = /\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{1,2}|[\s\S])|[\s\S]/gu;

class Parser {
  readonly #pieces: { kind: string; text: string }[];
  readonly #define: (body: string) => string;
  #at = 0;
  #depth = 0;

  constructor(source: string, define: (body: string) => string) {
    this.#pieces = [...ebnfPieces(source)].filter(({ kind }) => kind !== 'space' && kind !== 'comment');
    this.#define = define;
  }

  get isDone(): boolean {
    return this.#at >= this.#pieces.length;
  }

  choice(): string {
    const alternatives = [this.#sequence()];
    while (this.#pieces[this.#at]?.text === '|') {
      this.#at++;
      alternatives.push(this.#sequence());
    }
    return this.#write(alternatives, this.#depth);
  }

  #sequence(): Sequence {
    const items: Item[] = [];
    for (let piece = this.#pieces[this.#at]; piece && piece.text !== '|' && piece.text !== ')'; ) {
      this.#at++;
      let text = piece.text;
      if (text === '(') {
        this.#depth++;
        text = `(${this.choice()})`;
        this.#depth--;
        if (this.#pieces[this.#at]?.text !== ')') return [{ text }];
        this.#at++;
      }
      const postfix = this.#postfix();
      const last = items.at(-1);
      if (piece.kind !== 'string' || postfix !== '') items.push({ text: text + postfix });
      else {
        const characters = text.slice(1, -1).match(CHARACTERS) ?? [];
        if (isLiteral(last)) items[items.length - 1] = [...last, ...characters];
        else if (characters.length > 0) items.push(characters);
      }
      piece = this.#pieces[this.#at];
    }
    return items;
  }

  #postfix(): string {
    let postfix = '';
    for (
      let next = this.#pieces[this.#at];
      next && /^[*+?{]$/.test(next.text);
      next = this.#pieces[this.#at]
    ) {
      this.#at++;
      postfix += next.text;
      while (next.text === '{' && !postfix.endsWith('}') && !this.isDone)
        postfix += this.#pieces[this.#at++]!.text;
    }
    return postfix;
  }

  #write(alternatives: readonly Sequence[], depth: number): string {
    const groups = new Map<string, Sequence[]>();
    for (const alternative of alternatives) {
      const [first] = alternative;
      const key = isLiteral(first) ? `"${first[0]}` : (first?.text ?? '');
      const group = groups.get(key);
      if (group) group.push(alternative);
      else groups.set(key, [alternative]);
    }
    return [...groups.values()].map((group) => this.#writeGroup(group, depth)).join(' | ');
  }

  /** Alternatives that begin alike. */
  #writeGroup(group: readonly Sequence[], depth: number): string {
    const [first] = group as [Sequence];
    if (group.length === 1 || first.length === 0) return writeSequence(first);
    const literals = group.map(([item]) => item).filter(isLiteral);
    const shared = literals.length > 0 ? sharedLength(literals) : 0;
    const beginning = shared > 0 ? [literals[0]!.slice(0, shared)] : [first[0]!];
    const rests = group.map((sequence) => {
      const [item, ...more] = sequence as [Item, ...Item[]];
      return isLiteral(item) && item.length > shared ? [item.slice(shared), ...more] : more;
    });
    const isTooDeep = depth >= DEEPEST;
    const rest = this.#write(rests, isTooDeep ? 0 : depth + 1);
    return `${writeSequence(beginning)} ${isTooDeep ? this.#define(rest) : `(${rest})`}`;
  }
}

function sharedLength(literals: readonly Literal[]): number {
  const [first] = literals as [Literal];
  let length = 0;
  while (length < first.length && literals.every((literal) => literal[length] === first[length])) length++;
  return length;
}

const writeSequence = (sequence: Sequence): string =>
  sequence.length === 0
    ? '""'
    : sequence.map((item) => (isLiteral(item) ? `"${item.join('')}"` : item.text)).join(' ');
