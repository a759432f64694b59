import { automatonRules } from '../automaton-rules.ts';
import { type EbnfGrammar, escapeClass } from '../ebnf.ts';
import type { LanguagePart } from '../guard/spec.ts';
import { parseRegex } from '../language/regex.ts';
import { regexAutomaton } from '../language/regex-automaton.ts';
import { Alternatives, type Conjunction, commonTypes, type PostCheck, valuesOf } from './alternatives.ts';
import { arrayExpression } from './array-rules.ts';
import { decimalOf } from './decimal.ts';
import {
  ANY_INTEGER,
  ANY_NUMBER,
  type Bound,
  integerPattern,
  multiplesExpression,
  type NumberRange,
  numberPattern,
} from './numbers.ts';
import { objectExpression } from './object-rules.ts';
import { isRecord, type JsonType, pathTo, type SchemaDocument, schemaError } from './schema.ts';
import { type Both, objectShape } from './shape.ts';
import { stringParts } from './strings.ts';
import { INTEGER_FORMATS, Validator } from './validate.ts';

/** White space behind commas and colons: at most one space, or always one. Nowhere else is any. */
export type Spacing = 'optional' | 'fixed';

export interface JsonRuleOptions {
  /** Place of the schema in the request, for errors and post-checks. */
  path: string;
  spacing?: Spacing;
  /**
   * Whether an object that declares properties has no others when it does not say: so for the arguments of tools.
   * JSON Schema says it may have any.
   */
  isClosed?: boolean;
  /** A character that strings spell as an escape only, because outside of them it means something. */
  escapes?: string;
  /** Called for each keyword that the grammar does not hold. */
  report?: (check: PostCheck) => void;
}

/** Values that a rule can be made of: each an expression, with the rules that it can't do without. */
export interface Branch {
  expression: string;
  needs: readonly string[];
}

/** Makes rules of a schema's values. One for each schema and grammar. */
export class ValueRules {
  readonly grammar: EbnfGrammar;
  readonly document: SchemaDocument;
  readonly options: Required<JsonRuleOptions>;
  /** The comma and the colon, with the space behind them. */
  readonly comma: string;
  readonly colon: string;
  readonly #alternatives: Alternatives;
  readonly #validator: Validator;
  readonly #names = new Map<string, string | null>();
  /** By rule: the rules that each of its branches can't do without, and where it comes from. */
  readonly #needs = new Map<string, { needs: readonly (readonly string[])[]; path: string }>();
  readonly #reported = new Set<string>();
  /** Rules that are being made, and those of them that were asked for meanwhile. */
  readonly #open = new Set<string>();
  readonly #recursive = new Set<string>();

  constructor(grammar: EbnfGrammar, document: SchemaDocument, options: JsonRuleOptions) {
    this.grammar = grammar;
    this.document = document;
    this.options = { spacing: 'optional', isClosed: false, escapes: '', report: () => {}, ...options };
    // As rules of their own they are compiled once, which halves the time that many tools take.
    const space = this.options.spacing === 'optional' ? '" "?' : '" "';
    this.comma = grammar.rule('comma', `"," ${space}`);
    this.colon = grammar.rule('colon', `":" ${space}`);
    this.#alternatives = new Alternatives(document, this.report);
    this.#validator = new Validator(document);
  }

  /** Reports a keyword once. */
  readonly report = (check: PostCheck): void => {
    const key = `${check.keyword} ${check.path}`;
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.options.report(check);
  };

  /** Alternatives of a value, each of which holds no combining keyword. */
  alternatives(nodes: Conjunction): Conjunction[] {
    return this.#alternatives.of(nodes);
  }

