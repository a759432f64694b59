import { typeOfValue } from '../../../src/parser/schema-types.ts';
import { automatonRules } from '../automaton-rules.ts';
import type { EbnfGrammar } from '../ebnf.ts';
import type { LanguagePart } from '../guard/spec.ts';
import { INTEGER_FORMATS } from '../language/formats.ts';
import { parseRegex } from '../language/regex.ts';
import { regexAutomaton } from '../language/regex-automaton.ts';
import { Alternatives, type Conjunction, commonTypes, type PostCheck, valuesOf } from './alternatives.ts';
import { arrayExpression } from './array-rules.ts';
import { compare, decimalOf } from './decimal.ts';
import { jsonNotation, type Notation } from './notation.ts';
import {
  ANY_INTEGER,
  ANY_NUMBER,
  type Bound,
  integerPattern,
  multiplesExpression,
  type NumberRange,
  numberPattern,
  relaxed,
} from './numbers.ts';
import { objectExpression } from './object-rules.ts';
import { isRecord, type JsonType, pathTo, type SchemaDocument, schemaError } from './schema.ts';
import { type Both, objectShape } from './shape.ts';
import { canFollow, isUnfollowable, stringParts } from './strings.ts';
import { Validator } from './validate.ts';

export interface ValueRuleOptions {
  /** Place of the schema in the request, for errors and post-checks. */
  path: string;
  /**
   * Whether an object that declares properties has no others when it does not say: so for the arguments of tools.
   * JSON Schema says it may have any.
   */
  isClosed?: boolean;
  /** How values are spelled. Default: as JSON. */
  notation?: Notation;
  /** Called for each keyword that the grammar does not hold. */
  report?: (check: PostCheck) => void;
}

/** Values that a rule can be made of: each an expression, with the rules that it can't do without. */
export interface Branch {
  expression: string;
  needs: readonly string[];
}

export interface TypedBranch extends Branch {
  type: Exclude<JsonType, 'string'>;
}

/** Nothing fits the whole schema. */
export function unfitError(what: 'value' | 'arguments', { unfit, options: { path } }: ValueRules): Error {
  const inside = unfit === null || unfit === path ? '' : ` Nothing fits ${unfit}, and it is required.`;
  const none = what === 'value' ? 'No value fits' : 'No arguments fit';
  return schemaError(`${none} this schema.${inside}`, unfit ?? path, 'schema_unsatisfiable');
}

/** Makes rules of a schema's values. One for each schema and grammar. */
export class ValueRules {
  readonly grammar: EbnfGrammar;
  readonly document: SchemaDocument;
  readonly options: Required<ValueRuleOptions>;
  readonly notation: Notation;
  readonly #alternatives: Alternatives;
  readonly #validator: Validator;
  readonly #names = new Map<string, string | null>();
  /** By rule: the rules that each of its branches can't do without, and where it comes from. */
  readonly #needs = new Map<string, { needs: readonly (readonly string[])[]; path: string }>();
  readonly #reported = new Set<string>();
  /** Rules that are being made, and those of them that were asked for meanwhile. */
  readonly #open = new Set<string>();
  readonly #recursive = new Set<string>();

  /**
   * Where the schema is that nothing fits, as far as it is known when a rule has been refused: that of a part which
   * the value must have.
   */
  unfit: string | null = null;
  readonly #unfit = new Map<string, string>();

