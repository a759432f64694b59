import type { LanguagePart, LanguageSpec } from '../guard/spec.ts';
import { DEAD } from '../language/automaton.ts';
import { languageOf } from '../language/language.ts';
import type { Conjunction } from './alternatives.ts';
import type { KeyClass, MemberNotation } from './notation.ts';
import { pathTo, type SchemaNode, schemaError } from './schema.ts';
import { sequence } from './sequence.ts';
import { MOST_PATTERNS, type ObjectShape, type OtherKeys } from './shape.ts';
import { canFollow } from './strings.ts';
import type { Branch, ValueRules } from './value-rules.ts';

/** A declared property that a value can be given. */
interface Property {
  key: string;
  value: string;
  isRequired: boolean;
}

/** Keys of one class that no schema names, and the rule of their values. */
interface OtherClass {
  language: LanguageSpec;
  value: string;
}

/** Objects that fit a shape; null if none does. */
export function objectExpression(
  rules: ValueRules,
  shape: ObjectShape,
  nodes: Conjunction,
  notation: MemberNotation = rules.notation.members,
): Branch | null {
  const properties: Property[] = [];
  for (const { key, isRequired, schemas } of shape.properties) {
    rules.unfit = null;
    const value = keyFits(rules, shape, key) ? rules.rule(schemas) : null;
    if (value !== null) properties.push({ key, value, isRequired });
    else if (isRequired) {
      rules.unfit ??= requirementOf(nodes, key);
      return null;
    }
  }
  rules.unfit = null;
  const declared = shape.properties.map(({ key }) => key);
  const others = otherClasses(rules, shape, nodes, notation);
  const most = others.length > 0 ? Number.POSITIVE_INFINITY : properties.length;
  const required = properties.filter(({ isRequired }) => isRequired);
  const bounds = { min: shape.min <= required.length ? 0 : shape.min, max: Math.min(shape.max, most) };
  if (bounds.min > bounds.max || required.length > shape.max) return null;
  if (others.length > 0) reportCount(rules, shape, nodes, required.length);
  const isPlain = others.every(({ language }) => language.length === 0);
  const body =
    isPlain || (declared.length === 0 && others.length === 1)
      ? plainObject(rules, notation, properties, declared, others[0] ?? null, bounds)
      : new ClassedObject(rules, notation, properties, others, bounds).body();
  if (body === null) return null;
  return { expression: `${notation.open} ${body}`, needs: required.map(({ value }) => value) };
}

/** Keys that are not declared may come twice, and count once: with more than one of them the number is checked afterwards. */
export function reportCount(
  rules: ValueRules,
  { min }: ObjectShape,
  nodes: Conjunction,
  required: number,
): void {
  if (min <= required + 1) return;
  for (const { keywords, path } of nodes) {
    const keyword = 'minProperties';
    if (keyword in keywords) rules.report({ keyword, path: pathTo(path, keyword) });
  }
}

/** Where it stands that a value must have this key. */
export function requirementOf(nodes: Conjunction, key: string): string | null {
  const requires = ({ keywords: { required } }: SchemaNode) =>
    Array.isArray(required) && required.includes(key);
  const node = nodes.find(requires);
  return node ? pathTo(node.path, 'required') : null;
}

/** Whether a declared key satisfies `propertyNames`. */
export function keyFits(rules: ValueRules, { names }: ObjectShape, key: string): boolean {
  return names?.every((node) => rules.conforms(node, key)) ?? false;
}

function otherClasses(
  rules: ValueRules,
  { properties, others, names }: ObjectShape,
  nodes: Conjunction,
  notation: MemberNotation,
): OtherClass[] {
  if (names === null) return [];
  const nameParts: LanguagePart[][] = [];
  for (const alternative of names.length > 0 ? rules.alternatives(names) : []) {
    const parts = rules.stringLanguage(alternative);
    if (parts) nameParts.push(parts);
  }
  if (names.length > 0 && nameParts.length === 0) return [];
  checkPatternCount(others, nodes);
  const declared = properties.map(({ key }) => key);
  return others.flatMap((other) => {
    const value = rules.rule(other.schemas);
    if (value === null) return [];
    const language = keyLanguage(other, nameParts, declared, notation.others);
    if (language.length > 0 && !canFollow(language)) throw unfollowedKeysError(other, nodes);
    return language.length > 0 && languageOf(language).start === DEAD ? [] : [{ language, value }];
  });
}

/** What keys of a class are is too much to follow while they are written. */
export function unfollowedKeysError({ patterns, without }: OtherKeys, nodes: Conjunction): Error {
  const keyword = patterns.length + without.length > 0 ? 'patternProperties' : 'propertyNames';
  const node = nodes.find(({ keywords }) => keyword in keywords) ?? nodes[0]!;
  return schemaError(
    `A pattern of "${keyword}" can't be followed while a key is written: write a simpler one.`,
    pathTo(node.path, keyword),
    'schema_unsupported',
  );
}

