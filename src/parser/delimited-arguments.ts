/**
 * Arguments in a notation between JSON and words: keys are bare, strings stand between delimiters, unescaped.
 *
 * ```
 * {room:<|"|>a "b"<|"|>,level:2,opts:{n:1},ids:[1,2]}
 * {"room": "a \"b\"", "level": 2, "opts": {"n": 1}, "ids": [1, 2]}
 * ```
 */
import type { CallReader, CallReaderContext } from './call-reader.ts';
import { numberJson } from './coercion.ts';
import { JsonArgumentsReader } from './json-calls.ts';
import { jsonCharacters } from './json-text.ts';

const LITERALS = new Set(['true', 'false', 'null']);

/** Whether a key stands without delimiters: what ends it or separates members is not in it, and no white space around it. */
export const isBareKey = (key: string, delimiter: string) =>
  key !== '' && key === key.trim() && !/^"|[{}[\],:]/.test(key) && !key.includes(delimiter[0]!);

/** Reads the notation as JSON, which the JSON reader then reads, coerces and streams. */
export class DelimitedArgumentsReader implements CallReader {
  readonly #reader: JsonArgumentsReader;
  readonly #delimiter: string;
  #containers: ('{' | '[')[] = [];
  #expects: 'key' | 'value' | 'next' = 'value';
  #isString = false;
  /** What has come of a delimiter inside a string. */
  #partial = '';
  /** A key, or a value that is not a string. */
  #bare = '';
  /** Inside quotes as in JSON, a slip of the model: a comma or bracket there is text. */
  #isQuoteOpen = false;
  #isEscaped = false;
  /** The key stands between delimiters, as it is. */
  #isKeyDelimited = false;

  constructor(context: CallReaderContext, delimiter: string) {
    this.#reader = new JsonArgumentsReader(context);
    this.#delimiter = delimiter;
  }

  get inString(): boolean {
    return this.#isString;
  }

  get isDone(): boolean {
    return this.#reader.isDone;
  }

  get isWhole(): boolean {
    return this.#reader.isDone;
  }

  read(text: string, from: number, to: number): number {
    let at = from;
    while (at < to && !this.#reader.isDone) {
      const next = this.#isString ? this.#readString(text, at, to) : this.#readOutside(text, at, to);
      if (next < 0) return at;
      at = next;
    }
    return at;
  }

  close(): boolean {
    if (this.#reader.isDone) return true;
    if (this.#isString || this.#isQuoteOpen) return false;
    if (this.#isInKey()) return false;
    if (this.#expects === 'value' && this.#containers.length > 0 && !this.#endBare()) return false;
    return this.#reader.close();
  }

  #feed(json: string): boolean {
    return this.#reader.read(json, 0, json.length) === json.length;
  }

  #readString(text: string, from: number, to: number): number {
    if (this.#partial !== '') {
      const candidate = this.#partial + text[from]!;
      if (!this.#delimiter.startsWith(candidate)) {
        this.#stringText(this.#partial);
        this.#partial = '';
        return from;
      }
      this.#partial = candidate;
      if (candidate === this.#delimiter) this.#endString();
      return from + 1;
    }
    const found = text.indexOf(this.#delimiter[0]!, from);
    if (found === from) {
      this.#partial = text[from]!;
      if (this.#partial === this.#delimiter) this.#endString();
      return from + 1;
    }
    const end = found < 0 || found > to ? to : found;
    this.#stringText(text.slice(from, end));
    return end;
  }

  /** @returns the next position, or -1 at a character that has no place here */
  #readOutside(text: string, at: number, to: number): number {
    if (this.#isQuoteOpen || text[at] !== this.#delimiter[0])
      return this.#readStructure(text[at]!) ? at + 1 : -1;
    const end = at + this.#delimiter.length;
    if (end > to || !text.startsWith(this.#delimiter, at)) return -1;
    return this.#startString() ? end : -1;
  }

  #stringText(text: string): void {
    if (text === '') return;
    if (this.#expects === 'key') this.#bare += text;
    else this.#feed(jsonCharacters(text));
  }

  #startString(): boolean {
    if (this.#containers.length === 0 || this.#expects === 'next' || this.#isKeyDelimited) return false;
    if (this.#bare.trim() !== '') return false;
    this.#isString = true;
    if (this.#expects === 'value') this.#feed('"');
    return true;
  }

  #endString(): void {
    this.#isString = false;
    this.#partial = '';
    // A key stands between delimiters too, sometimes.
    if (this.#expects === 'key') {
      this.#isKeyDelimited = true;
      return;
    }
    this.#feed('"');
    this.#expects = 'next';
  }

  #readQuoted(character: string): boolean {
    this.#bare += character;
    if (character === '"' && !this.#isEscaped) this.#isQuoteOpen = false;
    this.#isEscaped = character === '\\' && !this.#isEscaped;
    return true;
  }

  #readStructure(character: string): boolean {
    if (this.#isQuoteOpen) return this.#readQuoted(character);
    switch (character) {
      case '{':
      case '[':
        if (this.#expects !== 'value' || this.#bare.trim() !== '') return false;
        if (this.#containers.length === 0 && character === '[') return false;
        this.#containers.push(character);
        this.#expects = character === '{' ? 'key' : 'value';
        return this.#feed(character);
      case '}':
      case ']':
        return this.#close(character);
      case ',':
        if (this.#containers.length === 0 || this.#expects === 'key' || !this.#endBare()) return false;
        this.#expects = this.#containers.at(-1) === '{' ? 'key' : 'value';
        return this.#feed(', ');
      case ':':
        if (this.#expects !== 'key') break;
        return this.#endKey();
    }
    if (/\s/.test(character) && (this.#bare === '' || this.#isKeyDelimited)) return true;
    if (this.#containers.length === 0 || this.#expects === 'next' || this.#isKeyDelimited) return false;
    this.#isQuoteOpen = character === '"' && this.#bare === '';
    this.#bare += character;
    return true;
  }

  #isInKey(): boolean {
    return this.#expects === 'key' && (this.#isKeyDelimited || this.#bare.trim() !== '');
  }

  #endKey(): boolean {
    const isDelimited = this.#isKeyDelimited;
    const bare = this.#bare.trim();
    const key = isDelimited ? this.#bare : isQuoted(bare) ? (JSON.parse(bare) as string) : bare;
    this.#bare = '';
    this.#isKeyDelimited = false;
    this.#expects = 'value';
    return (isDelimited || key !== '') && this.#feed(`${JSON.stringify(key)}: `);
  }

  #close(character: string): boolean {
    const opener = this.#containers.at(-1);
    if (opener !== (character === '}' ? '{' : '[')) return false;
    if (this.#isInKey()) return false;
    if (this.#expects === 'value' && !this.#endBare()) return false;
    this.#containers.pop();
    this.#expects = 'next';
    return this.#feed(character);
  }

  /** Ends a value without delimiters. False where one is missing. */
  #endBare(): boolean {
    const text = this.#bare.trim();
    this.#bare = '';
    if (text === '') return this.#expects === 'next' || this.#containers.at(-1) === '[';
    const isWord = LITERALS.has(text) || isQuoted(text);
    this.#expects = 'next';
    return this.#feed(isWord ? text : (numberJson(text) ?? JSON.stringify(text)));
  }
}

/** A string as in JSON, a slip of the model. */
function isQuoted(text: string): boolean {
  try {
    return text.startsWith('"') && typeof JSON.parse(text) === 'string';
  } catch {
    return false;
  }
}
