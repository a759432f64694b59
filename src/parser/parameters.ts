/** Arguments written as parameters, one after the other, as the JSON object that they mean. */
import { markedJson, readings, stringValue, wholeJson } from './coercion.ts';
import { jsonCharacters } from './json-text.ts';
import { hasConditions, isConditional, type OpenValue, readTogether } from './open-values.ts';
import type { Schema, SchemaView } from './schema.ts';

/** What a parameter's opener says. */
export interface ParameterHeader {
  key: string;
  /** Whether the value is marked as text or as JSON; undefined where the format does not mark it. */
  kind?: 'text' | 'json';
}

export interface ParameterSyntax {
  /**
   * One line break after the value's opener and one before its closer belong to the markup; `paired`: the second
   * only with the first.
   */
  trimsLineBreaks: boolean | 'paired';
  /** Reads the text between a parameter opener's prefix and its end. Default: the key, trimmed. */
  readHeader?: (text: string) => ParameterHeader;
  /** Keys of a parameter that may hold all arguments as one object, where it is the only one. */
  wrapperKeys?: readonly string[];
  /** Where a key may come again, and its values are a list then. */
  repeats?: {
    /** What all values of a key may be together, as JSON, the likeliest first. */
    read(texts: readonly string[], schema: Schema, view: SchemaView): readonly string[];
    /** Whether more of the key may come behind other keys: they wait with it. Elsewhere only right after itself. */
    mayComeLater(text: string, schema: Schema, view: SchemaView): boolean;
  };
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
  #isOpened = false;
  /** Nothing of the value was read yet. */
  #isFresh = false;
  /** A line break at the value's end is markup. */
  #isBordered = false;
  #chunks: string[] = [];
  /** A line break that is the value's only if more follows. */
  #lineBreak = '';
  /** Values by their keys, which may come again. */
  readonly #waiting = new Map<string, string[]>();
  /** One of them may come again behind other keys. */
  #isGathering = false;
  /** All values, where some may depend on others; those behind the first whose reading is open wait. */
  readonly #values: (OpenValue & { opener: string })[] = [];
  /** How many of them went out. */
  #given = 0;
  readonly #hasConditions: boolean;
  /** The first value, if it may be all arguments in one. */
  #wrapped: { text: string; json: string } | null = null;

  constructor(emit: (json: string) => void, view: SchemaView, syntax: ParameterSyntax) {
    this.#emit = emit;
    this.#view = view;
    this.#syntax = syntax;
    this.#hasConditions = hasConditions(view);
  }

  /** No parameter has begun. */
  get isEmpty(): boolean {
    return this.#count === 0 && this.#key === null && this.#wrapped === null && this.#waiting.size === 0;
  }

  readHeader(text: string): ParameterHeader {
    return this.#syntax.readHeader?.(text) ?? { key: text.trim() };
  }

  declares(key: string): boolean {
    return this.#view.declares(this.#view.root, key);
  }