  constructor(grammar: EbnfGrammar, document: SchemaDocument, options: ValueRuleOptions) {
    this.grammar = grammar;
    this.document = document;
    this.notation = options.notation ?? jsonNotation(grammar);
    this.options = { isClosed: false, report: () => {}, ...options, notation: this.notation };
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
    this.unfit = null;
    if (nodes === null) return null;
    const ids = nodes.map(({ id }) => id).sort((a, b) => a - b);
    const key = `${ids.join()}${this.#sharing}`;
    const known = this.#names.get(key);
    if (known !== undefined) {
      if (this.#open.has(key)) this.#recursive.add(key);
      this.unfit = this.#unfit.get(key) ?? null;
      return known;
    }
    if (nodes.length === 0) return this.#remember(key, this.anything(), [[]], this.options.path);
    const hint = lastWord(nodes[0]!.path);
    const reserved = this.grammar.reserve(hint);
    this.#names.set(key, reserved);
    this.#open.add(key);
    this.unfit = null;
    const branches = this.document.within(nodes[0]!, () => this.#branches(nodes));
    this.#open.delete(key);
    if (branches.length === 0) {
      // Of several alternatives each has its own reason.
      if (this.alternatives(nodes).length > 1) this.unfit = null;
      this.unfit ??= nodes[0]!.path;
      this.#unfit.set(key, this.unfit);
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

  /**
   * All that a value may be: the languages of its strings (an empty list of parts: any string), and the rest.
   *
   * @param isWritten says which types, strings aside, are wanted
   */
  contents(
    nodes: Conjunction,
    isWritten: (type: JsonType) => boolean = () => true,
  ): { strings: LanguagePart[][]; others: TypedBranch[] } {
    const strings: LanguagePart[][] = [];
    const others: TypedBranch[] = [];
    for (const alternative of this.alternatives(nodes)) {
      const language = this.stringLanguage(alternative);
      if (language) strings.push(language);
      const values = this.listed(alternative);
      if (values) {
        for (const value of values) {
          const type = typeOfValue(value);
          if (type !== 'string') others.push({ type, expression: this.literal(value), needs: [] });
        }
        continue;
      }
      for (const type of commonTypes(alternative)) {
        if (type === 'string' || !isWritten(type)) continue;
        const branch = this.#typed(type, alternative);
        if (branch) others.push({ ...branch, type });
      }
    }
    return { strings, others };
  }

  #branches(nodes: Conjunction): Branch[] {
    const make = () => this.#branchesOnce(nodes);
    return this.#mayBeginAlike(nodes) ? this.grammar.alike(make, ({ expression }) => expression) : make();
  }

  /** Whether there are two ways to begin an object, or a list. */
  #mayBeginAlike(nodes: Conjunction): boolean {
    const types = this.alternatives(nodes).map(commonTypes);
    return ['object', 'array'].some(
      (type) => types.filter((all) => all.includes(type as JsonType)).length > 1,
    );
  }

  #branchesOnce(nodes: Conjunction): Branch[] {
    const { strings, others } = this.contents(nodes);
    const string = this.#strings(strings);
    return string === null ? others : [...others, { expression: string, needs: [] }];
  }

  /** Tells rules that are written to be shared from others. */
  get #sharing(): string {
    return this.grammar.isShared ? '_shared' : '';
  }

  /** Between two items or members. */
  get comma(): string {
    return this.notation.comma;
  }

  /** Any value. */
  anything(): string {
    const { grammar, notation } = this;
    const name = `any_${notation.name}${this.#sharing}`;
    if (grammar.has(name)) return name;
    const { open, close } = notation.members;
    const pair = notation.members.otherPair([], [], name);
    const list = (item: string) => `(${item} (${this.comma} ${item})*)?`;
    const constants = [true, false, null].map((value) => notation.constant(value));
    const scalars = [notation.string(), grammar.rule('number', ANY_NUMBER), ...constants];
    grammar.define(name, `${scalars.join(' | ')} | "[" ${list(name)} "]" | ${open} ${list(pair)} ${close}`);
    return name;
  }

