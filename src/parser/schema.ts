/** What a JSON schema says about the types of a value: as much as coercion needs. */

export type JsonType = 'null' | 'integer' | 'number' | 'boolean' | 'object' | 'array' | 'string';

/** A schema node, or anything at all: schemas come from callers. */
export type Schema = unknown;

const ALIASES: Readonly<Record<string, JsonType>> = {
  null: 'null',
  integer: 'integer',
  int: 'integer',
  int32: 'integer',
  int64: 'integer',
  uint: 'integer',
  uint32: 'integer',
  uint64: 'integer',
  long: 'integer',
  short: 'integer',
  unsigned: 'integer',
  number: 'number',
  float: 'number',
  float32: 'number',
  float64: 'number',
  double: 'number',
  boolean: 'boolean',
  bool: 'boolean',
  object: 'object',
  dict: 'object',
  array: 'array',
  arr: 'array',
  list: 'array',
  sequence: 'array',
  string: 'string',
  str: 'string',
  text: 'string',
  varchar: 'string',
  char: 'string',
  enum: 'string',
};

/** A repeated group, a reference to one, or more than two repetitions in a row: what backtracking multiplies. */
const COULD_TAKE_LONG = /\)[*+?{]|\\[1-9k]|(?:[*+}][^*+}]*){3}/;
/** Characters of a key that patterns are tried on. */
const LONGEST_KEY = 256;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The JSON type of a value that was parsed. */
export function typeOfValue(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  if (typeof value === 'boolean') return 'boolean';
  return typeof value === 'string' ? 'string' : 'object';
}

/** One tool's parameter schema, with its local references and what was already worked out. */
export class SchemaView {
  readonly #root: Schema;
  readonly #types = new WeakMap<object, ReadonlySet<JsonType> | null>();
  readonly #patterns = new Map<string, RegExp | null>();
  /** Parts that several branches of a schema describe. */
  readonly #parts = new Map<object, Map<string, Schema>>();

  constructor(root: Schema) {
    this.#root = root;
  }

  get root(): Schema {
    return this.#root;
  }

  /** Types that the schema admits, `null` when it says nothing about types. */
  types(schema: Schema): ReadonlySet<JsonType> | null {
    if (!isRecord(schema)) return null;
    const known = this.#types.get(schema);
    if (known !== undefined) return known;
    const types = new Set<JsonType>();
    this.#collect(schema, types, new Set());
    const result = types.size > 0 ? types : null;
    this.#types.set(schema, result);
    return result;
  }

  /** Values of an `enum` or `const` at the node itself, `null` without one. */
  choices(schema: Schema): readonly unknown[] | null {
    const node = this.#resolve(schema);
    if (!node) return null;
    if (Array.isArray(node.enum)) return node.enum;
    return 'const' in node ? [node.const] : null;
  }

