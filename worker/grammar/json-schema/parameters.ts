/** Arguments that are written as parameters, one after the other, in the format of a family. */
import { coerceText } from '../../../src/parser/coercion.ts';
import { type Schema, SchemaView } from '../../../src/parser/schema.ts';
import { isOfType } from '../../../src/parser/schema-types.ts';
import type { EbnfGrammar } from '../ebnf.ts';
import type { LanguagePart } from '../guard/spec.ts';
import { type Conjunction, commonTypes, valuesOf } from './alternatives.ts';
import { arrayExpression } from './array-rules.ts';
import { chosenKeys } from './chosen-keys.ts';
import { jsonNotation } from './notation.ts';
import { ANY_INTEGER, ANY_NUMBER } from './numbers.ts';
import { keyFits, reportCount, requirementOf } from './object-rules.ts';
import { ANY_KEY, freeKey, type Key, ParameterKeys } from './parameter-keys.ts';
import type { ParameterStyle } from './parameter-style.ts';
import { ParameterTexts } from './parameter-texts.ts';
import { isRecord, type JsonType, pathTo, SchemaDocument, schemaError } from './schema.ts';
import { sequence } from './sequence.ts';
import { type Both, type ObjectShape, objectShape } from './shape.ts';
import { type TypedBranch, unfitError, type ValueRuleOptions, ValueRules, wordsOf } from './value-rules.ts';

/**
 * Adds the rules of a schema's properties, each written as a parameter, to a grammar. A value that can only be a
 * string stands there as its text, any other as JSON. Keys that the schema does not declare are what the parser reads as
 * they are, of up to 120 characters.
 *
 * @returns the name of the rule of all parameters
 * @throws BadRequestError with the place of what is wrong or can't be satisfied
 */
export function parametersRule(
  grammar: EbnfGrammar,
  schema: unknown,
  style: ParameterStyle,
  options: ValueRuleOptions,
): string {
  const document = new SchemaDocument(schema, options.path);
  const texts = new ParameterTexts(grammar, style);
  const notation = jsonNotation(grammar, texts.marks);
  const rules = new ValueRules(grammar, document, { ...options, notation });
  const { root } = document;
  const alternatives = root === false ? [] : rules.alternatives(root === true ? [] : [root]);
  const view = new SchemaView(schema);
  const hasBranches = alternatives.length > 1;
  if (hasBranches && style.open('a', 'text') === style.open('a', 'json') && openKeys(view) > MOST_OPEN) {
    rules.report({ keyword: 'anyOf', path: options.path });
  }
  const writer = new ParameterWriter(rules, style, texts, view, hasBranches);
  const write = (nodes: Conjunction) => {
    if (!commonTypes(nodes).includes('object')) return [];
    const shape = objectShape(document, nodes, rules.options.isClosed, rules.report);
    return writer.object(shape, schema, nodes) ?? [];
  };
  const make = () => alternatives.flatMap(write);
  const found = hasBranches ? grammar.alike(make, (expression) => expression) : make();
  if (found.length === 0) {
    if (alternatives.length > 1) rules.unfit = null;
    if (writer.unwritten === null) throw unfitError('arguments', rules);
    throw schemaError(
      "The calls of this model can't have as many properties as this asks for, because no key that is not declared can be written there: declare them.",
      writer.unwritten,
      'schema_unsupported',
    );
  }
  rules.checkEnds();
  return grammar.rule('parameters', [...new Set(found)].join(' | '));
}

/** Keys whose values may be open at once, up to which the parser tries all ways to read them. */
const MOST_OPEN = 4;

/** How many keys have values that may be texts or something else. */
function openKeys(view: SchemaView): number {
  const keys = Array.from(view.declaredKeys(view.root), (key) => view.types(view.property(view.root, key)));
  return keys.filter((types) => !types || (types.has('string') && types.size > 1)).length;
}

/** Values as elements. */
interface Elements {
  type: JsonType;
  /** A text may stand in their place. */
  isBeside: boolean;
  /** Rule of what they hold; null if nothing fits. */
  held: string | null;
}

/** What texts look like that may be JSON. */
const LIKE_JSON = '^\\s*(?:["\\[{\\-\\d]|(?:[nN][uU][lL][lL]|[tT][rR][uU][eE]|[fF][aA][lL][sS][eE])\\s*$)';

class ParameterWriter {
  readonly #rules: ValueRules;
  readonly #grammar: EbnfGrammar;
  readonly #style: ParameterStyle;
  readonly #texts: ParameterTexts;
  readonly #keys: ParameterKeys;