  /** Name of the rule of a value that fits all the nodes; null if none does. */
  rule(nodes: Both): string | null {
    if (nodes === null) return null;
    const key = nodes
      .map(({ id }) => id)
      .sort((a, b) => a - b)
      .join();
    const known = this.#names.get(key);
    if (known !== undefined) {
      if (this.#open.has(key)) this.#recursive.add(key);
      return known;
    }
    if (nodes.length === 0) return this.#remember(key, this.anything(), [[]], this.options.path);
    const hint = lastWord(nodes[0]!.path);
    const reserved = this.grammar.reserve(hint);
    this.#names.set(key, reserved);
    this.#open.add(key);
    const branches = this.#branches(nodes);
    this.#open.delete(key);
    if (branches.length === 0) {
      this.#names.set(key, null);
      return null;
    }
    const body = [...new Set(branches.map(({ expression }) => expression))].join(' | ');
    let name = reserved;
    if (this.#recursive.has(key)) this.grammar.define(reserved, body);
    // Rules that no rule names yet are shared, and left out where they would only name another.
    else name = this.grammar.has(body) ? body : this.grammar.rule(hint, body);
    const needs = branches.map(({ needs }) => needs);
    return this.#remember(key, name, needs, nodes[0]!.path);
  }

  /**
   * Makes sure that a rule has an end: a property that must hold an object of its own kind for ever has none.
   *
   * @throws BadRequestError
   */
  checkEnds(): void {
    const ending = new Set<string>();
    for (let before = -1; before !== ending.size; ) {
      before = ending.size;
      for (const [name, { needs }] of this.#needs) {
        if (needs.some((names) => names.every((needed) => ending.has(needed) || !this.#needs.has(needed)))) {
          ending.add(name);
        }
      }
    }
    for (const [name, { path }] of this.#needs) {
      if (!ending.has(name)) {
        throw schemaError(
          'No finite value fits this schema: it requires itself again and again.',
          path,
          'schema_unsatisfiable',
        );
      }
    }
  }

  /** All that a value may be: the languages of its strings (an empty list of parts: any string), and the rest. */
  contents(nodes: Conjunction): { strings: LanguagePart[][]; others: Branch[] } {
    const strings: LanguagePart[][] = [];
    const others: Branch[] = [];
    for (const alternative of this.alternatives(nodes)) {
      const language = this.stringLanguage(alternative);
      if (language) strings.push(language);
      const values = this.#values(alternative);
      if (values) {
        for (const value of values) {
          if (typeof value !== 'string') others.push({ expression: this.literal(value), needs: [] });
        }
        continue;
      }
      for (const type of commonTypes(alternative)) {
        const branch = type === 'string' ? null : this.#typed(type, alternative);
        if (branch) others.push(branch);
      }
    }
    return { strings, others };
  }

  #branches(nodes: Conjunction): Branch[] {
    const { strings, others } = this.contents(nodes);
    const string = this.#strings(strings);
    return string === null ? others : [...others, { expression: string, needs: [] }];
  }

  /** Any JSON value. */
  anything(): string {
    const { grammar } = this;
    const name = `any_${this.options.spacing}${this.#variant}`;
    if (grammar.has(name)) return name;
    const string = this.string();
    const pair = `${string} ${this.colon} ${name}`;
    const list = (item: string) => `(${item} (${this.comma} ${item})*)?`;
    grammar.define(
      name,
      `${string} | ${grammar.rule('number', ANY_NUMBER)} | "true" | "false" | "null" | "[" ${list(name)} "]" | "{" ${list(pair)} "}"`,
    );
    return name;
  }

  /** Any string, with its quotes. */
  string(): string {
    return this.grammar.rule('string', `"\\"" ${this.stringBody()}`);
  }

  /** The rest of a string behind its opening quote. */
  stringBody(): string {
    const name = `string_body${this.#variant}`;
    if (this.grammar.has(name)) return name;
    const hex = '[0-9a-fA-F]';
    // A half of a pair of surrogates is no character.
    const escaped = this.grammar.rule(
      'escaped',
      `["\\\\/bfnrt] | "u" ([0-9a-ce-fA-CE-F] ${hex} ${hex} ${hex} | [dD] [0-7] ${hex} ${hex} | [dD] [89abAB] ${hex} ${hex} "\\\\u" [dD] [c-fC-F] ${hex} ${hex})`,
    );
    this.grammar.define(name, `"\\"" | ${this.#character} ${name} | "\\\\" ${escaped} ${name}`);
    return name;
  }

  /** The rest of a key behind its opening quote, without escapes; it tells by a question that it is being written. */
  keyBody(): string {
    const name = `key_body${this.#variant}`;
    if (!this.grammar.has(name)) {
      this.grammar.define(name, `"\\"" | ${this.grammar.question} | ${this.#character} ${name}`);
    }
    return name;
  }

  /** JSON text as a literal. */
  json(text: string): string {
    const { escapes } = this.options;
    const escaped =
      escapes === ''
        ? text
        : text.replaceAll(escapes, `\\u${escapes.charCodeAt(0).toString(16).padStart(4, '0')}`);
    return this.grammar.literal(escaped);
  }

  get #character(): string {
    return `[^"\\\\\\u0000-\\u001f${escapeClass(this.options.escapes)}]`;
  }

  /** Rules with escaped characters have names of their own. */
  get #variant(): string {
    return this.options.escapes === '' ? '' : `_${this.options.escapes.charCodeAt(0)}`;
  }

  /** What the strings of an alternative are; null if there is none. */
  stringLanguage(nodes: Conjunction): LanguagePart[] | null {
    const values = this.#values(nodes);
    if (values) {
      const words = values.filter((value) => typeof value === 'string');
      return words.length > 0 ? [{ words }] : null;
    }
    return commonTypes(nodes).includes('string') ? stringParts(nodes, this.report) : null;
  }

  conforms(node: Conjunction[number], value: unknown): boolean {
    return this.#validator.conforms(node, value);
  }

  #remember(key: string, name: string, needs: readonly (readonly string[])[], path: string): string {
    this.#names.set(key, name);
    if (!this.#needs.has(name)) this.#needs.set(name, { needs, path });
    return name;
  }

  /** The values that `enum` and `const` leave; null without either. */
  #values(nodes: Conjunction): unknown[] | null {
    const listed = nodes.flatMap(({ keywords }) => valuesOf(keywords) ?? []);
    if (!nodes.some(({ keywords }) => valuesOf(keywords))) return null;
    const distinct = [...new Map(listed.map((value) => [JSON.stringify(value), value])).values()];
    return distinct.filter((value) => nodes.every((node) => this.#validator.conforms(node, value)));
  }

  #strings(languages: readonly LanguagePart[][]): string | null {
    if (languages.length === 0) return null;
    if (languages.some((parts) => parts.length === 0)) return this.string();
    const words = wordsOf(languages);
    if (words) {
      return this.grammar.rule('words', words.map((word) => this.json(JSON.stringify(word))).join(' | '));
    }
    return this.grammar.rule(
      'text',
      `"\\"" ${this.grammar.guard({ kind: 'string', language: languages })} ${this.stringBody()}`,
    );
  }

  #typed(type: Exclude<JsonType, 'string'>, nodes: Conjunction): Branch | null {
    const plain = (expression: string | null): Branch | null =>
      expression === null ? null : { expression, needs: [] };
    switch (type) {
      case 'null':
        return plain('"null"');
      case 'boolean':
        return plain('"true" | "false"');
      case 'integer':
      case 'number':
        return plain(this.#number(nodes, type === 'integer'));
      case 'array':
        return arrayExpression(this, nodes);
      case 'object': {
        const shape = objectShape(this.document, nodes, this.options.isClosed, this.report);
        return objectExpression(this, shape, nodes);
      }
    }
  }

  #number(nodes: Conjunction, isInteger: boolean): string | null {
    const range = rangeOf(nodes);
    const steps = nodes.flatMap((node) =>
      typeof node.keywords.multipleOf === 'number' ? [{ node, step: node.keywords.multipleOf }] : [],
    );
    for (const { node, step } of steps) {
      const expression = multiplesExpression(range, step, isInteger, (body, rests) =>
        this.#rests(body, rests),
      );
      if (expression === null) return null;
      if (expression !== undefined) {
        for (const other of steps) if (other.node !== node) this.#reportStep(other.node);
        return this.grammar.rule('multiple', expression);
      }
      this.#reportStep(node);
    }
    if (!range.min && !range.max) {
      return isInteger ? this.grammar.rule('integer', ANY_INTEGER) : this.grammar.rule('number', ANY_NUMBER);
    }
    const pattern = isInteger ? integerPattern(range) : numberPattern(range);
    if (pattern === null) return null;
    // By an automaton, since ranges of numbers with different lengths begin alike.
    return this.grammar.once(`number ${pattern}`, () =>
      automatonRules(this.grammar, 'digits', regexAutomaton(parseRegex(`^(?:${pattern})$`))),
    );
  }

