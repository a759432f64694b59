/** Arguments written as parameters, one after the other, as the JSON object that they mean. */
import { coerceText, wholeJson } from './coercion.ts';
import type { Schema, SchemaView } from './schema.ts';

/** What a parameter's opener says. */
export interface ParameterHeader {
  key: string;
  /** Whether the value is marked as text or as JSON; undefined where the format does not mark it. */
  kind?: 'text' | 'json';
}

export interface ParameterSyntax {
  /** One line break after the value's opener and one before its closer belong to the markup. */
  trimsLineBreaks: boolean;
  /** Reads the text between a parameter opener's prefix and its end. Default: the key, trimmed. */
  readHeader?: (text: string) => ParameterHeader;
  /** Keys of a parameter that may hold all arguments as one object, where it is the only one. */
  wrapperKeys?: readonly string[];
}

/**
 * Says the object piece by piece: text of a parameter that can only be a string as it comes, any other value
 * when it is complete.
 *
 * ```
 * <parameter=city>\nOslo\n</parameter>\n<parameter=days>\n3\n</parameter>
 *                   {"city": "Oslo        "                  , "days": 3
 * ```
 */
export class ParameterAssembler {
  readonly #emit: (json: string) => void;
  readonly #syntax: ParameterSyntax;
  readonly #view: SchemaView;
  #count = 0;
  #key: string | null = null;
  #kind: ParameterHeader['kind'];
  #schema: Schema;
  #isStreaming = false;
  /** Nothing of the value was read yet. */
  #isFresh = false;
  #chunks: string[] = [];
  /** A line break that is the value's only if more follows. */
  #lineBreak = '';
  /** The first value, if it may be all arguments in one. */
  #wrapped: { text: string; json: string } | null = null;

  constructor(emit: (json: string) => void, view: SchemaView, syntax: ParameterSyntax) {
    this.#emit = emit;
    this.#view = view;
    this.#syntax = syntax;
  }

  /** No parameter has begun. */
  get isEmpty(): boolean {
    return this.#count === 0 && this.#key === null && this.#wrapped === null;
  }

  readHeader(text: string): ParameterHeader {
    return this.#syntax.readHeader?.(text) ?? { key: text.trim() };
  }

  declares(key: string): boolean {
    return this.#view.declares(this.#view.root, key);
  }

  /** A parameter begins. */
  start({ key, kind }: ParameterHeader): void {
    this.#giveWrapped();
    this.#key = key;
    this.#kind = kind;
    this.#schema = this.#view.property(this.#view.root, key);
    const types = this.#view.types(this.#schema);
    const isText = types ? types.size === 1 && types.has('string') : kind === 'text';
    // A string that is marked as JSON may come in quotes.
    this.#isStreaming = isText && kind !== 'json';
    this.#isFresh = true;
    this.#chunks = [];
    this.#lineBreak = '';
    if (this.#isStreaming) this.#emit(`${this.#opener()}"`);
  }

  /** The next characters of its value. */
  text(text: string): void {
    if (this.#key === null || text === '') return;
    let value = text;
    if (this.#syntax.trimsLineBreaks) {
      if (this.#isFresh && value[0] === '\n') value = value.slice(1);
      this.#isFresh = false;
      if (value === '') return;
      value = this.#lineBreak + value;
      this.#lineBreak = value.endsWith('\n') ? '\n' : '';
      if (this.#lineBreak !== '') value = value.slice(0, -1);
    }
    if (this.#isStreaming) this.#emit(JSON.stringify(value).slice(1, -1));
    else this.#chunks.push(value);
  }

  /** The value's end was seen. */
  endValue(): void {
    if (this.#key === null) return;
    if (this.#isStreaming) this.#emit('"');
    else {
      const text = this.#chunks.join('');
      const json = this.#opener() + this.#valueJson(text);
      const mayBeAll =
        this.#count === 0 && this.#syntax.wrapperKeys?.includes(this.#key) && !this.declares(this.#key);
      if (mayBeAll) this.#wrapped = { text, json };
      else this.#emit(json);
    }
    this.#key = null;
    this.#count++;
  }

  /** The call's end was seen; a value that is still open ends with it. */
  close(): void {
    this.endValue();
    const unwrapped = this.#wrapped && this.#unwrap(this.#wrapped.text);
    if (unwrapped) this.#emit(unwrapped);
    else {
      this.#giveWrapped();
      this.#emit(this.#count === 0 ? '{}' : '}');
    }
  }

  #valueJson(text: string): string {
    if (this.#kind !== 'json') return coerceText(text, this.#schema, this.#view);
    return coerceText(stringValue(text) ?? text, this.#schema, this.#view);
  }

  #giveWrapped(): void {
    if (this.#wrapped) this.#emit(this.#wrapped.json);
    this.#wrapped = null;
  }

  /** The arguments inside the only value, if all of its keys are declared. */
  #unwrap(text: string): string | null {
    const json = wholeJson((stringValue(text) ?? text).trim(), this.#view.root, this.#view);
    if (json === null || !json.startsWith('{')) return null;
    const keys = Object.keys(JSON.parse(json) as object);
    return keys.length > 0 && keys.every((key) => this.declares(key)) ? json : null;
  }

  #opener(): string {
    return `${this.#count === 0 ? '{' : ', '}${JSON.stringify(this.#key)}: `;
  }
}

/** The text that a JSON string spells, null for anything else. */
function stringValue(text: string): string | null {
  if (!text.trim().startsWith('"')) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : null;
  } catch {
    return null;
  }
}
