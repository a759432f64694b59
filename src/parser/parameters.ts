/** Arguments written as parameters, one after the other, as the JSON object that they mean. */
import { coerceText } from './coercion.ts';
import type { Schema, SchemaView } from './schema.ts';

export interface ParameterSyntax {
  /** One line break after the value's opener and one before its closer belong to the markup. */
  trimsLineBreaks: boolean;
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
  #schema: Schema;
  #isStreaming = false;
  /** Nothing of the value was read yet. */
  #isFresh = false;
  #chunks: string[] = [];
  /** A line break that is the value's only if more follows. */
  #lineBreak = '';

  constructor(emit: (json: string) => void, view: SchemaView, syntax: ParameterSyntax) {
    this.#emit = emit;
    this.#view = view;
    this.#syntax = syntax;
  }

  /** A parameter begins. */
  key(key: string): void {
    this.#key = key;
    this.#schema = this.#view.property(this.#view.root, key);
    const types = this.#view.types(this.#schema);
    this.#isStreaming = types?.size === 1 && types.has('string');
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
    else this.#emit(this.#opener() + coerceText(this.#chunks.join(''), this.#schema, this.#view));
    this.#key = null;
    this.#count++;
  }

  /** The call's end was seen; a value that is still open ends with it. */
  close(): void {
    this.endValue();
    this.#emit(this.#count === 0 ? '{}' : '}');
  }

  #opener(): string {
    return `${this.#count === 0 ? '{' : ', '}${JSON.stringify(this.#key)}: `;
  }
}
