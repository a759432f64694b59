import {
  isRecord,
  type JsonType,
  pathTo,
  type Schema,
  type SchemaDocument,
  type SchemaNode,
  schemaError,
} from './schema.ts';

/** A keyword that is not held while text is written. */
export interface PostCheck {
  keyword: string;
  /** Where it stands, keyword included. */
  path: string;
}

/** Nodes that hold together, none of whose combining keywords is left to look at. */
export type Conjunction = readonly SchemaNode[];

/** Ways of combining choices that are followed up. */
const MOST_ALTERNATIVES = 256;
/** Objects within each other in which a difference is looked for. */
const DEEPEST_DIFFERENCE = 4;

/**
 * Resolves the keywords that combine schemas: a value fits the schemas if it fits one of the alternatives. Where
 * that says too much, a post-check is reported.
 */
export class Alternatives {
  readonly #document: SchemaDocument;
  readonly #report: (check: PostCheck) => void;
  readonly #expanded = new Map<SchemaNode, readonly Conjunction[]>();
  /** Nodes made up for choices that a keyword implies. */
  readonly #implied = new Map<string, SchemaNode>();

  constructor(document: SchemaDocument, report: (check: PostCheck) => void) {
    this.#document = document;
    this.#report = report;
  }

  /** @throws BadRequestError for a reference that leads back to itself, and for too many combinations */
  of(nodes: Conjunction): Conjunction[] {
    return nodes.reduce<Conjunction[]>((found, node) => this.#and(found, this.#expand(node, []), node), [[]]);
  }

  /** Once for each schema: they may share their parts in as many ways as there are paths. */
  #expand(schema: Schema, open: readonly SchemaNode[]): readonly Conjunction[] {
    if (schema === true) return [[]];
    if (schema === false) return [];
    let expanded = this.#expanded.get(schema);
    if (!expanded) {
      expanded = this.#document.within(schema, () => this.#expandOnce(schema, open));
      this.#expanded.set(schema, expanded);
    }
    return expanded;
  }

