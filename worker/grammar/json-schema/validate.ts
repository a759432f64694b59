/**
 * Whether a value fits a schema, by reading the schema. Needs no generated code, so it runs under a content security
 * policy, and decides what grammars leave open.
 */
import { formatSource, INTEGER_FORMATS } from '../language/formats.ts';
import { typeOfValue } from './alternatives.ts';
import { isMultiple } from './decimal.ts';
import { isRecord, pathTo, type Schema, SchemaDocument, type SchemaNode } from './schema.ts';

export interface Violation {
  /** The keyword that the value does not satisfy, or `false` for a schema that nothing satisfies. */
  keyword: string;
  /** Place in the value, from `value` on. */
  at: string;
}

/**
 * The first violation, or null.
 *
 * @throws BadRequestError for what is no schema
 */
export function validateJson(schema: unknown, value: unknown, path = 'schema'): Violation | null {
  const document = new SchemaDocument(schema, path);
  return new Validator(document).check(document.root, value, 'value');
}

type Rule = (node: SchemaNode, value: never, at: string) => Violation | string | null;

export class Validator {
  readonly #document: SchemaDocument;
  /** Nodes and values that are being looked at, against references that lead nowhere. */
  readonly #open = new Map<SchemaNode, unknown[]>();

  constructor(document: SchemaDocument) {
    this.#document = document;
  }

  check(schema: Schema, value: unknown, at = 'value'): Violation | null {
    if (schema === true) return null;
    if (schema === false) return { keyword: 'false', at };
    const open = this.#open.get(schema) ?? [];
    if (open.includes(value)) return null;
    this.#open.set(schema, [...open, value]);
    try {
      return this.#checkNode(schema, value, at);
    } finally {
      this.#open.set(schema, open);
    }
  }

  conforms(schema: Schema, value: unknown): boolean {
    return this.check(schema, value) === null;
  }

