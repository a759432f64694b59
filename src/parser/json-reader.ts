/**
 * Reads one JSON value as it is being written and says it again as JSON text that can be closed at any moment
 * by appending closers only.
 *
 * ```
 * {"city": "Par
 *               ^ said so far: {"city": "Par       to close: "}
 * {"city": "Paris", "da
 *                      ^ said so far: {"city": "Paris"      the key waits for its value
 * ```
 *
 * Characters inside a string go out as they come when the schema takes the string as it is; keys wait for their
 * value, numbers and literals and what the schema may turn into another type wait for their end; the outermost
 * closer waits for {@link JsonReader.takeCloser}. White space is kept. Repaired on the way: raw line breaks in
 * strings, single quotes, wrong escapes, trailing commas, `True`, `False`, `None`.
 */
import { coerceText, fits, numberJson } from './coercion.ts';
import type { Schema, SchemaView } from './schema.ts';
import { fitsSchema } from './schema-check.ts';
import { type JsonType, typeOfValue } from './schema-types.ts';

interface Frame {
  isObject: boolean;
  schema: Schema;
  expects: 'first' | 'key' | 'colon' | 'value' | 'next';
  key: string;
  index: number;
}

const LITERALS: Readonly<Record<string, string>> = {
  true: 'true',
  false: 'false',
  null: 'null',
  True: 'true',
  False: 'false',
  None: 'null',
};

const SCALAR = /[\w+\-.]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a JSON string may not hold them as they are
const DOUBLE_QUOTED_END = /["\\\u0000-\u001f]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const SINGLE_QUOTED_END = /['"\\\u0000-\u001f]/g;

const escapeControl = (character: string) => JSON.stringify(character).slice(1, -1);

export class JsonReader {
  readonly #emit: (json: string) => void;
  readonly #schema: Schema;
  readonly #view: SchemaView;
  /** The value is a call's arguments: an object, whatever the schema says. */
  readonly #isArguments: boolean;
  #frames: Frame[] = [];
  #mode: 'structure' | 'string' | 'scalar' | 'captured' = 'structure';
  /** Comma, white space, key and colon that wait for the value. */
  #prefix = '';
  /** Where in `#prefix` a comma stands that the next value needs; -1 without one. */
  #comma = -1;
  #quote = '"';
  /** The string is said as it comes; otherwise it waits in `#text`, escaped. */
  #isStreaming = false;
  #isKey = false;
  #text = '';
  /** A backslash and what has come of its escape. */
  #escape = '';
  /** Reads a container that the schema wants as a string. */
  #captured: JsonReader | null = null;
  #closer = '';
  #done = false;

  constructor(emit: (json: string) => void, schema: Schema, view: SchemaView, isArguments = false) {
    this.#emit = emit;
    this.#schema = schema;
    this.#view = view;
    this.#isArguments = isArguments;
  }

  /** The value's end was read. */
  get isDone(): boolean {
    return this.#done;
  }

  get inString(): boolean {
    return this.#mode === 'string' || (this.#captured?.inString ?? false);
  }

  /** Nothing of the value has been read yet. */
  get isEmpty(): boolean {
    return !this.#done && this.#mode === 'structure' && this.#frames.length === 0;
  }

  /** The outermost closer, to be said when the call has ended; empty for other values. */
  takeCloser(): string {
    const closer = this.#closer;
    this.#closer = '';
    return closer;
  }

