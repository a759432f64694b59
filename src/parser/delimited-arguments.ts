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

const LITERALS = new Set(['true', 'false', 'null']);

/** Reads the notation as JSON, which the JSON reader then reads, coerces and streams. */
export class DelimitedArgumentsReader implements CallReader {
  readonly #reader: JsonArgumentsReader;
  readonly #delimiter: string;
  #containers: ('{' | '[')[] = [];
  #expects: 'key' | 'value' | 'next' = 'value';
  #isString = false;
  /** What has come of a delimiter. */
  #partial = '';
  /** A key, or a value that is not a string. */
  #bare = '';

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
      if (this.#isString && this.#partial === '') {
        const found = text.indexOf(this.#delimiter[0]!, at);
        const end = found < 0 || found > to ? to : found;
        this.#stringText(text.slice(at, end));
        at = end;
        if (at === to) break;
      }
      const candidate = this.#partial + text[at]!;
      if (this.#delimiter.startsWith(candidate)) {
        this.#partial = candidate === this.#delimiter ? '' : candidate;
        if (this.#partial === '' && !this.#readDelimiter()) return at;
        at++;
        continue;
      }
      if (this.#partial !== '') {
        this.#readText(this.#partial);
        this.#partial = '';
        continue;
      }
      if (this.#isString) this.#stringText(text[at]!);
      else if (!this.#readStructure(text[at]!)) return at;
      at++;
    }
    return at;
  }

  close(): boolean {
    if (this.#reader.isDone) return true;
    if (this.#isString || this.#partial !== '') return false;
    if (this.#expects === 'key' && this.#bare.trim() !== '') return false;
    if (this.#expects === 'value' && this.#containers.length > 0 && !this.#endBare()) return false;
    return this.#reader.close();
  }

  #feed(json: string): boolean {
    return this.#reader.read(json, 0, json.length) === json.length;
  }

  #stringText(text: string): void {
    if (text === '') return;
    if (this.#expects === 'key') this.#bare += text;
    else this.#feed(JSON.stringify(text).slice(1, -1));
  }

  #readText(text: string): void {
    if (this.#isString) this.#stringText(text);
    else this.#bare += text;
  }

  /** A string begins or ends; a key may be one too. */
  #readDelimiter(): boolean {
    if (this.#containers.length === 0 || this.#expects === 'next') return false;
    if (!this.#isString && this.#bare.trim() !== '') return false;
    this.#isString = !this.#isString;
    if (this.#expects === 'key') return true;
    this.#feed('"');
    if (!this.#isString) this.#expects = 'next';
    return true;
  }

  #readStructure(character: string): boolean {
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
    if (/\s/.test(character) && this.#bare === '') return true;
    if (this.#containers.length === 0 || this.#expects === 'next') return false;
    this.#bare += character;
    return true;
  }

  #endKey(): boolean {
    const key = this.#bare.trim();
    this.#bare = '';
    this.#expects = 'value';
    return key !== '' && this.#feed(`${JSON.stringify(key)}: `);
  }

  #close(character: string): boolean {
    const opener = this.#containers.at(-1);
    if (opener !== (character === '}' ? '{' : '[')) return false;
    if (this.#expects === 'key' && this.#bare.trim() !== '') return false;
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
