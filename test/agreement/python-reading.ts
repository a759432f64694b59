/** Python as the language defines it, as far as literals and keyword arguments go: read without the parser. */
import { UnreadableError } from './unreadable.ts';

const CONSTANTS: Readonly<Record<string, unknown>> = { True: true, False: false, None: null };
const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** Keywords up to the closing parenthesis, which is not read. */
export function readKeywords(text: string, from: number): { values: Record<string, unknown>; end: number } {
  const values: Record<string, unknown> = {};
  const source = new PythonSource(text, from);
  while (!source.sees(')')) {
    if (Object.keys(values).length > 0) source.take(',');
    source.sees('');
    const key = source.match(/[^\s=,()[\]{}"']+/y);
    source.take('=');
    define(values, key, source.value());
  }
  return { values, end: source.at };
}

/** `__proto__` is a key like any other. */
const define = (values: Record<string, unknown>, key: string, value: unknown) =>
  Object.defineProperty(values, key, { value, enumerable: true, writable: true, configurable: true });

class PythonSource {
  at: number;
  readonly #text: string;

  constructor(text: string, at: number) {
    this.#text = text;
    this.at = at;
  }

  /** Whether this comes next, white space aside. */
  sees(text: string): boolean {
    while (/\s/.test(this.#text[this.at] ?? '')) this.at++;
    return this.#text.startsWith(text, this.at);
  }

  take(text: string): void {
    if (!this.sees(text)) {
      const found = JSON.stringify(this.#text.slice(this.at, this.at + 30));
      throw new UnreadableError(`${text} is missing at ${this.at}, before ${found}`);
    }
    this.at += text.length;
  }

  match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) {
      throw new UnreadableError(
        `${pattern} is missing at ${this.at}, before ${JSON.stringify(this.#text.slice(this.at, this.at + 30))}`,
      );
    }
    this.at += found.length;
    return found;
  }

  value(): unknown {
    if (this.sees('"') || this.sees("'")) return this.#string();
    if (this.sees('[')) return this.#items('[', ']', () => this.value());
    if (this.sees('{')) {
      const values: Record<string, unknown> = {};
      this.#items('{', '}', () => {
        if (!this.sees('"') && !this.sees("'")) throw new UnreadableError(`A key is missing at ${this.at}`);
        const key = this.#string();
        this.take(':');
        define(values, key, this.value());
      });
      return values;
    }
    const word = this.match(/[\w.+-]+/y);
    if (Object.hasOwn(CONSTANTS, word)) return CONSTANTS[word];
    if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(word))
      throw new UnreadableError(`${word} is no literal`);
    return Number(word);
  }

  #items(open: string, close: string, read: () => unknown): unknown[] {
    this.take(open);
    const items: unknown[] = [];
    while (!this.sees(close)) {
      if (items.length > 0) this.take(',');
      items.push(read());
    }
    this.take(close);
    return items;
  }

  #string(): string {
    const quote = this.#text[this.at++]!;
    let value = '';
    for (;;) {
      const character = this.#text[this.at++];
      if (character === undefined || character === '\n') throw new UnreadableError('A string does not end');
      if (character === quote) return value;
      if (character !== '\\') value += character;
      else {
        const letter = this.match(/u[0-9a-fA-F]{4}|[^\n]/y);
        const known =
          letter.length > 1 ? String.fromCharCode(Number.parseInt(letter.slice(1), 16)) : ESCAPES[letter];
        // Python keeps the backslash of an escape that it does not know.
        if (known === undefined) throw new UnreadableError(`\\${letter} is no escape`);
        value += known;
      }
    }
  }
}