  /** Values that `enum` and `const` list at the node or in its branches; empty without any. */
  listed(schema: Schema): readonly unknown[] {
    const values: unknown[] = [];
    this.#find(schema, (node) => {
      values.push(...(this.choices(node) ?? []));
      return undefined;
    });
    return values;
  }

  /** The schema of an object's property, through references and combinators; what branches say differently, any. */
  property(schema: Schema, key: string): Schema {
    const declared = this.#joined(schema, `.${key}`, (node) =>
      isRecord(node.properties) && Object.hasOwn(node.properties, key) ? node.properties[key] : undefined,
    );
    if (declared !== undefined) return declared;
    const matched = this.#patterned(schema, key);
    if (matched !== undefined) return matched;
    return this.#joined(schema, '*', (node) =>
      isRecord(node.additionalProperties) ? node.additionalProperties : undefined,
    );
  }

  /** True when `key` is spelled out among the properties. */
  declares(schema: Schema, key: string): boolean {
    return (
      this.#find(schema, (node) =>
        isRecord(node.properties) && Object.hasOwn(node.properties, key) ? true : undefined,
      ) === true
    );
  }

  /** The schema of an array's item. */
  item(schema: Schema, index: number): Schema {
    const first = this.#joined(schema, `#${index}`, (node) => {
      const list = Array.isArray(node.prefixItems) ? node.prefixItems : node.items;
      return Array.isArray(list) ? list[index] : undefined;
    });
    if (first !== undefined) return first;
    return this.#joined(schema, '#', (node) => (Array.isArray(node.items) ? undefined : node.items));
  }

  /** The node itself or what its `$ref` points to; undefined for what is no object or a broken reference. */
  #resolve(schema: Schema): Record<string, unknown> | undefined {
    let node = schema;
    for (let hops = 0; isRecord(node) && typeof node.$ref === 'string'; hops++) {
      if (hops > 32 || !node.$ref.startsWith('#')) return undefined;
      let target: unknown = this.#root;
      for (const part of node.$ref.slice(1).split('/').filter(Boolean)) {
        const key = decodePointer(part);
        target = isRecord(target) && Object.hasOwn(target, key) ? target[key] : undefined;
      }
      node = target;
    }
    return isRecord(node) ? node : undefined;
  }

  #collect(schema: Schema, types: Set<JsonType>, seen: Set<unknown>): void {
    const node = this.#resolve(schema);
    if (!node || seen.has(node)) return;
    seen.add(node);
    for (const name of Array.isArray(node.type) ? node.type : [node.type]) {
      const type = typeof name === 'string' ? ALIASES[name.toLowerCase()] : undefined;
      if (type) types.add(type);
    }
    if (node.nullable === true && types.size > 0) types.add('null');
    const choices = this.choices(node);
    if (choices && node.type === undefined) for (const value of choices) types.add(typeOfValue(value));
    for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
      const branches = node[keyword];
      if (Array.isArray(branches)) for (const branch of branches) this.#collect(branch, types, seen);
    }
    if (types.size === 0 && isRecord(node.properties)) types.add('object');
    if (types.size === 0 && node.items !== undefined) types.add('array');
  }

  /** What the patterns that the key matches say; `true`, which is anything, where one can't be told. */
  #patterned(schema: Schema, key: string): Schema {
    const matching = new Set<string>();
    let isUnknown = false;
    this.#find(schema, ({ patternProperties }) => {
      if (!isRecord(patternProperties)) return;
      for (const pattern of Object.keys(patternProperties)) {
        const matches = this.#matches(pattern, key);
        if (matches === null) isUnknown = true;
        else if (matches) matching.add(pattern);
      }
    });
    if (isUnknown) return true;
    if (matching.size === 0) return undefined;
    return this.#joined(schema, `/${[...matching].join('\n')}`, ({ patternProperties }) => {
      if (!isRecord(patternProperties)) return;
      const schemas = [...matching].flatMap((pattern) => patternProperties[pattern] ?? []);
      return schemas.length > 1 ? { anyOf: schemas } : schemas[0];
    });
  }

  /** A pattern that is none matches no key. Null for one whose matching could take long. */
  #matches(pattern: string, key: string): boolean | null {
    let expression = this.#patterns.get(pattern);
    if (expression === undefined) {
      try {
        expression = new RegExp(pattern, 'u');
      } catch {
        expression = null;
      }
      this.#patterns.set(pattern, expression);
    }
    if (!expression) return false;
    return key.length > LONGEST_KEY || COULD_TAKE_LONG.test(pattern) ? null : expression.test(key);
  }

  /** What all branches say about a part, as one schema. */
  #joined(schema: Schema, part: string, look: (node: Record<string, unknown>) => Schema): Schema {
    if (!isRecord(schema)) return undefined;
    const known = this.#parts.get(schema)?.get(part);
    if (known !== undefined) return known;
    const found: Schema[] = [];
    this.#find(schema, (node) => {
      const one = look(node);
      if (one !== undefined) found.push(one);
      return undefined;
    });
    if (found.length < 2) return found[0];
    // The parts of a schema are few, however many keys and items the model writes.
    const joined = { anyOf: found };
    const parts = this.#parts.get(schema) ?? new Map<string, Schema>();
    this.#parts.set(schema, parts.set(part, joined));
    return joined;
  }

  #find<T>(schema: Schema, look: (node: Record<string, unknown>) => T | undefined, depth = 0): T | undefined {
    const node = this.#resolve(schema);
    if (!node || depth > 8) return undefined;
    const found = look(node);
    if (found !== undefined) return found;
    for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
      const branches = node[keyword];
      if (!Array.isArray(branches)) continue;
      for (const branch of branches) {
        const inBranch = this.#find(branch, look, depth + 1);
        if (inBranch !== undefined) return inBranch;
      }
    }
    return undefined;
  }
}

function decodePointer(part: string): string {
  let decoded = part;
  try {
    decoded = decodeURIComponent(part);
  } catch {
    // A stray percent sign is itself.
  }
  return decoded.replaceAll('~1', '/').replaceAll('~0', '~');
}