  #checkNode(node: SchemaNode, value: unknown, at: string): Violation | null {
    const type = typeOfValue(value);
    const rules: [Record<string, Rule>, boolean][] = [
      [this.#general, true],
      [this.#numbers, type === 'number' || type === 'integer'],
      [this.#strings, type === 'string'],
      [this.#arrays, type === 'array'],
      [this.#objects, type === 'object'],
    ];
    for (const [group, applies] of rules) {
      if (!applies) continue;
      for (const [keyword, rule] of Object.entries(group)) {
        if (!Object.hasOwn(node.keywords, keyword)) continue;
        const found = rule(node, value as never, at);
        if (found) return typeof found === 'string' ? { keyword: found, at } : found;
      }
    }
    return null;
  }

  #sub(node: SchemaNode, ...steps: (string | number)[]): Schema {
    return this.#document.sub(node, ...steps) ?? true;
  }

  readonly #general: Record<string, Rule> = {
    type: ({ keywords: { type, nullable } }, value: unknown) => {
      const types = Array.isArray(type) ? type : [type];
      const own = typeOfValue(value);
      const fits = types.includes(own) || (own === 'integer' && types.includes('number'));
      return fits || (nullable === true && value === null) ? null : 'type';
    },
    enum: ({ keywords }, value: unknown) =>
      canonicalSet(keywords.enum as unknown[]).has(canonical(value)) ? null : 'enum',
    const: ({ keywords }, value: unknown) => (isEqual(keywords.const, value) ? null : 'const'),
    $ref: (node, value, at) => this.check(this.#document.resolve(node, '$ref'), value, at),
    $recursiveRef: (node, value, at) => this.check(this.#document.resolve(node, '$recursiveRef'), value, at),
    allOf: (node, value, at) => {
      for (const part of this.#document.list(node, 'allOf')) {
        const found = this.check(part, value, at);
        if (found) return found;
      }
      return null;
    },
    anyOf: (node, value) =>
      this.#document.list(node, 'anyOf').some((part) => this.conforms(part, value)) ? null : 'anyOf',
    oneOf: (node, value) =>
      this.#document.list(node, 'oneOf').filter((part) => this.conforms(part, value)).length === 1
        ? null
        : 'oneOf',
    not: (node, value) => (this.conforms(this.#sub(node, 'not'), value) ? 'not' : null),
    if: (node, value, at) =>
      this.check(this.#sub(node, this.conforms(this.#sub(node, 'if'), value) ? 'then' : 'else'), value, at),
  };

  readonly #numbers: Record<string, Rule> = {
    minimum: ({ keywords }, value: number) =>
      value < (keywords.minimum as number) ||
      (keywords.exclusiveMinimum === true && value === keywords.minimum)
        ? 'minimum'
        : null,
    maximum: ({ keywords }, value: number) =>
      value > (keywords.maximum as number) ||
      (keywords.exclusiveMaximum === true && value === keywords.maximum)
        ? 'maximum'
        : null,
    exclusiveMinimum: ({ keywords }, value: number) =>
      typeof keywords.exclusiveMinimum === 'number' && value <= keywords.exclusiveMinimum
        ? 'exclusiveMinimum'
        : null,
    exclusiveMaximum: ({ keywords }, value: number) =>
      typeof keywords.exclusiveMaximum === 'number' && value >= keywords.exclusiveMaximum
        ? 'exclusiveMaximum'
        : null,
    multipleOf: ({ keywords }, value: number) =>
      isMultiple(value, keywords.multipleOf as number) ? null : 'multipleOf',
    format: ({ keywords }, value: number) => {
      const range = INTEGER_FORMATS[String(keywords.format)];
      return range && (!Number.isInteger(value) || value < range[0] || value > range[1]) ? 'format' : null;
    },
  };

  readonly #strings: Record<string, Rule> = {
    minLength: ({ keywords }, value: string) =>
      Array.from(value).length < (keywords.minLength as number) ? 'minLength' : null,
    maxLength: ({ keywords }, value: string) =>
      Array.from(value).length > (keywords.maxLength as number) ? 'maxLength' : null,
    pattern: ({ keywords }, value: string) =>
      this.#document.matches(keywords.pattern as string, value) ? null : 'pattern',
    format: ({ keywords }, value: string) =>
      isFormat(this.#document, keywords.format as string, value) ? null : 'format',
  };

  readonly #arrays: Record<string, Rule> = {
    minItems: ({ keywords }, value: unknown[]) =>
      value.length < (keywords.minItems as number) ? 'minItems' : null,
    maxItems: ({ keywords }, value: unknown[]) =>
      value.length > (keywords.maxItems as number) ? 'maxItems' : null,
    uniqueItems: ({ keywords }, value: unknown[]) =>
      keywords.uniqueItems === true && new Set(value.map(canonical)).size < value.length
        ? 'uniqueItems'
        : null,
    prefixItems: (node, value: unknown[], at) => this.#items(node, value, at),
    items: (node, value: unknown[], at) =>
      node.keywords.prefixItems === undefined ? this.#items(node, value, at) : null,
    contains: (node, value: unknown[]) => {
      const { minContains = 1, maxContains = Number.POSITIVE_INFINITY } = node.keywords as Record<
        string,
        number
      >;
      const found = value.filter((item) => this.conforms(this.#sub(node, 'contains'), item)).length;
      return found < minContains || found > maxContains ? 'contains' : null;
    },
    unevaluatedItems: (node, value: unknown[], at) => {
      const known = this.#evaluated(node, value);
      const index = value.findIndex(
        (item, place) => !known.has(place) && !this.conforms(this.#sub(node, 'unevaluatedItems'), item),
      );
      return index < 0 ? null : { keyword: 'unevaluatedItems', at: pathTo(at, index) };
    },
  };

  readonly #objects: Record<string, Rule> = {
    required: ({ keywords }, value: object) =>
      (keywords.required as string[]).every((key) => Object.hasOwn(value, key)) ? null : 'required',
    minProperties: ({ keywords }, value: object) =>
      Object.keys(value).length < (keywords.minProperties as number) ? 'minProperties' : null,
    maxProperties: ({ keywords }, value: object) =>
      Object.keys(value).length > (keywords.maxProperties as number) ? 'maxProperties' : null,
    properties: (node, value: object, at) => this.#properties(node, value, at),
    patternProperties: (node, value: object, at) =>
      node.keywords.properties === undefined ? this.#properties(node, value, at) : null,
    additionalProperties: (node, value: object, at) =>
      node.keywords.properties === undefined && node.keywords.patternProperties === undefined
        ? this.#properties(node, value, at)
        : null,
    propertyNames: (node, value: object, at) => {
      for (const key of Object.keys(value)) {
        const found = this.check(this.#sub(node, 'propertyNames'), key, pathTo(at, key));
        if (found) return found;
      }
      return null;
    },
    dependentRequired: (node, value: object) =>
      Object.entries(node.keywords.dependentRequired as Record<string, string[]>).every(
        ([key, others]) => !Object.hasOwn(value, key) || others.every((other) => Object.hasOwn(value, other)),
      )
        ? null
        : 'dependentRequired',
    dependentSchemas: (node, value: object, at) => this.#dependent(node, 'dependentSchemas', value, at),
    dependencies: (node, value: object, at) => this.#dependent(node, 'dependencies', value, at),
    unevaluatedProperties: (node, value: object, at) => {
      const known = this.#evaluated(node, value);
      for (const [key, inner] of Object.entries(value)) {
        if (known.has(key)) continue;
        const found = this.check(this.#sub(node, 'unevaluatedProperties'), inner, pathTo(at, key));
        if (found) return { keyword: 'unevaluatedProperties', at: found.at };
      }
      return null;
    },
  };

  #items(node: SchemaNode, value: unknown[], at: string): Violation | null {
    for (const [index, item] of value.entries()) {
      const found = this.check(itemSchema(this.#document, node, index), item, pathTo(at, index));
      if (found) return found;
    }
    return null;
  }

  #properties(node: SchemaNode, value: object, at: string): Violation | null {
    for (const [key, inner] of Object.entries(value)) {
      for (const schema of propertySchemas(this.#document, node, key)) {
        const found = this.check(schema, inner, pathTo(at, key));
        if (found)
          return found.keyword === 'false' ? { keyword: 'additionalProperties', at: found.at } : found;
      }
    }
    return null;
  }

  #dependent(node: SchemaNode, keyword: string, value: object, at: string): Violation | string | null {
    for (const [key, dependency] of Object.entries(node.keywords[keyword] as Record<string, unknown>)) {
      if (!Object.hasOwn(value, key)) continue;
      if (Array.isArray(dependency)) {
        if (!dependency.every((other) => Object.hasOwn(value, other as string))) return keyword;
        continue;
      }
      const found = this.check(this.#sub(node, keyword, key), value, at);
      if (found) return found;
    }
    return null;
  }

  /** Keys or indices that the schemas of a node have looked at. */
  #evaluated(node: SchemaNode, value: object): Set<string | number> {
    const known = new Set<string | number>();
    const add = (schema: Schema) => {
      if (typeof schema === 'boolean' || !this.conforms(schema, value)) return;
      for (const key of this.#evaluated(schema, value)) known.add(key);
    };
    const { keywords } = node;
    if (Array.isArray(value)) {
      const prefix = Array.isArray(keywords.prefixItems) ? keywords.prefixItems.length : 0;
      const all = keywords.items !== undefined || keywords.unevaluatedItems === true;
      for (const index of value.keys()) if (all || index < prefix) known.add(index);
      if (keywords.contains !== undefined) {
        for (const [index, item] of value.entries()) {
          if (this.conforms(this.#sub(node, 'contains'), item)) known.add(index);
        }
      }
    } else {
      for (const key of Object.keys(value)) {
        if (propertySchemas(this.#document, node, key).length > 0 || keywords.unevaluatedProperties === true)
          known.add(key);
      }
    }
    for (const keyword of ['$ref', '$recursiveRef']) {
      if (keyword in keywords) add(this.#document.resolve(node, keyword));
    }
    for (const keyword of ['allOf', 'anyOf', 'oneOf']) this.#document.list(node, keyword).forEach(add);
    if ('if' in keywords) {
      const holds = this.conforms(this.#sub(node, 'if'), value);
      if (holds) add(this.#sub(node, 'if'));
      add(this.#sub(node, holds ? 'then' : 'else'));
    }
    for (const key of Object.keys(isRecord(keywords.dependentSchemas) ? keywords.dependentSchemas : {})) {
      if (Object.hasOwn(value, key)) add(this.#sub(node, 'dependentSchemas', key));
    }
    return known;
  }
}

/** The schema of the item at an index, by one node; `true` if it says nothing. */
export function itemSchema(document: SchemaDocument, node: SchemaNode, index: number): Schema {
  const { prefixItems, items } = node.keywords;
  if (Array.isArray(prefixItems)) {
    return document.sub(node, ...(index < prefixItems.length ? ['prefixItems', index] : ['items'])) ?? true;
  }
  // Drafts before 2020-12 write the first items as a list.
  if (Array.isArray(items)) {
    return document.sub(node, ...(index < items.length ? ['items', index] : ['additionalItems'])) ?? true;
  }
  return document.sub(node, 'items') ?? true;
}

/** The schemas that one node has for a property; none if it says nothing. */
export function propertySchemas(document: SchemaDocument, node: SchemaNode, key: string): Schema[] {
  const found = [document.sub(node, 'properties', key)];
  for (const source of Object.keys(
    isRecord(node.keywords.patternProperties) ? node.keywords.patternProperties : {},
  )) {
    if (document.matches(source, key)) found.push(document.sub(node, 'patternProperties', source));
  }
  const declared = found.filter((schema) => schema !== undefined);
  if (declared.length > 0) return declared;
  const additional = document.sub(node, 'additionalProperties');
  return additional === undefined ? [] : [additional];
}

function isFormat(document: SchemaDocument, format: string, value: string): boolean {
  if (format === 'regex') {
    try {
      new RegExp(value, 'u');
      return true;
    } catch {
      return false;
    }
  }
  const source = formatSource(format);
  return source === null || source === 'check' || document.matches(source, value);
}

const isEqual = (a: unknown, b: unknown) => canonical(a) === canonical(b);

const canonicalSets = new WeakMap<readonly unknown[], ReadonlySet<string>>();

/** Kept for the next time: all values of a list may be looked for in it. */
function canonicalSet(values: readonly unknown[]): ReadonlySet<string> {
  let set = canonicalSets.get(values);
  if (!set) {
    set = new Set(values.map(canonical));
    canonicalSets.set(values, set);
  }
  return set;
}

/** One spelling for all values that are the same. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join()}}`;
}
