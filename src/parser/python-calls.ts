/** Calls written in Python syntax: as a list, `[f(a=1, b="x"), g()]`, or one a line. */
import type { CallReader, CallReaderContext } from './call-reader.ts';
import { coerceText, wholeJson } from './coercion.ts';
import { jsonCharacters } from './json-text.ts';
import { pythonLiteralToJson, SIMPLE_ESCAPES } from './python-literal.ts';
import { type Schema, SchemaView } from './schema.ts';

type Expects =
  | 'list'
  | 'call'
  | 'name'
  | 'keyword'
  | 'equals'
  | 'value'
  | 'quotes'
  | 'string'
  | 'literal'
  | 'next'
  | 'separator'
  | 'closed';

/** Of a function's name: what a request may name it with. */
const NAME = /[\w./-]/;
/** Of a keyword: an identifier, with the signs that property names have besides. */
const WORD = /[\p{ID_Continue}.-]/u;
const KEYWORD = /^[\p{ID_Continue}.-]+$/u;

/** Whether the reader takes a text for a keyword. */
export const isKeyword = (text: string) => KEYWORD.test(text);

const HEX_ESCAPES: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/**
 * Says each call's arguments as JSON. A string goes out as it comes where the schema takes a string, any other
 * value when it is complete. The call begins when a keyword or the closing bracket has shown that it is one.
 */
export class PythonCallsReader implements CallReader {
  readonly #context: CallReaderContext;
  readonly #isList: boolean;
  #expects: Expects;
  /** Calls that have ended. */
  #ended = 0;
  #name = '';
  #word = '';
  #view = new SchemaView(undefined);
  #schema: Schema;
  #isStarted = false;
  #count = 0;
  /** What ends the string: one quote, or three. */
  #quote = '';
  /** Quotes that have come where the string begins or may end. */
  #quotes = 0;
  #isStreaming = false;
  #escape = '';
  /** Source of a value that is not a plain string. */
  #source = '';
  #depth = 0;
  #innerQuote = '';
  /** How many of them have come where they begin or may end. */
  #innerQuotes = 0;
  #isInnerBegun = false;
  /** A backslash stands before, inside the inner quotes. */
  #isEscaped = false;

  /** `lines`: without brackets around; what follows the calls ends them. */
  constructor(context: CallReaderContext, between: 'brackets' | 'lines' = 'brackets') {
    this.#context = context;
    this.#isList = between === 'brackets';
    this.#expects = this.#isList ? 'list' : 'call';
  }

