/**
 * Regular expressions as JSON Schema means them: ECMAScript with the `u` flag. What no finite automaton can decide
 * (look-around, references to groups, word boundaries) is an `UnsupportedRegexError`.
 */
import {
  ANY,
  type CodePoints,
  complement,
  DIGIT,
  LINE_END,
  matching,
  SPACE,
  union,
  WORD,
} from './code-points.ts';

export type Regex =
  | { type: 'set'; set: CodePoints }
  | { type: 'sequence'; parts: Regex[] }
  | { type: 'choice'; parts: Regex[] }
  | { type: 'repeat'; part: Regex; min: number; max: number }
  | { type: 'start' }
  | { type: 'end' };

/** An expression that matches this text alone. */
export const escapeRegex = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/** A valid expression that can't be held while text is written. */
export class UnsupportedRegexError extends Error {}

/** @throws SyntaxError for an expression that is none, UnsupportedRegexError for one that is not regular */
export function parseRegex(source: string): Regex {
  let regex = parsed.get(source);
  if (!regex) {
    new RegExp(source, 'u');
    regex = new RegexParser(source).parse();
    parsed.set(source, regex);
    if (parsed.size > KEPT) parsed.delete(parsed.keys().next().value!);
  }
  return regex;
}

/** A pattern is asked about several times in a row. */
const parsed = new Map<string, Regex>();
const KEPT = 50;

/** Nesting beyond this is no pattern that anybody wrote. */
const DEEPEST = 100;

class RegexParser {
  /** Characters, one code point each. */
  readonly #source: string[];
  #at = 0;
  #depth = 0;

  constructor(source: string) {
    this.#source = Array.from(source);
  }

  parse(): Regex {
    return this.#choice();
  }