  #expandOnce(schema: SchemaNode, open: readonly SchemaNode[]): readonly Conjunction[] {
    if (open.includes(schema)) {
      throw schemaError(
        'The schema refers to itself and says nothing else: it has no meaning.',
        schema.path,
        'schema_reference',
      );
    }
    const within = [...open, schema];
    const { keywords } = schema;
    let found: Conjunction[] = [[schema]];
    const and = (more: readonly Conjunction[]) => {
      found = this.#and(found, more, schema);
    };
    for (const keyword of ['$ref', '$recursiveRef']) {
      if (keyword in keywords) and(this.#expand(this.#document.resolve(schema, keyword), within));
    }
    for (const part of this.#document.list(schema, 'allOf')) and(this.#expand(part, within));
    for (const keyword of ['anyOf', 'oneOf']) {
      if (!(keyword in keywords)) continue;
      const branches = this.#document.list(schema, keyword);
      and(branches.flatMap((branch) => this.#expand(branch, within)));
      if (keyword === 'oneOf' && !this.#areDisjoint(branches)) this.#check(schema, keyword);
    }
    if ('if' in keywords) {
      const [condition, then, otherwise] = ['if', 'then', 'else'].map((name) =>
        this.#document.sub(schema, name),
      );
      if (then !== undefined || otherwise !== undefined) {
        and([
          ...this.#and(this.#expand(condition!, within), this.#expand(then ?? true, within), schema),
          ...this.#expand(otherwise ?? true, within),
        ]);
        this.#check(schema, 'if');
      }
    }
    this.#addDependencies(schema, within, and);
    if ('not' in keywords) and(this.#without(schema));
    if (keywords.nullable === true && keywords.type !== undefined) {
      found = [...found, [this.#imply(schema, 'nullable', { type: 'null' })]];
    }
    return found;
  }

  #and(left: readonly Conjunction[], right: readonly Conjunction[], node: SchemaNode): Conjunction[] {
    if (left.length * right.length > MOST_ALTERNATIVES) {
      throw schemaError(
        `The schema combines more than ${MOST_ALTERNATIVES} alternatives: write fewer choices ("anyOf", "oneOf", "if", "dependentRequired") beside each other.`,
        node.path,
        'schema_too_large',
      );
    }
    return left.flatMap((a) => right.map((b) => [...a, ...b.filter((other) => !a.includes(other))]));
  }

  #addDependencies(
    node: SchemaNode,
    within: readonly SchemaNode[],
    and: (more: readonly Conjunction[]) => void,
  ): void {
    const { dependentRequired, dependentSchemas, dependencies } = node.keywords;
    for (const [keyword, map] of Object.entries({ dependentRequired, dependentSchemas, dependencies })) {
      if (!isRecord(map)) continue;
      for (const [key, value] of Object.entries(map)) {
        const absent = this.#imply(node, `no ${key}`, { properties: { [key]: false } });
        const required = Array.isArray(value) ? [key, ...value] : [key];
        const present = this.#imply(node, `${keyword} ${key}`, { required });
        const more = Array.isArray(value)
          ? [[]]
          : this.#expand(this.#document.node(value, pathTo(pathTo(node.path, keyword), key)), within);
        and([[absent], ...this.#and([[present]], more, node)]);
      }
    }
  }

  /** What `not` leaves: exactly, where it names types or a missing property; otherwise it is checked afterwards. */
  #without(node: SchemaNode): Conjunction[] {
    const not = this.#document.sub(node, 'not')!;
    if (not === true) return [];
    if (not === false) return [[]];
    const { type, required, ...rest } = not.keywords;
    if (Object.keys(rest).every((keyword) => ANNOTATIONS.has(keyword))) {
      if (type === undefined && required === undefined) return [];
      if (type !== undefined && required === undefined) {
        const excluded = new Set<unknown>(Array.isArray(type) ? type : [type]);
        const left = ALL_TYPES.filter(
          (name) => !excluded.has(name) && !(name === 'integer' && excluded.has('number')),
        );
        if (!excluded.has('integer')) return [[this.#imply(not, 'types', { type: left })]];
      }
      if (type === undefined && Array.isArray(required) && required.length === 1) {
        return [
          [this.#imply(not, 'absent', { type: 'object', properties: { [required[0] as string]: false } })],
        ];
      }
    }
    this.#check(node, 'not');
    return [[]];
  }

  #areDisjoint(branches: readonly Schema[]): boolean {
    return branches.every((a, index) => branches.slice(index + 1).every((b) => this.#isDisjoint(a, b)));
  }

  /** True only if no value fits both for certain; how deep that is looked for has a bound. */
  #isDisjoint(a: Schema, b: Schema, depth = 0): boolean {
    if (depth > DEEPEST_DIFFERENCE) return false;
    const [first, second] = [this.#target(a), this.#target(b)];
    if (first === false || second === false) return true;
    if (first === true || second === true) return false;
    const [types, others] = [typesOf(first.keywords), typesOf(second.keywords)];
    if (!types.some((type) => others.some((other) => overlap(type, other)))) return true;
    const [values, otherValues] = [valuesOf(first.keywords), valuesOf(second.keywords)];
    if (values && otherValues) {
      const texts = new Set(otherValues.map((value) => JSON.stringify(value)));
      return !values.some((value) => texts.has(JSON.stringify(value)));
    }
    const isObject = (list: readonly JsonType[]) => list.length === 1 && list[0] === 'object';
    if (!isObject(types) || !isObject(others)) return false;
    return this.#differsByKey(first, second, depth) || this.#differsByKey(second, first, depth);
  }

  /** Whether a property that `a` requires is forbidden by `b`, or has another value there. */
  #differsByKey(a: SchemaNode, b: SchemaNode, depth: number): boolean {
    const required = Array.isArray(a.keywords.required) ? (a.keywords.required as string[]) : [];
    return required.some((key) => {
      const [own, other] = [
        this.#document.sub(a, 'properties', key),
        this.#document.sub(b, 'properties', key),
      ];
      if (other === undefined) {
        return b.keywords.additionalProperties === false && b.keywords.patternProperties === undefined;
      }
      return own !== undefined && this.#isDisjoint(own, other, depth + 1);
    });
  }

  #target(schema: Schema): Schema {
    let target = schema;
    for (let hops = 0; typeof target !== 'boolean' && '$ref' in target.keywords && hops < 32; hops++) {
      target = this.#document.resolve(target, '$ref');
    }
    return target;
  }

  #check(node: SchemaNode, keyword: string): void {
    this.#report({ keyword, path: pathTo(node.path, keyword) });
  }

  #imply(node: SchemaNode, reason: string, keywords: Record<string, unknown>): SchemaNode {
    const key = `${node.id} ${reason}`;
    let implied = this.#implied.get(key);
    if (!implied) {
      const made = this.#document.node(keywords, node.path);
      if (typeof made === 'boolean') throw new Error('A made-up schema is an object.');
      implied = made;
      this.#implied.set(key, implied);
    }
    return implied;
  }
}

/** Keywords that ask for nothing. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  '$comment',
]);

const ALL_TYPES: readonly JsonType[] = ['null', 'boolean', 'number', 'string', 'array', 'object'];

/** Types that a node's own keywords allow. */
export function typesOf(keywords: SchemaNode['keywords']): readonly JsonType[] {
  const { type } = keywords;
  const values = valuesOf(keywords);
  if (type === undefined) return values ? [...new Set(values.map(typeOfValue))] : ALL_TYPES;
  return (Array.isArray(type) ? type : [type]) as JsonType[];
}

export function valuesOf(keywords: SchemaNode['keywords']): readonly unknown[] | null {
  if ('const' in keywords) return [keywords.const];
  return Array.isArray(keywords.enum) ? keywords.enum : null;
}

const overlap = (a: JsonType, b: JsonType) =>
  a === b || (a === 'integer' && b === 'number') || (a === 'number' && b === 'integer');

export function typeOfValue(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  if (typeof value === 'boolean') return 'boolean';
  return typeof value === 'string' ? 'string' : 'object';
}

/** Types that all nodes allow; `integer` is part of `number`. */
export function commonTypes(nodes: Conjunction): readonly JsonType[] {
  return nodes.reduce<readonly JsonType[]>((types, { keywords }) => {
    const allowed = keywords.type === undefined ? ALL_TYPES : typesOf(keywords);
    return types.flatMap((type) => {
      if (allowed.includes(type)) return [type];
      if (type === 'number' && allowed.includes('integer')) return ['integer'];
      return type === 'integer' && allowed.includes('number') ? ['integer'] : [];
    });
  }, ALL_TYPES);
}
