import type { LanguagePart, LanguageSpec } from '../guard/spec.ts';
import { DEAD } from '../language/automaton.ts';
import { languageOf } from '../language/language.ts';
import type { Conjunction } from './alternatives.ts';
import { repeat } from './array-rules.ts';
import { pathTo, schemaError } from './schema.ts';
import { MOST_PATTERNS, type ObjectShape, type OtherKeys } from './shape.ts';
import { canFollow, stringParts } from './strings.ts';
import type { Branch, ValueRules } from './value-rules.ts';

/** Objects of at most so many declared properties may have them in any order. */
const MOST_UNORDERED = 4;

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
export function objectExpression(rules: ValueRules, shape: ObjectShape, nodes: Conjunction): Branch | null {
  const properties: Property[] = [];
  for (const { key, isRequired, schemas } of shape.properties) {
    const value = keyFits(rules, shape, key) ? rules.rule(schemas) : null;
    if (value !== null) properties.push({ key, value, isRequired });
    else if (isRequired) return null;
  }
  const declared = shape.properties.map(({ key }) => key);
  const others = otherClasses(rules, shape, declared, nodes);
  const most = others.length > 0 ? Number.POSITIVE_INFINITY : properties.length;
  const required = properties.filter(({ isRequired }) => isRequired);
  const bounds = { min: shape.min <= required.length ? 0 : shape.min, max: Math.min(shape.max, most) };
  if (bounds.min > bounds.max || required.length > shape.max) return null;
  const isPlain = others.every(({ language }) => language.length === 0);
  const writer =
    isPlain || (declared.length === 0 && others.length === 1)
      ? new PlainObject(rules, properties, declared, others[0] ?? null, bounds)
      : new GuardedObject(rules, properties, others, bounds);
  const body = writer.body();
  if (body === null) return null;
  return { expression: `"{" ${body}`, needs: required.map(({ value }) => value) };
}

/** Whether a declared key satisfies `propertyNames`. */
function keyFits(rules: ValueRules, { names }: ObjectShape, key: string): boolean {
  return names?.every((node) => rules.conforms(node, key)) ?? false;
}

function otherClasses(
  rules: ValueRules,
  { others, names }: ObjectShape,
  declared: readonly string[],
  nodes: Conjunction,
): OtherClass[] {
  if (names === null) return [];
  const nameParts: LanguagePart[][] = [];
  for (const alternative of names.length > 0 ? rules.alternatives(names) : []) {
    const parts = rules.stringLanguage(alternative);
    if (parts) nameParts.push(parts);
  }
  if (names.length > 0 && nameParts.length === 0) return [];
  if (others.length > 2 ** MOST_PATTERNS) {
    const node = nodes.find(({ keywords }) => 'patternProperties' in keywords)!;
    throw schemaError(
      `There are more than ${MOST_PATTERNS} patterns for the keys of one object: write fewer.`,
      pathTo(node.path, 'patternProperties'),
      'schema_unsupported',
    );
  }
  return others.flatMap((other) => {
    const value = rules.rule(other.schemas);
    if (value === null) return [];
    const language = keyLanguage(other, nameParts, declared);
    if (language.length > 0 && !canFollow(language)) {
      const keyword =
        other.patterns.length + other.without.length > 0 ? 'patternProperties' : 'propertyNames';
      const node = nodes.find(({ keywords }) => keyword in keywords) ?? nodes[0]!;
      throw schemaError(
        `A pattern of "${keyword}" can't be followed while a key is written: write a simpler one.`,
        pathTo(node.path, keyword),
        'schema_unsupported',
      );
    }
    return language.length > 0 && languageOf(language).start === DEAD ? [] : [{ language, value }];
  });
}

