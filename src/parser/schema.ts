/** What a JSON schema says about the types of a value: as much as coercion needs. */
import { isRecord, type Schema, SchemaReferences } from './schema-references.ts';
import { commonTypes, type JsonType, namedTypes, type Types, typeOfValue } from './schema-types.ts';

export type { Schema } from './schema-references.ts';

/** A repeated group, a reference to one, or more than two repetitions in a row: what backtracking multiplies. */
const COULD_TAKE_LONG = /\)[*+?{]|\\[1-9k]|(?:[*+}][^*+}]*){3}/;
/** Characters of a text that patterns are tried on. */
const LONGEST_TEXT = 256;
/** Parts that were put together of parts that were: behind as many, a part may be anything. */
const MOST_JOINS = 16;

type Node = Readonly<Record<string, unknown>>;
/** A branch that nothing fits, or that is being looked at already: with all that holds with it, it adds nothing to others. */
const NOTHING = Symbol('nothing');
type Part = Schema | typeof NOTHING;

/** Branches and items nested deeper than this may be anything. */
const DEEPEST = 200;

const NO_KEYS: ReadonlySet<string> = new Set();

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** One tool's parameter schema, with its local references and what was already worked out. */
export class SchemaView {
  readonly root: Schema;
  readonly #references: SchemaReferences;
  readonly #types = new WeakMap<object, Types>();
  readonly #patterns = new Map<string, RegExp | null>();
  /** Parts of a schema's values by what names them. */
  readonly #parts = new WeakMap<object, Map<string, Schema>>();
  readonly #keys = new WeakMap<object, ReadonlySet<string>>();
  readonly #patterned = new WeakMap<object, boolean>();
  /** Items of a list that have their own schemas, the most that any branch has. */
  readonly #firstItems = new WeakMap<object, number>();
  /** Schemas that were put together, with their parts, by the numbers of these. */
  readonly #joined = new Map<string, Schema>();
  readonly #members = new WeakMap<object, { keyword: string; parts: readonly Schema[]; depth: number }>();
  readonly #numbers = new Map<unknown, number>();

  constructor(root: Schema) {
    this.root = root;
    this.#references = new SchemaReferences(root);
  }

  /** What a node's reference leads to; undefined without one. */
  target(node: Node): Schema {
    return this.#references.target(node);
  }

  /** Types that the schema admits, of all of its branches; null when it admits any. */
  types(schema: Schema): Types {
    if (!isRecord(schema)) return null;
    const known = this.#types.get(schema);
    if (known !== undefined) return known;
    const types = this.#typesOf(schema, new Map());
    const result = types === NOTHING ? null : types;
    this.#types.set(schema, result);
    return result;
  }

  /** The same; where any is admitted, the list or object that the keywords of the schema speak of. */
  describedTypes(schema: Schema): Types {
    const types = this.types(schema);
    if (types) return types;
    const nodes = this.#nodes(schema);
    const described = new Set<JsonType>();
    if (nodes.some(({ properties }) => isRecord(properties))) described.add('object');
    else if (nodes.some(({ items }) => items !== undefined)) described.add('array');
    return described.size > 0 ? described : null;
  }

  /** Values of an `enum` or `const` at the node itself or behind its references, null without one. */
  choices(schema: Schema): readonly unknown[] | null {
    let node = schema;
    for (let hops = 0; isRecord(node) && hops < 32; hops++) {
      if (Array.isArray(node.enum)) return node.enum;
      if ('const' in node) return [node.const];
      node = this.target(node);
    }
    return null;
  }

  /** True when a text is among the values that the schema or one of its branches lists. */
  lists(schema: Schema, text: string): boolean {
    return this.#nodes(schema).some((node) => list(node.enum).includes(text) || node.const === text);
  }

  /** The schema of an object's property, through references and combinators. */
  property(schema: Schema, key: string): Schema {
    // Keys that are not spoken of are alike, however many the model writes.
    const part = this.#hasPatterns(schema) || this.declares(schema, key) ? `.${key}` : '*';
    return this.#known(schema, part, 'object', (node) => this.ownProperty(node, key));
  }