  #peek(ahead = 0): string | undefined {
    return this.#source[this.#at + ahead];
  }

  #take(expected: string): boolean {
    // All that is asked for is one character long.
    if (this.#source[this.#at] !== expected) return false;
    this.#at++;
    return true;
  }

  #choice(): Regex {
    if (++this.#depth > DEEPEST) throw new UnsupportedRegexError('groups are nested too deep');
    const parts = [this.#sequence()];
    while (this.#take('|')) parts.push(this.#sequence());
    this.#depth--;
    return parts.length === 1 ? parts[0]! : { type: 'choice', parts };
  }

  #sequence(): Regex {
    const parts: Regex[] = [];
    for (let next = this.#peek(); next !== undefined && next !== '|' && next !== ')'; next = this.#peek()) {
      parts.push(this.#quantified(this.#atom()));
    }
    return parts.length === 1 ? parts[0]! : { type: 'sequence', parts };
  }

  #atom(): Regex {
    if (this.#take('^')) return { type: 'start' };
    if (this.#take('$')) return { type: 'end' };
    if (this.#take('.')) return { type: 'set', set: complement(LINE_END) };
    if (this.#take('[')) return { type: 'set', set: this.#class() };
    if (this.#take('(')) return this.#group();
    if (this.#take('\\')) return { type: 'set', set: this.#escape(false) };
    return { type: 'set', set: single(this.#source[this.#at++]!) };
  }

  #group(): Regex {
    if (this.#take('?') && !this.#take(':')) {
      if (!this.#take('<')) throw new UnsupportedRegexError('look-ahead is not supported');
      if (this.#peek() === '=' || this.#peek() === '!') {
        throw new UnsupportedRegexError('look-behind is not supported');
      }
      while (!this.#take('>')) this.#at++;
    }
    const inner = this.#choice();
    this.#take(')');
    return inner;
  }

  #quantified(part: Regex): Regex {
    let min: number;
    let max: number;
    if (this.#take('*')) [min, max] = [0, Number.POSITIVE_INFINITY];
    else if (this.#take('+')) [min, max] = [1, Number.POSITIVE_INFINITY];
    else if (this.#take('?')) [min, max] = [0, 1];
    else if (this.#take('{')) {
      min = this.#number();
      max = min;
      if (this.#take(',')) max = this.#peek() === '}' ? Number.POSITIVE_INFINITY : this.#number();
      this.#take('}');
    } else return part;
    // Greedy or not, the texts that match are the same.
    this.#take('?');
    return { type: 'repeat', part, min, max };
  }

  #number(): number {
    let digits = '';
    while (/[0-9]/.test(this.#peek() ?? '')) digits += this.#source[this.#at++];
    return Number(digits);
  }

  #class(): CodePoints {
    const isNegated = this.#take('^');
    let set: CodePoints = [];
    while (!this.#take(']')) {
      const from = this.#classMember();
      if (this.#peek() === '-' && this.#peek(1) !== ']' && from.length === 1 && from[0]![0] === from[0]![1]) {
        this.#at++;
        const to = this.#classMember();
        set = union(set, [[from[0]![0], to[0]![1]]]);
      } else set = union(set, from);
    }
    return isNegated ? complement(set) : set;
  }

  #classMember(): CodePoints {
    return this.#take('\\') ? this.#escape(true) : single(this.#source[this.#at++]!);
  }

  #escape(isInClass: boolean): CodePoints {
    const letter = this.#source[this.#at++]!;
    const known = CLASSES[letter];
    if (known) return known;
    const control = CONTROLS[letter];
    if (control !== undefined) return single(control);
    switch (letter) {
      case 'b':
        if (isInClass) return single('\b');
        throw new UnsupportedRegexError('\\b is not supported');
      case 'B':
        throw new UnsupportedRegexError('\\B is not supported');
      case 'k':
        throw new UnsupportedRegexError('references to groups are not supported');
      case 'c':
        return single(String.fromCharCode(this.#source[this.#at++]!.charCodeAt(0) % 32));
      case 'x':
        return single(String.fromCodePoint(this.#hex(2)));
      case 'u':
        return single(String.fromCodePoint(this.#unicode()));
      case 'p':
      case 'P':
        return this.#property(letter === 'P');
    }
    if (/[1-9]/.test(letter)) throw new UnsupportedRegexError('references to groups are not supported');
    return single(letter);
  }

  #unicode(): number {
    if (this.#take('{')) {
      let digits = '';
      while (!this.#take('}')) digits += this.#source[this.#at++];
      return Number.parseInt(digits, 16);
    }
    const first = this.#hex(4);
    const isPair = first >= 0xd800 && first < 0xdc00 && this.#peek() === '\\' && this.#peek(1) === 'u';
    if (!isPair) return first;
    const start = this.#at;
    this.#at += 2;
    const second = this.#peek() === '{' ? 0 : this.#hex(4);
    if (second >= 0xdc00 && second < 0xe000) return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
    this.#at = start;
    return first;
  }

  #hex(length: number): number {
    const digits = this.#source.slice(this.#at, this.#at + length).join('');
    this.#at += length;
    return Number.parseInt(digits, 16);
  }

  #property(isNegated: boolean): CodePoints {
    let name = '';
    this.#take('{');
    while (!this.#take('}')) name += this.#source[this.#at++];
    let set = properties.get(name);
    if (!set) {
      set = matching(new RegExp(`\\p{${name}}`, 'u'));
      properties.set(name, set);
    }
    return isNegated ? complement(set) : set;
  }
}

const single = (character: string): CodePoints => [[character.codePointAt(0)!, character.codePointAt(0)!]];

const CLASSES: Readonly<Record<string, CodePoints>> = {
  d: DIGIT,
  D: complement(DIGIT),
  w: WORD,
  W: complement(WORD),
  s: SPACE,
  S: complement(SPACE),
};

const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', v: '\v', f: '\f', 0: '\0' };

/** Unicode properties that were asked for; each takes a walk over all code points. */
const properties = new Map<string, CodePoints>();

/** Any text at all. */
export const ANY_TEXT: Regex = {
  type: 'repeat',
  part: { type: 'set', set: ANY },
  min: 0,
  max: Number.POSITIVE_INFINITY,
};