  #reportStep(node: Conjunction[number]): void {
    this.report({ keyword: 'multipleOf', path: pathTo(node.path, 'multipleOf') });
  }

  /** Rules that read digits and know what is left of dividing by a number. */
  #rests(body: (self: (rest: bigint) => string) => string, divisor: bigint): string {
    const names = Array.from({ length: Number(divisor) }, () => this.grammar.reserve('rest'));
    for (const [rest, name] of names.entries()) {
      const digits = Array.from(
        { length: 10 },
        (_, digit) => `"${digit}" ${names[Number((BigInt(rest) * 10n + BigInt(digit)) % divisor)]}`,
      );
      this.grammar.define(name, [...digits, ...(rest === 0 ? ['""'] : [])].join(' | '));
    }
    const start = this.grammar.rule(
      'multiple',
      [
        '"0"',
        ...Array.from(
          { length: 9 },
          (_, index) => `"${index + 1}" ${names[Number(BigInt(index + 1) % divisor)]}`,
        ),
      ].join(' | '),
    );
    return body((rest) => (rest === 0n ? start : names[Number(rest)]!));
  }

  /** One value, spelled as JSON. */
  literal(value: unknown): string {
    if (Array.isArray(value)) {
      return ['"["', value.map((item) => this.literal(item)).join(` ${this.comma} `), '"]"']
        .filter((part) => part !== '')
        .join(' ');
    }
    if (isRecord(value)) {
      const pairs = Object.entries(value).map(
        ([key, item]) => `${this.json(JSON.stringify(key))} ${this.colon} ${this.literal(item)}`,
      );
      return ['"{"', pairs.join(` ${this.comma} `), '"}"'].filter((part) => part !== '').join(' ');
    }
    return this.json(JSON.stringify(value));
  }
}