  /** True when `key` is spelled out among the properties. */
  declares(schema: Schema, key: string): boolean {
    return this.declaredKeys(schema).has(key);
  }

  /** Keys that the schema or one of its branches spells out among its properties. */
  declaredKeys(schema: Schema): ReadonlySet<string> {
    if (!isRecord(schema)) return NO_KEYS;
    let keys = this.#keys.get(schema);
    if (!keys) {
      const all = this.#nodes(schema).map(({ properties }) => (isRecord(properties) ? properties : {}));
      keys = new Set(all.flatMap(Object.keys));
      this.#keys.set(schema, keys);
    }
    return keys;
  }

  /** The schema of an array's item. */
  item(schema: Schema, index: number): Schema {
    if (!isRecord(schema)) return undefined;
    let first = this.#firstItems.get(schema);
    if (first === undefined) {
      first = 0;
      for (const { prefixItems, items } of this.#nodes(schema))
        first = Math.max(first, list(prefixItems).length, list(items).length);
      this.#firstItems.set(schema, first);
    }
    const place = Math.min(index, first);
    return this.#known(schema, `#${place}`, 'array', (node) => this.ownItem(node, place));
  }

  /** What one node says about a property; undefined if nothing. */
  ownProperty({ properties, patternProperties, additionalProperties }: Node, key: string): Schema {
    const found: Schema[] = [];
    if (isRecord(properties) && Object.hasOwn(properties, key)) found.push(properties[key]);
    let isUnknown = false;
    for (const [pattern, schema] of Object.entries(isRecord(patternProperties) ? patternProperties : {})) {
      const matches = this.matches(pattern, key);
      if (matches) found.push(schema);
      isUnknown ||= matches === null;
    }
    if (found.length > 0) return this.#join('allOf', found);
    return isUnknown ? undefined : additionalProperties;
  }

  /** What one node says about an item; undefined if nothing. */
  ownItem({ prefixItems, items, additionalItems }: Node, index: number): Schema {
    const first = list(prefixItems ?? items);
    if (index < first.length) return first[index];
    return Array.isArray(items) ? additionalItems : items;
  }

  /** Whether a pattern matches; one that is none does not. Null for one whose matching could take long. */
  matches(pattern: string, text: string): boolean | null {
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
    return text.length > LONGEST_TEXT || COULD_TAKE_LONG.test(pattern) ? null : expression.test(text);
  }

  /** Whether patterns say something of keys that are not declared. */
  #hasPatterns(schema: Schema): boolean {
    if (!isRecord(schema)) return false;
    let has = this.#patterned.get(schema);
    if (has === undefined) {
      has = this.#nodes(schema).some(({ patternProperties }) => patternProperties !== undefined);
      this.#patterned.set(schema, has);
    }
    return has;
  }