  /** @returns the position after what was read: `to`, or the value's end, or a character that has no place here */
  read(text: string, from: number, to: number): number {
    let at = from;
    while (at < to && !this.#done) {
      let next: number;
      if (this.#mode === 'string') next = this.#readString(text, at, to);
      else if (this.#mode === 'scalar') next = this.#readScalar(text, at, to);
      else if (this.#mode === 'captured') next = this.#readCaptured(text, at, to);
      else next = this.#readStructure(text, at);
      if (next === -1) return at;
      at = next;
    }
    return at;
  }

  /** Ends a number or literal at the end of its text. False when it is none. */
  endScalar(): boolean {
    return this.#mode === 'scalar' && this.#endScalar() && this.#done;
  }

  /**
   * A closer from outside came. Says the closers that are missing.
   * @returns false when the value was cut where closers alone don't help
   */
  close(): boolean {
    if (this.#done) return true;
    if (this.#mode === 'scalar' && !this.#endScalar()) return false;
    if (this.#done) return true;
    if (this.#mode !== 'structure' || this.#frames.length === 0) return false;
    while (this.#frames.length > 0) {
      const { expects, isObject } = this.#frames[this.#frames.length - 1]!;
      if (expects === 'colon' || (expects === 'value' && isObject)) return false;
      this.#closeFrame();
    }
    return true;
  }

  #readStructure(text: string, at: number): number {
    const character = text[at]!;
    if (character === ' ' || character === '\n' || character === '\r' || character === '\t') {
      if (this.#frames.length > 0) this.#prefix += character;
      return at + 1;
    }
    const frame = this.#frames[this.#frames.length - 1];
    if (!frame) return this.#startValue(character, at);
    switch (frame.expects) {
      case 'next':
        if (character === ',') {
          this.#comma = this.#prefix.length;
          this.#prefix += ',';
          frame.expects = frame.isObject ? 'key' : 'value';
          frame.index++;
          return at + 1;
        }
        return this.#maybeClose(frame, character, at);
      case 'colon':
        if (character !== ':') return -1;
        this.#prefix += ':';
        frame.expects = 'value';
        return at + 1;
      case 'value':
        if (!frame.isObject && character === ']') return this.#maybeClose(frame, character, at);
        return this.#startValue(character, at);
      default:
        if (character === '}' || character === ']') return this.#maybeClose(frame, character, at);
        if (!frame.isObject) return this.#startValue(character, at);
        if (character !== '"' && character !== "'") return -1;
        this.#startString(character, false);
        this.#isKey = true;
        return at + 1;
    }
  }

  #maybeClose(frame: Frame, character: string, at: number): number {
    if (character !== (frame.isObject ? '}' : ']')) return -1;
    this.#closeFrame();
    return at + 1;
  }

  #closeFrame(): void {
    const frame = this.#frames.pop()!;
    const space = this.#comma >= 0 ? this.#prefix.slice(0, this.#comma) : this.#prefix;
    this.#prefix = '';
    this.#comma = -1;
    const closer = space + (frame.isObject ? '}' : ']');
    if (this.#frames.length > 0) this.#say(closer);
    else this.#closer = closer;
    this.#endValue();
  }

  #valueSchema(): Schema {
    const frame = this.#frames[this.#frames.length - 1];
    if (!frame) return this.#schema;
    return frame.isObject
      ? this.#view.property(frame.schema, frame.key)
      : this.#view.item(frame.schema, frame.index);
  }

  #types(schema: Schema): ReadonlySet<JsonType> | null {
    return this.#isArguments && this.#frames.length === 0 ? OBJECT_ONLY : this.#view.types(schema);
  }

  #startValue(character: string, at: number): number {
    const schema = this.#valueSchema();
    const types = this.#types(schema);
    if (character === '"' || character === "'") {
      const choices = this.#view.choices(schema);
      const isTaken = !types || types.has('string');
      this.#startString(
        character,
        isTaken && (!choices || choices.every((choice) => typeof choice === 'string')),
      );
      return at + 1;
    }
    if (character === '{' || character === '[') {
      const isObject = character === '{';
      if (types && !fits(isObject ? 'object' : 'array', types) && types.has('string')) {
        this.#captured = new JsonReader(() => {}, undefined, this.#view);
        this.#text = '';
        this.#mode = 'captured';
        return at;
      }
      this.#say(character);
      this.#frames.push({ isObject, schema, expects: 'first', key: '', index: 0 });
      return at + 1;
    }
    if (!SCALAR.test(character)) return -1;
    this.#mode = 'scalar';
    this.#text = '';
    return at;
  }

  #startString(quote: string, isStreaming: boolean): void {
    this.#mode = 'string';
    this.#quote = quote;
    this.#isStreaming = isStreaming;
    this.#isKey = false;
    this.#text = '';
    if (isStreaming) this.#say('"');
  }

  #readString(text: string, from: number, to: number): number {
    if (this.#escape !== '') return this.#readEscape(text, from);
    const pattern = this.#quote === '"' ? DOUBLE_QUOTED_END : SINGLE_QUOTED_END;
    pattern.lastIndex = from;
    const found = pattern.test(text) ? pattern.lastIndex - 1 : to;
    const end = Math.min(found, to);
    if (end > from) this.#stringText(text.slice(from, end));
    if (end === to) return to;
    const character = text[end]!;
    if (character === this.#quote) this.#endString();
    else if (character === '\\') this.#escape = '\\';
    else this.#stringText(escapeControl(character));
    return end + 1;
  }

  #readEscape(text: string, at: number): number {
    const character = text[at]!;
    if (this.#escape.length > 1) {
      if (/[0-9a-fA-F]/.test(character)) {
        this.#escape += character;
        if (this.#escape.length === 6) this.#endEscape(this.#escape);
        return at + 1;
      }
      // `\u` without its digits is text.
      this.#endEscape(`\\${this.#escape}`);
      return at;
    }
    if (character === 'u') this.#escape = '\\u';
    else if ('"\\/bfnrt'.includes(character)) this.#endEscape(`\\${character}`);
    else if (character === "'") this.#endEscape("'");
    else if (character === '\n' || character === '\r') this.#endEscape(escapeControl(character));
    else {
      this.#endEscape('\\\\');
      return at;
    }
    return at + 1;
  }

  #endEscape(json: string): void {
    this.#escape = '';
    this.#stringText(json);
  }

  #stringText(json: string): void {
    if (this.#isStreaming) this.#emit(json);
    else this.#text += json;
  }

  #endString(): void {
    this.#mode = 'structure';
    if (this.#isStreaming) {
      this.#emit('"');
      this.#endValue();
      return;
    }
    const frame = this.#frames[this.#frames.length - 1];
    if (this.#isKey && frame) {
      this.#isKey = false;
      this.#prefix += `"${this.#text}"`;
      frame.key = JSON.parse(`"${this.#text}"`) as string;
      frame.expects = 'colon';
      return;
    }
    const value = JSON.parse(`"${this.#text}"`) as string;
    const schema = this.#valueSchema();
    if (this.#isArguments && !frame) {
      // Arguments that were encoded twice.
      this.#say(argumentsFromString(value, schema, this.#view) ?? JSON.stringify(value));
    } else {
      const isRight = (this.#types(schema)?.has('string') ?? true) && fitsSchema(value, schema, this.#view);
      this.#say(isRight ? JSON.stringify(value) : coerceText(value, schema, this.#view));
    }
    this.#endValue();
  }

  #readScalar(text: string, from: number, to: number): number {
    let at = from;
    while (at < to && SCALAR.test(text[at]!)) at++;
    this.#text += text.slice(from, at);
    if (at < to && !this.#endScalar()) return -1;
    return at;
  }

  #endScalar(): boolean {
    const json = Object.hasOwn(LITERALS, this.#text) ? LITERALS[this.#text]! : numberJson(this.#text);
    if (json === null) return false;
    this.#mode = 'structure';
    const schema = this.#valueSchema();
    const isArgumentsItself = this.#isArguments && this.#frames.length === 0;
    if (isArgumentsItself && json === 'null') this.#say('{}');
    else {
      const type = typeOfValue(JSON.parse(json));
      this.#say(
        fits(type, this.#types(schema)) || isArgumentsItself ? json : coerceText(json, schema, this.#view),
      );
    }
    this.#endValue();
    return true;
  }

  #readCaptured(text: string, from: number, to: number): number {
    const reader = this.#captured!;
    const at = reader.read(text, from, to);
    this.#text += text.slice(from, at);
    if (reader.isDone) {
      this.#captured = null;
      this.#mode = 'structure';
      this.#say(JSON.stringify(this.#text));
      this.#endValue();
      return at;
    }
    return at === from ? -1 : at;
  }

  #endValue(): void {
    const frame = this.#frames[this.#frames.length - 1];
    if (frame) frame.expects = 'next';
    else this.#done = true;
  }

  #say(json: string): void {
    this.#emit(this.#prefix + json);
    this.#prefix = '';
    this.#comma = -1;
  }
}

const OBJECT_ONLY: ReadonlySet<JsonType> = new Set<JsonType>(['object']);

/** The object that a string holds as JSON text, or null. */
function argumentsFromString(text: string, schema: Schema, view: SchemaView): string | null {
  let json = '';
  const reader = new JsonReader((piece) => (json += piece), schema, view, true);
  const trimmed = text.trim();
  if (!trimmed.startsWith('{') || reader.read(trimmed, 0, trimmed.length) !== trimmed.length) return null;
  return reader.isDone ? json + reader.takeCloser() : null;
}