  /** How the parser sees the schema: by it elements are read. */
  readonly #view: SchemaView;
  readonly #hasBranches: boolean;
  /** Rules of what elements hold, by the schemas for the grammar and the parser. */
  readonly #held = new Map<string, string | null>();
  readonly #viewed: Schema[] = [];

  /** @param hasBranches whether the parser may see more in a value than the branch has that is written */
  constructor(
    rules: ValueRules,
    style: ParameterStyle,
    texts: ParameterTexts,
    view: SchemaView,
    hasBranches: boolean,
  ) {
    this.#view = view;
    this.#hasBranches = hasBranches;
    this.#rules = rules;
    this.#grammar = rules.grammar;
    this.#style = style;
    this.#texts = texts;
    this.#keys = new ParameterKeys(rules.grammar, style);
  }

  /** Where more properties are asked for than can be written; null where no such place was found. */
  unwritten: string | null = null;

  /**
   * @param schema the parser's
   * @param isInside whether it stands in an element
   */
  object(shape: ObjectShape, schema: Schema, nodes: Conjunction, isInside = false): string | null {
    const declared = shape.properties.map(({ key }) => key);
    const keys = [...new Set([...declared, ...this.#view.declaredKeys(schema)])];
    const members: { expression: string; isRequired: boolean }[] = [];
    for (const { key, isRequired, schemas } of shape.properties) {
      this.#rules.unfit = null;
      const place = placeOf(nodes, key) ?? this.#rules.options.path;
      const isPossible = schemas !== null && keyFits(this.#rules, shape, key);
      if (isPossible) this.#keys.check(key, place);
      const expression = isPossible
        ? this.#parameter(key, schemas, place, this.#view.property(schema, key), isInside)
        : null;
      if (expression !== null) members.push({ expression, isRequired });
      else if (isRequired) {
        this.#rules.unfit ??= schemas?.[0]?.path ?? requirementOf(nodes, key);
        return null;
      }
    }
    this.#rules.unfit = null;
    const required = members.filter(({ isRequired }) => isRequired).length;
    const other = isInside ? null : this.#others(shape, schema, keys, nodes);
    if (required > shape.max) return null;
    if (other === null && members.length < shape.min && shape.min <= shape.max) {
      const hasOthers = shape.names !== null && shape.others.some(({ schemas }) => schemas !== null);
      const node = nodes.find(({ keywords }) => 'minProperties' in keywords);
      if (hasOthers && node) this.unwritten = pathTo(node.path, 'minProperties');
    }
    if (other !== null) reportCount(this.#rules, shape, nodes, required);
    return sequence(this.#grammar, {
      members,
      other,
      separator: this.#style.separator === '' ? '' : this.#grammar.markup(this.#style.separator),
      end: '""',
      min: shape.min <= required ? 0 : shape.min,
      max: Math.min(shape.max, other === null ? members.length : Number.POSITIVE_INFINITY),
    });
  }

  /** Parameters with keys that the model chooses; null where there are none. */
  #others(shape: ObjectShape, schema: Schema, keys: readonly string[], nodes: Conjunction): string | null {
    const classes = chosenKeys(this.#rules, this.#style, this.#keys, this.#view, { shape, keys, nodes });
    const found = classes.flatMap(({ keys: written, schemas, isPatterned }) => {
      // A key that comes twice makes a list of its values.
      if (schemas[0] && this.#style.elements) this.#rules.report({ keyword: 'type', path: schemas[0].path });
      const seen = isPatterned ? undefined : this.#view.property(schema, freeKey(keys));
      const place = schemas[0]?.path ?? this.#rules.options.path;
      return written
        .map((key) => this.#parameter(key, schemas, place, seen, false))
        .filter((parameter) => parameter !== null);
    });
    return found.length > 0 ? this.#grammar.rule('other', [...new Set(found)].join(' | ')) : null;
  }

  /**
   * One parameter; with a language for its key, one of any such key. Null if no value fits.
   *
   * @param place for errors
   * @param schema the parser's
   */
  #parameter(key: Key, schemas: Both, place: string, schema: Schema, isInside: boolean): string | null {
    if (schemas === null) return null;
    const elements = this.#style.elements ? this.#elements(schemas, schema) : null;
    const contents = this.#rules.contents(
      schemas,
      (type) => elements?.isBeside !== false || type !== elements.type,
    );
    const { others } = contents;
    const strings = isInside ? this.#withoutJson(contents.strings, schemas, schema) : contents.strings;
    const json = others.length > 0 ? this.#json(others.map(({ expression }) => expression)) : null;
    const text = strings.length > 0 ? this.#texts.text(strings, place, this.#rules.report) : null;
    if (elements) {
      const held =
        elements.held === null ? null : `${elements.held} ${this.#grammar.markup(this.#style.close)}`;
      const either =
        text !== null && json !== null ? this.#either(strings, others, json, schemas, place) : null;
      const values = [...(either ? [either] : [text, json]), held].filter((value) => value !== null);
      return values.length > 0
        ? this.#pair(key, 'json', this.#grammar.rule('value', values.join(' | ')))
        : null;
    }
    if (this.#style.open('a', 'text') !== this.#style.open('a', 'json')) {
      const marked = [...(text === null ? [] : [this.#pair(key, 'text', text)]), ...this.#typed(key, others)];
      return marked.length > 0 ? this.#grammar.rule('parameter', marked.join(' | ')) : null;
    }
    if (json === null || text === null) {
      if (text !== null) return this.#pair(key, 'text', text);
      return json === null ? null : this.#pair(key, 'json', json);
    }
    return this.#pair(key, 'text', this.#either(strings, others, json, schemas, place));
  }

  /** Parameters with values in JSON, one for all types that are marked alike. */
  #typed(key: Key, branches: readonly TypedBranch[]): string[] {
    const openers = new Map<string, TypedBranch[]>();
    for (const branch of branches) {
      const opener = this.#style.open('a', 'json', branch.type);
      openers.set(opener, [...(openers.get(opener) ?? []), branch]);
    }
    return Array.from(openers.values(), (alike) =>
      this.#pair(key, 'json', this.#json(alike.map(({ expression }) => expression)), alike[0]!.type),
    );
  }

  /**
   * Lists or objects as elements, where the parser reads them as what they are; null where they stand as JSON. Beside
   * texts they may stand as JSON too, and as elements they hold something: what holds nothing is a text.
   *
   * @param schema the parser's
   */
  #elements(schemas: Conjunction, schema: Schema): Elements | null {
    const seen = this.#view.describedTypes(schema);
    if (!seen) return null;
    const type = seen.has('array') ? 'array' : 'object';
    const alternatives = this.#rules.alternatives(schemas);
    const able = alternatives.filter(
      (nodes) => commonTypes(nodes).includes(type) && !nodes.some((node) => valuesOf(node.keywords)),
    );
    const [nodes] = able;
    if (!seen.has(type) || able.length !== 1 || !nodes) return null;
    const types = this.#view.types(schema);
    const isBeside =
      !types ||
      types.has('string') ||
      alternatives.some((alternative) => this.#rules.stringLanguage(alternative) !== null);
    const { document, options, report } = this.#rules;
    const shape = type === 'object' ? objectShape(document, nodes, options.isClosed, report) : null;
    // A key that the model chooses may come twice, which makes a list.
    if (shape && (shape.others.some((other) => other.schemas !== null) || shape.names?.length !== 0))
      return null;
    const kind = isBeside ? 'filled' : 'any';
    const sharing = this.#grammar.isShared ? ' shared' : '';
    const key = `${kind} ${type} ${nodes.map(({ id }) => id).join()} ${this.#numberOf(schema)}${sharing}`;
    const known = this.#held.get(key);
    if (known !== undefined) return { type, isBeside, held: known };
    const name = this.#grammar.reserve('elements');
    this.#held.set(key, name);
    const filled = shape && isBeside ? { ...shape, min: Math.max(1, shape.min) } : shape;
    const body = document.within(nodes[0]!, () =>
      filled ? this.object(filled, schema, nodes, true) : this.#items(nodes, schema, isBeside),
    );
    // As JSON it is known whether values have an end.
    if (body === null || this.#rules.rule(nodes) === null) this.#held.set(key, null);
    else this.#grammar.define(name, body);
    return { type, isBeside, held: this.#held.get(key)! };
  }

  /**
   * Texts of an element that are no JSON, where the parser may take them for values of another branch: only those of
   * the arguments themselves wait for what the others tell.
   *
   * @param schema the parser's
   */
  #withoutJson(strings: LanguagePart[][], schemas: Conjunction, schema: Schema): LanguagePart[][] {
    const own = new Set<JsonType>(this.#rules.alternatives(schemas).flatMap(commonTypes));
    const seen = this.#view.types(schema);
    if (!this.#hasBranches || (seen && [...seen].every((type) => isOfType(type, own)))) return strings;
    return strings.flatMap((parts) => {
      const words = wordsOf([parts])?.filter(
        (word) => coerceText(word, schema, this.#view) === JSON.stringify(word),
      );
      if (!words) return [[...parts, { notPattern: LIKE_JSON }]];
      return words.length > 0 ? [[{ words }]] : [];
    });
  }

  #items(nodes: Conjunction, schema: Schema, isFilled: boolean): string | null {
    const { item } = this.#style.elements!;
    const branch = arrayExpression(this.#rules, nodes, {
      isFilled,
      open: '""',
      close: '""',
      comma: '',
      item: (schemas, index) => {
        const place = schemas?.[0]?.path ?? this.#rules.options.path;
        return this.#parameter(item, schemas, place, this.#view.item(schema, index), true);
      },
    });
    return branch?.expression ?? null;
  }

  #numberOf(schema: Schema): number {
    if (!this.#viewed.includes(schema)) this.#viewed.push(schema);
    return this.#viewed.indexOf(schema);
  }

  /** Text or JSON, where nothing before the value tells which. */
  #either(
    strings: LanguagePart[][],
    others: readonly TypedBranch[],
    json: string,
    schemas: NonNullable<Both>,
    place: string,
  ): string {
    const { report } = this.#rules;
    const words = wordsOf(strings);
    if (words) return `(${this.#texts.words(words, place)} | ${json})`;
    const free: Readonly<Record<string, LanguagePart>> = {
      '"null"': { words: ['null'] },
      '"true" | "false"': { words: ['true', 'false'] },
      [this.#grammar.rule('integer', ANY_INTEGER)]: { pattern: '^(?:0|-?[1-9]\\d*)$' },
      [this.#grammar.rule('number', ANY_NUMBER)]: { pattern: '^-?(?:0|[1-9]\\d*)(?:\\.\\d+)?$' },
    };
    const languages = others.map(({ expression }) => free[expression]);
    if (languages.every((part) => part !== undefined)) {
      const isAny = strings.some((parts) => parts.length === 0);
      const all = isAny ? [[]] : [...strings, ...languages.map((part) => [part])];
      return this.#texts.text(all, place, report);
    }
    // Text that reads as JSON counts as JSON, and then it should fit.
    const [node] = schemas;
    if (node) report({ keyword: 'type', path: node.path });
    return this.#texts.text([[]], place, report);
  }

  #pair(key: Key, kind: 'text' | 'json', value: string, type?: JsonType): string {
    const { escapeKey } = this.#style;
    const [before, after] = this.#style.open(ANY_KEY, kind, type).split(ANY_KEY) as [string, string];
    const closer = this.#keys.endIn(after);
    let written: string;
    if (typeof key !== 'string') {
      const { start = '', language } = key;
      const guard = this.#grammar.guard({ kind: 'text', language, closer });
      written = `${start} ${guard} ${this.#grammar.textUntil(closer)}`.trimStart();
    } else {
      written = `${this.#grammar.literal(escapeKey?.(key) ?? key)} ${this.#grammar.markup(closer)}`;
    }
    const rest = after === closer ? '' : ` ${this.#grammar.markup(after.slice(closer.length))}`;
    const parameter = `${this.#grammar.markup(before)} ${written}${rest} ${value}`;
    return this.#grammar.rule('parameter', `${parameter}${this.#end(key)}`);
  }

  /** What stands behind the closer; a key that the model chooses need not be the same there, but is none that makes another tag. */
  #end(key: Key): string {
    const { elements } = this.#style;
    if (!elements) return '';
    const { closeEnd } = elements;
    if (typeof key === 'string') return ` ${this.#grammar.literal(key)} ${this.#grammar.markup(closeEnd)}`;
    const language = [this.#keys.closing];
    const guard = this.#grammar.guard({ kind: 'text', language, closer: closeEnd });
    return ` ${guard} ${this.#grammar.textUntil(closeEnd)}`;
  }

  #json(expressions: readonly string[]): string {
    const value = this.#grammar.rule('value', [...new Set(expressions)].join(' | '));
    return `${this.#grammar.plain} ${value} ${this.#grammar.markup(this.#style.close)}`;
  }
}

/** Where a schema speaks of a property. */
function placeOf(nodes: Conjunction, key: string): string | null {
  const node = nodes.find(
    ({ keywords: { properties } }) => isRecord(properties) && Object.hasOwn(properties, key),
  );
  return node ? pathTo(pathTo(node.path, 'properties'), key) : requirementOf(nodes, key);
}