/** The keys of a class; no alternatives at all: any key but the declared ones. */
function keyLanguage(
  { patterns, without }: OtherKeys,
  names: readonly LanguagePart[][],
  declared: readonly string[],
): LanguageSpec {
  const own: LanguagePart[] = [
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

/** What is left to write of an object behind `{`. */
interface ObjectWriter {
  body(): string | null;
}

/** Declared keys are literals; behind them come others, all of one class. */
class PlainObject implements ObjectWriter {
  readonly #rules: ValueRules;
  readonly #pairs: readonly string[];
  readonly #required: readonly boolean[];
  readonly #other: string | null;
  readonly #bounds: Bounds;
  readonly #states = new Map<string, string | null>();

  constructor(
    rules: ValueRules,
    properties: readonly Property[],
    declared: readonly string[],
    other: OtherClass | null,
    bounds: Bounds,
  ) {
    this.#rules = rules;
    this.#bounds = bounds;
    this.#pairs = properties.map(({ key, value }) =>
      rules.grammar.rule(
        'pair',
        `${rules.grammar.literal(`${JSON.stringify(key)}:`)} ${rules.space} ${value}`,
      ),
    );
    this.#required = properties.map(({ isRequired }) => isRequired);
    this.#other = other && this.#otherPair(declared, other);
  }

  body(): string | null {
    const { min, max } = this.#bounds;
    const count = this.#pairs.length;
    const isCounted = min > 0 || max < (this.#other === null ? count : Number.POSITIVE_INFINITY);
    const isFree = count > (this.#other === null ? 1 : 0) && count <= MOST_UNORDERED;
    if (isFree && !isCounted) return this.#unordered((1 << count) - 1, true);
    return this.#ordered(0, 0, isCounted);
  }

  #otherPair(declared: readonly string[], { language, value }: OtherClass): string {
    const { grammar, space } = this.#rules;
    let key: string;
    if (language.length > 0) {
      key = `"\\"" ${grammar.guard({ kind: 'string', language })} ${this.#rules.stringBody()}`;
    } else if (declared.length === 0) key = this.#rules.string();
    else key = `"\\"" ${this.#rules.keyBody()} ${grammar.guard({ kind: 'other-key', declared })}`;
    return grammar.rule('other', `${key} ":" ${space} ${value}`);
  }

  #comma(isFirst: boolean): string {
    return isFirst ? '' : `"," ${this.#rules.space} `;
  }

  /** In the order of declaration, from property `index` on, behind `written` others; null if that can't be. */
  #ordered(index: number, written: number, isCounted: boolean): string | null {
    const key = `${index} ${written}`;
    let body = this.#states.get(key);
    if (body === undefined) {
      body = this.#orderedBody(index, written, isCounted);
      this.#states.set(key, body);
    }
    return body;
  }

  #orderedBody(index: number, written: number, isCounted: boolean): string | null {
    const isFirst = written === 0;
    if (index === this.#pairs.length) return this.#end(isFirst, written, isCounted);
    const isFull = written >= this.#bounds.max;
    const next = isFull ? null : this.#ordered(index + 1, isCounted ? written + 1 : 1, isCounted);
    const taken = next === null ? null : `${this.#comma(isFirst)}${this.#pairs[index]} ${next}`;
    if (this.#required[index]) return taken;
    const left = this.#ordered(index + 1, written, isCounted);
    if (taken === null || left === null) return taken ?? left;
    return this.#rules.grammar.rule('properties', `${taken} | ${left}`);
  }

  /** Others, and the closing brace. */
  #end(isFirst: boolean, written: number, isCounted: boolean): string | null {
    const min = isCounted ? Math.max(0, this.#bounds.min - written) : 0;
    const max = isCounted ? this.#bounds.max - written : Number.POSITIVE_INFINITY;
    if (this.#other === null || max <= 0) return min > 0 ? null : '"}"';
    const next = `"," ${this.#rules.space} ${this.#other}`;
    if (!isFirst) return this.#rules.grammar.rule('others', `${repeat(next, min, max)} "}"`);
    const some = `${this.#other} ${repeat(next, min - 1, max - 1)}`;
    return this.#rules.grammar.rule('others', min > 0 ? `${some} "}"` : `(${some})? "}"`);
  }

  /** In any order: `left` has a bit for each property that may come. */
  #unordered(left: number, isFirst: boolean): string {
    const key = `${left} ${isFirst}`;
    let name = this.#states.get(key);
    if (!name) {
      if (left === 0) name = this.#end(false, 0, false)!;
      else {
        name = this.#rules.grammar.reserve('properties');
        // Other keys lead back to the state that they come from.
        this.#states.set(key, name);
        this.#rules.grammar.define(name, this.#unorderedBody(left, isFirst));
      }
      this.#states.set(key, name);
    }
    return name;
  }

  #unorderedBody(left: number, isFirst: boolean): string {
    let mayEnd = true;
    const alternatives: string[] = [];
    for (const index of this.#pairs.keys()) {
      if (((left >> index) & 1) === 0) continue;
      mayEnd &&= !this.#required[index];
      alternatives.push(
        `${this.#comma(isFirst)}${this.#pairs[index]} ${this.#unordered(left & ~(1 << index), false)}`,
      );
    }
    if (this.#other !== null) {
      alternatives.push(`${this.#comma(isFirst)}${this.#other} ${this.#unordered(left, false)}`);
    }
    if (mayEnd) alternatives.push('"}"');
    return alternatives.join(' | ');
  }
}

/** All keys are read by a guard, which tells the class of each: a declared one, or one of the others. */
class GuardedObject implements ObjectWriter {
  readonly #rules: ValueRules;
  readonly #properties: readonly Property[];
  readonly #others: readonly OtherClass[];
  readonly #bounds: Bounds;
  readonly #states = new Map<string, string | null>();

  constructor(
    rules: ValueRules,
    properties: readonly Property[],
    others: readonly OtherClass[],
    bounds: Bounds,
  ) {
    this.#rules = rules;
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
    const { grammar, space } = this.#rules;
    const firstRequired = this.#properties.findIndex(({ isRequired }, at) => at >= index && isRequired);
    const last = firstRequired < 0 ? this.#properties.length - 1 : firstRequired;
    const classes: LanguageSpec[] = [];
    const branches: string[] = [];
    const add = (language: LanguageSpec, value: string, next: string | null) => {
      if (next === null) return;
      const signal = grammar.guard({ kind: 'class', index: classes.length });
      classes.push(language);
      branches.push(`${signal} ":" ${space} ${value} ${next}`);
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
    const comma = written === 0 ? '' : `"," ${space} `;
    const next =
      classes.length === 0
        ? null
        : `${comma}"\\"" ${grammar.guard({ kind: 'key', classes })} ${this.#rules.stringBody()} (${branches.join(' | ')})`;
    if (next === null) return ends ? '"}"' : null;
    return ends ? `${next} | "}"` : next;
  }
}
