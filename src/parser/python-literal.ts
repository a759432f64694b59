/** A Python literal as JSON text: numbers, strings, lists, tuples, dicts, True, False, None and their JSON names. */
import { numberJson } from './coercion.ts';

const CONSTANTS: Readonly<Record<string, string>> = {
  True: 'true',
  False: 'false',
  None: 'null',
  true: 'true',
  false: 'false',
  null: 'null',
};

/** @returns null for anything that is no literal */
export function pythonLiteralToJson(source: string): string | null {
  const parser = new LiteralParser(source);
  const json = parser.value(0);
  return json !== null && parser.atEnd() ? json : null;
}

/** Lists within each other. */
const DEPTH_LIMIT = 1000;

class LiteralParser {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  atEnd(): boolean {
    this.#space();
    return this.#at === this.#source.length;
  }

  value(depth: number): string | null {
    if (depth > DEPTH_LIMIT) return null;
    this.#space();
    const character = this.#source[this.#at];
    if (character === '"' || character === "'") return this.#string();
    if (character === '[') return this.#items(']', depth);
    if (character === '(') return this.#items(')', depth);
    if (character === '{') return this.#dict(depth);
    const word = /[\w+\-.]+/y;
    word.lastIndex = this.#at;
    const text = word.exec(this.#source)?.[0];
    if (text === undefined) return null;
    this.#at += text.length;
    if (Object.hasOwn(CONSTANTS, text)) return CONSTANTS[text]!;
    return numberJson(text.replace(/(?<=\d)_(?=\d)/g, ''));
  }

  #space(): void {
    while (/\s/.test(this.#source[this.#at] ?? '')) this.#at++;
  }

  #take(character: string): boolean {
    this.#space();
    if (this.#source[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #items(closer: string, depth: number): string | null {
    this.#at++;
    const items: string[] = [];
    while (!this.#take(closer)) {
      if (items.length > 0 && !this.#take(',')) return null;
      if (items.length > 0 && this.#take(closer)) break;
      const item = this.value(depth + 1);
      if (item === null) return null;
      items.push(item);
    }
    return `[${items.join(', ')}]`;
  }

  #dict(depth: number): string | null {
    this.#at++;
    const items: string[] = [];
    while (!this.#take('}')) {
      if (items.length > 0 && !this.#take(',')) return null;
      if (items.length > 0 && this.#take('}')) break;
      const key = this.value(depth + 1);
      if (key === null || !this.#take(':')) return null;
      const value = this.value(depth + 1);
      if (value === null) return null;
      items.push(`${key.startsWith('"') ? key : JSON.stringify(key)}: ${value}`);
    }
    return `{${items.join(', ')}}`;
  }

  #string(): string | null {
    const mark = this.#source[this.#at]!;
    const quote = this.#source.startsWith(mark.repeat(3), this.#at) ? mark.repeat(3) : mark;
    this.#at += quote.length;
    const plain = mark === '"' ? /[^"\\]*/y : /[^'\\]*/y;
    let value = '';
    for (;;) {
      plain.lastIndex = this.#at;
      plain.test(this.#source);
      value += this.#source.slice(this.#at, plain.lastIndex);
      this.#at = plain.lastIndex;
      if (this.#source.startsWith(quote, this.#at)) {
        this.#at += quote.length;
        return JSON.stringify(value);
      }
      const character = this.#source[this.#at++];
      if (character === undefined) return null;
      value += character === mark ? mark : this.#escape();
    }
  }

  #escape(): string {
    const character = this.#source[this.#at++] ?? '';
    const length = { x: 2, u: 4, U: 8 }[character];
    if (length) {
      const digits = this.#source.slice(this.#at, this.#at + length);
      const code = Number.parseInt(digits, 16);
      if (!/^[0-9a-fA-F]+$/.test(digits) || digits.length < length || code > 0x10ffff)
        return `\\${character}`;
      this.#at += length;
      return String.fromCodePoint(code);
    }
    return SIMPLE_ESCAPES[character] ?? (character === '\n' ? '' : `\\${character}`);
  }
}

/** What a backslash and one letter stand for in a Python string. */
export const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  a: '\x07',
  '0': '\0',
  '\\': '\\',
  "'": "'",
  '"': '"',
};