  /** What comes next can't go out before others. */
  get #waits(): boolean {
    return this.#isGathering || this.#values.length > this.#given;
  }

  /** A parameter begins. */
  start({ key, kind }: ParameterHeader): void {
    this.#giveWrapped();
    if (!this.#isGathering && !this.#waiting.has(key)) this.#giveWaiting();
    this.#key = key;
    this.#kind = kind;
    this.#schema = this.#view.property(this.#view.root, key);
    const types = this.#view.types(this.#schema);
    const isText = types ? types.size === 1 && types.has('string') : kind === 'text';
    // A string that is marked as JSON may come in quotes.
    this.#isStreaming = isText && !this.#waits && kind !== 'json' && !this.#mayBeAll(key);
    this.#isFresh = true;
    this.#chunks = [];
    this.#lineBreak = '';
    this.#isOpened = false;
  }

  /** Its value begins: until then the key says nothing. */
  openValue(): void {
    if (this.#key === null || this.#isOpened) return;
    this.#isOpened = true;
    if (this.#isStreaming) this.#emit(`${this.#opener(this.#key)}"`);
  }

  /** The next characters of its value. */
  text(text: string): void {
    if (this.#key === null || text === '') return;
    let value = text;
    if (this.#syntax.trimsLineBreaks) {
      if (this.#isFresh) {
        this.#isBordered = value[0] === '\n' || this.#syntax.trimsLineBreaks === true;
        if (value[0] === '\n') value = value.slice(1);
      }
      this.#isFresh = false;
      if (value === '') return;
      value = this.#lineBreak + value;
      this.#lineBreak = this.#isBordered && value.endsWith('\n') ? '\n' : '';
      if (this.#lineBreak !== '') value = value.slice(0, -1);
    }
    if (this.#isStreaming) this.#emit(jsonCharacters(value));
    if (!this.#isStreaming || this.#hasConditions) this.#chunks.push(value);
  }

  /** The value's end was seen. */
  endValue(): void {
    if (this.#key === null) return;
    this.openValue();
    if (this.#syntax.repeats && !this.#isStreaming) {
      this.#wait(this.#key, this.#chunks.join(''), this.#syntax.repeats);
      this.#key = null;
      return;
    }
    this.#give(this.#key, this.#chunks.join(''));
    this.#key = null;
    this.#count++;
  }

  /** The call's end was seen; a value that is still open ends with it. */
  close(): void {
    this.endValue();
    this.#giveWaiting();
    if (this.#waits) this.#giveOpen(readTogether(this.#values, this.#view));
    const unwrapped = this.#wrapped && this.#unwrap(this.#wrapped.text);
    if (unwrapped) this.#emit(unwrapped);
    else {
      this.#giveWrapped();
      this.#emit(this.#count === 0 ? '{}' : '}');
    }
  }

  /** The call was cut: what waited goes out, as far as it has come. */
  cut(): void {
    this.#giveWaiting();
    this.#giveWrapped();
    const types = this.#view.types(this.#schema);
    const isString = types?.size === 1 && types.has('string');
    const waits = this.#waits;
    this.#giveOpen(this.#values.map(({ readings }) => readings[0]!));
    if (this.#key === null || !waits || !this.#isOpened || !isString) return;
    this.#emit(`${this.#opener(this.#key)}"${jsonCharacters(this.#chunks.join(''))}`);
    this.#key = null;
  }

  #give(key: string, text: string): void {
    if (this.#isStreaming) {
      this.#emit('"');
      if (!this.#hasConditions) return;
      this.#given++;
      this.#values.push({ key, opener: '', readings: [JSON.stringify(text)] });
      return;
    }
    const found = this.#readings(text);
    if (this.#mayBeAll(key)) this.#wrapped = { text, json: this.#opener(key) + found[0]! };
    else this.#say(key, found);
  }

  /** A value that is complete goes out, unless its reading is open or it waits behind one whose is. */
  #say(key: string, found: readonly string[]): void {
    const isOpen = found.length > 1 && isConditional(key, this.#view);
    const opener = this.#opener(key);
    const waits = isOpen || this.#values.length > this.#given;
    if (!waits) this.#emit(opener + found[0]!);
    if (!this.#hasConditions) return;
    if (!waits) this.#given++;
    this.#values.push({ key, opener, readings: isOpen ? found : found.slice(0, 1) });
  }

  #wait(key: string, text: string, repeats: NonNullable<ParameterSyntax['repeats']>): void {
    this.#isGathering ||= repeats.mayComeLater(text, this.#schema, this.#view);
    const known = this.#waiting.get(key);
    if (known) known.push(text);
    else this.#waiting.set(key, [text]);
  }

  #giveWaiting(): void {
    for (const [key, texts] of this.#waiting) {
      const schema = this.#view.property(this.#view.root, key);
      this.#say(key, this.#syntax.repeats!.read(texts, schema, this.#view));
      this.#count++;
    }
    this.#waiting.clear();
  }

  /** Whether it may hold all arguments: the first parameter, of a function that has no such one. */
  #mayBeAll(key: string): boolean {
    const isWrapper = this.#count === 0 && (this.#syntax.wrapperKeys?.includes(key) ?? false);
    return isWrapper && this.#view.root !== undefined && !this.declares(key);
  }

  #readings(text: string): string[] {
    if (this.#kind === undefined) return readings(text, this.#schema, this.#view);
    return [markedJson(text, this.#kind, this.#schema, this.#view)];
  }

  /** What waited, as it is read. */
  #giveOpen(read: readonly string[]): void {
    for (; this.#given < this.#values.length; this.#given++)
      this.#emit(this.#values[this.#given]!.opener + read[this.#given]!);
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

  #opener(key: string): string {
    return `${this.#count === 0 ? '{' : ', '}${JSON.stringify(key)}: `;
  }
}

export type CreateParameters = (emit: (json: string) => void, view: SchemaView) => ParameterAssembler;

/** For a format's `createParameters`: named there, so that it is loaded with the formats that need it. */
export const parametersAs =
  (syntax: ParameterSyntax): CreateParameters =>
  (emit, view) =>
    new ParameterAssembler(emit, view, syntax);