/** @throws BadRequestError for patterns that make more classes of keys than can be followed */
export function checkPatternCount(others: readonly OtherKeys[], nodes: Conjunction): void {
  if (others.length <= 2 ** MOST_PATTERNS) return;
  const node = nodes.find(({ keywords }) => 'patternProperties' in keywords)!;
  throw schemaError(
    `There are more than ${MOST_PATTERNS} patterns for the keys of one object: write fewer.`,
    pathTo(node.path, 'patternProperties'),
    'schema_unsupported',
  );
}

/** The keys of a class; no alternatives at all: any key but the declared ones. */
function keyLanguage(
  { patterns, without }: OtherKeys,
  names: readonly LanguagePart[][],
  declared: readonly string[],
  always: readonly LanguagePart[],
): LanguageSpec {
  const own: LanguagePart[] = [
    ...always,
    ...patterns.map((pattern) => ({ pattern })),
    ...without.map((notPattern) => ({ notPattern })),
  ];
  const alternatives = names.length > 0 ? names.map((parts) => [...parts, ...own]) : [own];
  if (alternatives.some((parts) => parts.length === 0)) return [];
  return alternatives.map((parts) => (declared.length > 0 ? [...parts, { not: declared }] : parts));
}

interface Bounds {
  min: number;
  max: number;
}

/** Declared keys are literals; behind them come others, all of one class. */
function plainObject(
  rules: ValueRules,
  notation: MemberNotation,
  properties: readonly Property[],
  declared: readonly string[],
  other: OtherClass | null,
  bounds: Bounds,
): string | null {
  return sequence(rules.grammar, {
    members: properties.map(({ key, value, isRequired }) => ({
      expression: rules.grammar.rule('pair', notation.pair(key, value)),
      isRequired,
    })),
    other: other && rules.grammar.rule('other', notation.otherPair(other.language, declared, other.value)),
    separator: rules.comma,
    end: notation.close,
    ...bounds,
  });
}

/** The class of each key is told when it has been read: a declared one, or one of the others. */
class ClassedObject {
  readonly #rules: ValueRules;
  readonly #notation: MemberNotation;
  readonly #properties: readonly Property[];
  readonly #others: readonly OtherClass[];
  readonly #bounds: Bounds;
  readonly #states = new Map<string, string | null>();

  constructor(
    rules: ValueRules,
    notation: MemberNotation,
    properties: readonly Property[],
    others: readonly OtherClass[],
    bounds: Bounds,
  ) {
    this.#rules = rules;
    this.#notation = notation;
    this.#properties = properties;
    this.#others = others;
    this.#bounds = bounds;
  }

  body(): string | null {
    return this.#state(0, 0);
  }

  /** Declared properties from `index` on are left. */
  #state(index: number, written: number): string | null {
    const counted = Math.min(
      written,
      Math.max(this.#bounds.min, Number.isFinite(this.#bounds.max) ? this.#bounds.max : 1),
    );
    const key = `${index} ${counted}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const name = this.#rules.grammar.reserve('properties');
    // Others lead back to the state that they come from.
    this.#states.set(key, name);
    const body = this.#stateBody(index, counted);
    if (body === null) this.#states.set(key, null);
    else this.#rules.grammar.define(name, body);
    return body === null ? null : name;
  }

  #stateBody(index: number, written: number): string | null {
    const firstRequired = this.#properties.findIndex(({ isRequired }, at) => at >= index && isRequired);
    const last = firstRequired < 0 ? this.#properties.length - 1 : firstRequired;
    const classes: KeyClass[] = [];
    const add = (language: LanguageSpec, value: string, next: string | null) => {
      if (next !== null) classes.push({ language, rest: `${value} ${next}` });
    };
    if (written < this.#bounds.max) {
      for (let at = index; at <= last; at++) {
        const { key, value } = this.#properties[at]!;
        add([[{ words: [key] }]], value, this.#state(at + 1, written + 1));
      }
      if (firstRequired < 0) {
        for (const { language, value } of this.#others) {
          add(language, value, this.#state(this.#properties.length, written + 1));
        }
      }
    }
    const ends = firstRequired < 0 && written >= this.#bounds.min;
    const comma = written === 0 ? '' : `${this.#rules.comma} `;
    const { close } = this.#notation;
    if (classes.length === 0) return ends ? close : null;
    const next = `${comma}${this.#notation.choice(classes)}`;
    return ends ? `${next} | ${close}` : next;
  }
}