  /** What the strings of an alternative are; null if there is none. */
  stringLanguage(nodes: Conjunction): LanguagePart[] | null {
    const values = this.listed(nodes);
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
  listed(nodes: Conjunction): unknown[] | null {
    const listed = nodes.flatMap(({ keywords }) => valuesOf(keywords) ?? []);
    if (!nodes.some(({ keywords }) => valuesOf(keywords))) return null;
    const distinct = [...new Map(listed.map((value) => [JSON.stringify(value), value])).values()];
    return distinct.filter((value) => nodes.every((node) => this.#validator.conforms(node, value)));
  }

  #strings(languages: readonly LanguagePart[][]): string | null {
    if (languages.length === 0) return null;
    if (languages.some((parts) => parts.length === 0)) return this.notation.string();
    const words = wordsOf(languages);
    if (!words) {
      const { texts } = this.notation;
      const held = languages.map((parts) => [...parts, ...texts]);
      if (canFollow(held)) return this.notation.guarded(held);
      // What a text is can be checked afterwards; where it ends must be certain.
      this.report({ keyword: 'type', path: this.options.path });
      return this.notation.string();
    }
    return this.grammar.rule('words', this.notation.words(words));
  }

  #typed(type: Exclude<JsonType, 'string'>, nodes: Conjunction): Branch | null {
    const plain = (expression: string | null): Branch | null =>
      expression === null ? null : { expression, needs: [] };
    switch (type) {
      case 'null':
        return plain(this.notation.constant(null));
      case 'boolean':
        return plain(`${this.notation.constant(true)} | ${this.notation.constant(false)}`);
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
    const within = this.#numbersWithin(range, isInteger);
    if (within !== undefined) return within;
    // Too many digits to follow one by one: held to fewer, and checked afterwards.
    for (const { keywords, path } of nodes) {
      for (const keyword of BOUNDS)
        if (keyword in keywords) this.report({ keyword, path: pathTo(path, keyword) });
    }
    const wider = this.#numbersWithin(relaxed(range), isInteger);
    return wider === undefined ? this.#anyNumber(isInteger) : wider;
  }

  /** Numbers in a range; null if there is none, undefined if its bounds are too long to be followed. */
  #numbersWithin(range: NumberRange, isInteger: boolean): string | null | undefined {
    if (!range.min && !range.max) return this.#anyNumber(isInteger);
    const pattern = isInteger ? integerPattern(range) : numberPattern(range);
    if (pattern === null) return null;
    try {
      // By an automaton, since ranges of numbers with different lengths begin alike.
      return this.grammar.once(`number ${pattern}`, () =>
        automatonRules(this.grammar, 'digits', regexAutomaton(parseRegex(`^(?:${pattern})$`))),
      );
    } catch (error) {
      if (isUnfollowable(error)) return undefined;
      throw error;
    }
  }

  #anyNumber(isInteger: boolean): string {
    return isInteger ? this.grammar.rule('integer', ANY_INTEGER) : this.grammar.rule('number', ANY_NUMBER);
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

  /** One value. */
  literal(value: unknown): string {
    const list = (open: string, items: readonly string[], close: string) =>
      [open, items.join(` ${this.comma} `), close].filter((part) => part !== '').join(' ');
    if (Array.isArray(value)) {
      return list(
        '"["',
        value.map((item) => this.literal(item)),
        '"]"',
      );
    }
    const { members } = this.notation;
    if (isRecord(value)) {
      const pairs = Object.entries(value).map(([key, item]) =>
        this.grammar.rule('pair', members.pair(key, this.literal(item))),
      );
      return list(members.open, pairs, members.close);
    }
    if (typeof value === 'string') return this.grammar.rule('word', this.notation.words([value]));
    if (typeof value === 'number') return this.grammar.literal(JSON.stringify(value));
    return this.notation.constant(value as boolean | null);
  }
}

const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'format'] as const;

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
    const order = known ? compare(bound.value, known.value) : 0;
    if (!known || (side === 'min' ? order > 0 : order < 0)) range[side] = bound;
    else if (order === 0) known.isExclusive ||= isExclusive;
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

/** The last step of a path, as a hint for a rule's name. */
const lastWord = (path: string) => /[A-Za-z0-9_]+(?=[^A-Za-z0-9_]*$)/.exec(path)?.[0] ?? 'value';