/** Strings that are spelled one by one; more of them are followed by a guard. */
const MOST_SPELLED = 300;

/** The strings themselves, where they are few and known. */
export function wordsOf(languages: readonly LanguagePart[][]): string[] | null {
  const words = new Set<string>();
  for (const parts of languages) {
    const [part] = parts;
    if (parts.length !== 1 || !('words' in part!)) return null;
    for (const word of part.words) words.add(word);
  }
  return words.size <= MOST_SPELLED ? [...words] : null;
}

function rangeOf(nodes: Conjunction): NumberRange {
  const range: NumberRange = { min: null, max: null };
  const add = (side: 'min' | 'max', value: number, isExclusive: boolean) => {
    const bound: Bound = { value: decimalOf(value), isExclusive };
    const known = range[side];
    const isTighter = known && (side === 'min' ? value > numberOf(known) : value < numberOf(known));
    if (!known || isTighter) range[side] = bound;
    else if (value === numberOf(known)) known.isExclusive ||= isExclusive;
  };
  for (const { keywords } of nodes) {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, format } = keywords;
    if (typeof minimum === 'number') add('min', minimum, exclusiveMinimum === true);
    if (typeof maximum === 'number') add('max', maximum, exclusiveMaximum === true);
    if (typeof exclusiveMinimum === 'number') add('min', exclusiveMinimum, true);
    if (typeof exclusiveMaximum === 'number') add('max', exclusiveMaximum, true);
    const limits =
      typeof format === 'string' && Object.hasOwn(INTEGER_FORMATS, format) ? INTEGER_FORMATS[format] : null;
    if (limits) {
      add('min', limits[0], false);
      add('max', limits[1], false);
    }
  }
  return range;
}

const numberOf = ({ value }: Bound) => Number(value.units) / 10 ** value.places;

/** The last step of a path, as a hint for a rule's name. */
const lastWord = (path: string) => /[A-Za-z0-9_]+(?=[^A-Za-z0-9_]*$)/.exec(path)?.[0] ?? 'value';