  /** The node and all that hold with it or may, each once. */
  #nodes(schema: Schema): Node[] {
    const found = new Set<Node>();
    const add = (value: Schema) => {
      if (isRecord(value)) found.add(value);
    };
    add(schema);
    for (const node of found) {
      add(this.target(node));
      for (const branch of [node.allOf, node.anyOf, node.oneOf].flatMap(list)) add(branch);
    }
    return [...found];
  }

  /** `known`: what was found on the way; a node that is being looked at is nothing. */
  #typesOf(schema: Schema, known: Map<unknown, Types | typeof NOTHING>, depth = 0): Types | typeof NOTHING {
    if (schema === false) return NOTHING;
    if (!isRecord(schema) || depth > DEEPEST) return null;
    const before = known.get(schema);
    if (before !== undefined) return before;
    known.set(schema, NOTHING);
    let types = namedTypes(schema);
    const values = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : null;
    if (values?.length) types = commonTypes(types, new Set(values.map(typeOfValue))) ?? types;
    const restrict = (others: Types) => {
      // Nothing fits what contradicts itself: then any of it will do.
      types = commonTypes(types, others) ?? new Set([...(types ?? []), ...(others ?? [])]);
    };
    for (const part of [this.target(schema), ...list(schema.allOf)]) {
      const others = this.#typesOf(part, known, depth + 1);
      if (others === NOTHING) return NOTHING;
      if (others) restrict(others);
    }
    for (const branches of [schema.anyOf, schema.oneOf]) {
      const found = list(branches)
        .map((branch) => this.#typesOf(branch, known, depth + 1))
        .filter((others) => others !== NOTHING);
      if (found.length > 0 && !found.includes(null)) restrict(new Set(found.flatMap((one) => [...one!])));
    }
    known.set(schema, types);
    return types;
  }

  #known(schema: Schema, part: string, type: 'object' | 'array', own: (node: Node) => Schema): Schema {
    if (!isRecord(schema)) return undefined;
    let parts = this.#parts.get(schema);
    if (!parts) {
      parts = new Map();
      this.#parts.set(schema, parts);
    }
    if (parts.has(part)) return parts.get(part);
    let found: Part = this.#part(schema, type, own, new Map());
    if (found === NOTHING) found = undefined;
    const others = type === 'object' ? schema.unevaluatedProperties : schema.unevaluatedItems;
    if (found === undefined && others !== undefined) {
      const isEvaluated = this.#nodes(schema).some((node) => own(node) !== undefined);
      if (!isEvaluated) found = others;
    }
    parts.set(part, found);
    return found;
  }

  /** What a node and all with it say about a part: undefined if nothing, so that it may be anything. */
  #part(
    schema: Schema,
    type: 'object' | 'array',
    own: (node: Node) => Schema,
    known: Map<unknown, Part>,
    depth = 0,
  ): Part {
    if (schema === false) return NOTHING;
    if (!isRecord(schema) || depth > DEEPEST) return undefined;
    if (known.has(schema)) return known.get(schema);
    known.set(schema, NOTHING);
    const found = [own(schema)];
    for (const branch of [this.target(schema), ...list(schema.allOf)]) {
      const one = this.#part(branch, type, own, known, depth + 1);
      if (one === NOTHING) return NOTHING;
      found.push(one);
    }
    for (const branches of [schema.anyOf, schema.oneOf]) {
      const able = list(branches).filter((branch) => this.types(branch)?.has(type) ?? true);
      const parts = able
        .map((branch) => this.#part(branch, type, own, known, depth + 1))
        .filter((one) => one !== NOTHING && one !== false);
      if (parts.length > 0 && parts.every((one) => one !== undefined && one !== true))
        found.push(this.#join('anyOf', parts));
    }
    const said = found.filter((one) => one !== undefined && one !== true);
    const result = said.length > 0 ? this.#join('allOf', said) : found.includes(true) ? true : undefined;
    known.set(schema, result);
    return result;
  }

  /** One schema of several, the same for the same. */
  #join(keyword: 'allOf' | 'anyOf', schemas: readonly Schema[]): Schema {
    let depth = 0;
    const parts = new Set<Schema>();
    for (const schema of schemas) {
      const members = isRecord(schema) ? this.#members.get(schema) : undefined;
      depth = Math.max(depth, members?.depth ?? 0);
      for (const part of members?.keyword === keyword ? members.parts : [schema]) parts.add(part);
    }
    if (parts.size === 1) return [...parts][0];
    if (depth === MOST_JOINS) return true;
    const name = `${keyword} ${Array.from(parts, (part) => this.#numberOf(part))
      .sort()
      .join()}`;
    let joined = this.#joined.get(name);
    if (!joined) {
      joined = { [keyword]: [...parts] };
      this.#joined.set(name, joined);
      this.#members.set(joined as object, { keyword, parts: [...parts], depth: depth + 1 });
    }
    return joined;
  }

  #numberOf(schema: Schema): number {
    const known = this.#numbers.get(schema) ?? this.#numbers.size;
    this.#numbers.set(schema, known);
    return known;
  }
}