  get inString(): boolean {
    // Two quotes may be an empty string, which has ended.
    if (this.#expects === 'quotes') return this.#quotes < 2;
    return (
      this.#expects === 'string' || (this.#innerQuote !== '' && (this.#isInnerBegun || this.#innerQuotes < 2))
    );
  }

  get isDone(): boolean {
    return this.#expects === 'closed';
  }

  get isWhole(): boolean {
    return false;
  }

  close(): boolean {
    return this.#ended > 0 && (this.#expects === 'separator' || this.isDone);
  }

  read(text: string, from: number, to: number): number {
    let at = from;
    while (at < to && this.#expects !== 'closed') {
      const next = this.#step(text, at, to);
      if (next < 0) return at;
      at = next;
    }
    return at;
  }

  /** @returns the next position, or -1 at a character that has no place here */
  #step(text: string, at: number, to: number): number {
    if (this.#expects === 'quotes') return this.#readQuotes(text[at]!, at);
    if (this.#expects === 'string') return this.#readString(text, at, to);
    if (this.#expects === 'literal') return this.#readLiteral(text, at, to);
    const character = String.fromCodePoint(text.codePointAt(at)!);
    if (this.#expects === 'name' || this.#expects === 'keyword') {
      if ((this.#expects === 'name' ? NAME : WORD).test(character)) {
        this.#word += character;
        return at + character.length;
      }
      if (this.#word !== '') return this.#endWord(character, at);
    }
    if (/\s/.test(character)) return at + 1;
    switch (this.#expects) {
      case 'list':
        return character === '[' ? this.#then('call', at) : -1;
      case 'call':
      case 'name':
        if (!NAME.test(character)) return -1;
        this.#word = '';
        this.#expects = 'name';
        return at;
      case 'keyword':
        if (character === ')') return this.#endCall(at);
        return -1;
      case 'equals':
        return character === '=' ? this.#startValues(at) : -1;
      case 'value':
        return this.#startValue(character, at);
      case 'next':
        if (character === ',') return this.#then('keyword', at);
        return character === ')' ? this.#endCall(at) : -1;
      default:
        if (character === ',') return this.#then('call', at);
        if (this.#isList) return character === ']' ? this.#then('closed', at) : -1;
        if (!NAME.test(character)) return -1;
        this.#expects = 'call';
        return at;
    }
  }

  #then(expects: Expects, at: number): number {
    this.#expects = expects;
    this.#word = '';
    return at + 1;
  }

  #endWord(character: string, at: number): number {
    if (this.#expects === 'name') {
      if (character !== '(') return -1;
      this.#name = this.#word;
      this.#isStarted = false;
      this.#count = 0;
      return this.#then('keyword', at);
    }
    this.#expects = 'equals';
    return at;
  }

  #start(): boolean {
    if (this.#isStarted) return true;
    if (!this.#context.sink.start(this.#name)) return false;
    this.#isStarted = true;
    this.#view = this.#context.schemaOf(this.#name);
    return true;
  }

  #endCall(at: number): number {
    if (!this.#start()) return -1;
    this.#context.sink.arguments(this.#count === 0 ? '{}' : '}');
    this.#context.sink.end();
    this.#ended++;
    return this.#then('separator', at);
  }

  #startValues(at: number): number {
    if (!this.#start()) return -1;
    this.#schema = this.#view.property(this.#view.root, this.#word);
    this.#expects = 'value';
    return at + 1;
  }

  #startValue(character: string, at: number): number {
    const types = this.#view.types(this.#schema);
    if (character === '"' || character === "'") {
      this.#isStreaming = !types || (types.size === 1 && types.has('string'));
      this.#quote = character;
      this.#quotes = 1;
      this.#source = '';
      this.#expects = 'quotes';
      if (this.#isStreaming) this.#context.sink.arguments(`${this.#opener()}"`);
      return at + 1;
    }
    if (!/[\w[{(+\-.]/.test(character)) return -1;
    this.#source = '';
    this.#depth = 0;
    this.#innerQuote = '';
    this.#expects = 'literal';
    return at;
  }

  #opener(): string {
    return `${this.#count === 0 ? '{' : ', '}${JSON.stringify(this.#word)}: `;
  }

  #endValue(): void {
    this.#count++;
    this.#expects = 'next';
  }

  /** Behind a first quote: a second ends an empty string, unless a third begins a long one. */
  #readQuotes(character: string, at: number): number {
    if (character === this.#quote) {
      this.#quotes++;
      if (this.#quotes < 3) return at + 1;
      this.#quote = this.#quote.repeat(3);
      this.#quotes = 0;
      this.#expects = 'string';
      return at + 1;
    }
    if (this.#quotes === 2) this.#endString();
    else this.#expects = 'string';
    this.#quotes = 0;
    return at;
  }

  #readString(text: string, from: number, to: number): number {
    if (this.#escape !== '') return this.#readEscape(text[from]!, from);
    const quote = this.#quote[0]!;
    if (text[from] === quote) {
      this.#quotes++;
      if (this.#quotes === this.#quote.length) this.#endString();
      return from + 1;
    }
    if (this.#quotes > 0) {
      this.#stringText(quote.repeat(this.#quotes));
      this.#quotes = 0;
    }
    let at = from;
    while (at < to && text[at] !== quote && text[at] !== '\\') at++;
    this.#stringText(text.slice(from, at));
    if (text[at] !== '\\' || at === to) return at;
    this.#escape = '\\';
    return at + 1;
  }

  #endString(): void {
    this.#quotes = 0;
    const { sink } = this.#context;
    if (this.#isStreaming) sink.arguments('"');
    else sink.arguments(this.#opener() + this.#stringJson(this.#source));
    this.#endValue();
  }

  /** A string that was not said yet: as it is where the schema takes one, else what the schema makes of it. */
  #stringJson(value: string): string {
    const takesString = this.#view.types(this.#schema)?.has('string') ?? true;
    return takesString ? JSON.stringify(value) : coerceText(value, this.#schema, this.#view);
  }

  #readEscape(character: string, at: number): number {
    const kind = this.#escape[1];
    if (kind === undefined) {
      const simple = SIMPLE_ESCAPES[character];
      if (simple !== undefined) this.#endEscape(simple);
      else if (HEX_ESCAPES[character]) this.#escape += character;
      // A line break after a backslash joins the lines; any other escape is text.
      else this.#endEscape(character === '\n' ? '' : `\\${character}`);
      return at + 1;
    }
    if (!/[0-9a-fA-F]/.test(character)) {
      this.#endEscape(this.#escape);
      return at;
    }
    this.#escape += character;
    if (this.#escape.length === 2 + HEX_ESCAPES[kind]!) {
      const code = Number.parseInt(this.#escape.slice(2), 16);
      this.#endEscape(code <= 0x10ffff ? String.fromCodePoint(code) : this.#escape);
    }
    return at + 1;
  }

  #endEscape(text: string): void {
    this.#escape = '';
    this.#stringText(text);
  }

  #stringText(text: string): void {
    if (text === '') return;
    if (this.#isStreaming) this.#context.sink.arguments(jsonCharacters(text));
    else this.#source += text;
  }

  /** Source text up to the comma or bracket that ends it, outside of quotes and inner brackets. */
  #readLiteral(text: string, from: number, to: number): number {
    let at = from;
    while (at < to && !this.#endsLiteral(text[at]!)) at++;
    this.#source += text.slice(from, at);
    if (at > from) return at;
    return text[at] === ',' || text[at] === ')' ? this.#endLiteral(at) : -1;
  }

  /** Follows quotes and brackets. True at a character that is not the literal's any more. */
  #endsLiteral(character: string): boolean {
    if (this.#innerQuote !== '' && this.#isInner(character)) return false;
    if (this.#depth === 0 && (character === ',' || ']})'.includes(character))) return true;
    if (character === '"' || character === "'") {
      this.#innerQuote = character;
      this.#innerQuotes = 1;
      this.#isInnerBegun = false;
      this.#isEscaped = false;
    } else if ('[{('.includes(character)) this.#depth++;
    else if (']})'.includes(character)) this.#depth--;
    return false;
  }

  /** Follows a string inside. False at the first character behind an empty one. */
  #isInner(character: string): boolean {
    const isQuote = character === this.#innerQuote[0] && !this.#isEscaped;
    if (!this.#isInnerBegun) {
      if (isQuote && ++this.#innerQuotes < 3) return true;
      this.#isInnerBegun = true;
      if (isQuote) {
        this.#innerQuote = character.repeat(3);
        this.#innerQuotes = 0;
        return true;
      }
      if (this.#innerQuotes === 2) {
        this.#innerQuote = '';
        return false;
      }
      this.#innerQuotes = 0;
    }
    this.#isEscaped = character === '\\' && !this.#isEscaped;
    this.#innerQuotes = isQuote ? this.#innerQuotes + 1 : 0;
    if (this.#innerQuotes === this.#innerQuote.length) this.#innerQuote = '';
    return true;
  }

  #endLiteral(at: number): number {
    const json = pythonLiteralToJson(this.#source.trim());
    if (json === null) return -1;
    const coerced = wholeJson(json, this.#schema, this.#view) ?? json;
    this.#context.sink.arguments(this.#opener() + coerced);
    this.#endValue();
    return at;
  }
}
