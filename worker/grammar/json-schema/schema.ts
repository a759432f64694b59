import { BadRequestError } from '../../../src/errors.ts';
import { AutomatonTooLargeError } from '../language/automaton.ts';
import { matchesSomewhere, searchBudget } from '../language/regex-search.ts';
import { checkKeywords, patternProblem } from './keywords.ts';

export type JsonType = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object';

/** One schema object and where it stands in the request. */
export interface SchemaNode {
  /** Numbers the nodes of a document. */
  id: number;
  keywords: Readonly<Record<string, unknown>>;
  /** For example `tools[0].function.parameters.properties.city`. */
  path: string;
}

/** A schema: a node, or `true` (anything) or `false` (nothing). */
export type Schema = SchemaNode | boolean;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A path with one step more: `path.key`, `path[0]`, `path["a b"]`. */
export function pathTo(path: string, step: string | number): string {
  if (typeof step === 'number') return `${path}[${step}]`;
  return /^[A-Za-z_$][\w$-]*$/.test(step) ? `${path}.${step}` : `${path}[${JSON.stringify(step)}]`;
}

export function schemaError(message: string, path: string, code = 'schema_invalid'): BadRequestError {
  return new BadRequestError(message, { param: path, code });
}

/** Nesting beyond this is an accident or an attack. */
const DEEPEST = 200;
/** Values of a whole schema. */
const LARGEST = 200_000;

/** A whole schema with its references. */
export class SchemaDocument {
  /** Schemas within each other that are being followed. */
  #depth = 0;
  readonly root: Schema;
  readonly #path: string;
  readonly #value: unknown;
  readonly #nodes = new Map<object, SchemaNode>();
  readonly #searches = searchBudget();
  #anchors: Map<string, [value: unknown, path: string]> | null = null;

  /**
   * @param path of the schema in the request
   * @throws BadRequestError for what is no schema, nested too deep, or too large
   */
  constructor(value: unknown, path: string) {
    checkSize(value, path);
    checkPatterns(value, path);
    this.#value = value;
    this.#path = path;
    this.root = this.node(value, path);
  }

  /** The schema that a keyword's value is. */
  node(value: unknown, path: string): Schema {
    if (typeof value === 'boolean') return value;
    if (!isRecord(value)) {
      throw schemaError(`A schema must be an object, true or false, not ${JSON.stringify(value)}.`, path);
    }
    const known = this.#nodes.get(value);
    if (known) return known;
    const node = { id: this.#nodes.size, keywords: value, path };
    this.#nodes.set(value, node);
    checkKeywords(node);
    return node;
  }

  /**
   * Whether a pattern of this schema matches somewhere in a text.
   *
   * @throws BadRequestError when it takes too long to find out
   */
  matches(pattern: string, text: string): boolean {
    try {
      return matchesSomewhere(pattern, text, this.#searches);
    } catch (error) {
      if (!(error instanceof AutomatonTooLargeError)) throw error;
      throw schemaError(
        `It takes too long to try the pattern ${JSON.stringify(pattern.slice(0, 100))} on a text of ${text.length} characters: make it simpler.`,
        this.#path,
        'schema_too_large',
      );
    }
  }

  /**
   * Runs what goes from a schema into those that it names, which may come back here.
   *
   * @throws BadRequestError where references lead deeper than can be followed
   */
  within<Made>(node: SchemaNode, make: () => Made): Made {
    if (this.#depth >= DEEPEST) {
      throw schemaError(
        `References lead more than ${DEEPEST} schemas deep here: let fewer schemas stand within each other.`,
        node.path,
        'schema_too_deep',
      );
    }
    this.#depth++;
    try {
      return make();
    } finally {
      this.#depth--;
    }
  }

  /** The schema below a keyword of a node; undefined without it. */
  sub(node: SchemaNode, ...steps: (string | number)[]): Schema | undefined {
    let value: unknown = node.keywords;
    let path = node.path;
    for (const step of steps) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
      value = (value as Record<string | number, unknown>)[step];
      path = pathTo(path, step);
    }
    return this.node(value, path);
  }

  /** Schemas of a keyword that holds a list. */
  list(node: SchemaNode, keyword: string): Schema[] {
    const values = node.keywords[keyword];
    return Array.isArray(values)
      ? values.map((value, index) => this.node(value, pathTo(pathTo(node.path, keyword), index)))
      : [];
  }

  /**
   * What a `$ref` points to.
   *
   * @throws BadRequestError for a target that is missing or outside of the schema
   */
  resolve(node: SchemaNode, keyword: string): Schema {
    const path = pathTo(node.path, keyword);
    const reference = node.keywords[keyword];
    const own = isRecord(this.#value) ? this.#value.$id : undefined;
    let fragment = String(reference);
    if (typeof own === 'string' && fragment.startsWith(own)) fragment = fragment.slice(own.length) || '#';
    if (!fragment.startsWith('#')) {
      throw schemaError(
        `The reference ${JSON.stringify(reference)} leads outside of the schema: put its target into "$defs" and refer to it by "#/$defs/…".`,
        path,
        'schema_reference',
      );
    }
    const missing = () =>
      schemaError(
        `The reference ${JSON.stringify(reference)} has no target in the schema.`,
        path,
        'schema_reference',
      );
    let decoded = fragment.slice(1);
    try {
      decoded = decodeURIComponent(decoded);
    } catch {
      // A percent sign that encodes nothing is itself.
    }
    if (decoded !== '' && !decoded.startsWith('/')) {
      const anchor = this.#anchor(decoded);
      if (!anchor) throw missing();
      return this.node(...anchor);
    }
    let value = this.#value;
    let target = this.#path;
    for (const part of decoded.split('/').slice(1)) {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) throw missing();
      target = pathTo(target, Array.isArray(value) ? Number(key) : key);
      value = (value as Record<string, unknown>)[key];
    }
    return this.node(value, target);
  }

  #anchor(name: string): [value: unknown, path: string] | undefined {
    if (!this.#anchors) {
      this.#anchors = new Map();
      const waiting: [unknown, string][] = [[this.#value, this.#path]];
      for (let next = waiting.pop(); next; next = waiting.pop()) {
        const [value, path] = next;
        if (typeof value !== 'object' || value === null) continue;
        const anchor = (value as Record<string, unknown>).$anchor;
        if (typeof anchor === 'string') this.#anchors.set(anchor, [value, path]);
        for (const [key, inner] of Object.entries(value)) {
          waiting.push([inner, pathTo(path, Array.isArray(value) ? Number(key) : key)]);
        }
      }
    }
    return this.#anchors.get(name);
  }
}

/** A value with the way to it. */
interface Visit {
  readonly value: unknown;
  readonly depth: number;
  readonly key: string | number;
  readonly parent: Visit | null;
}

/** Steps that an error names of a path that is too long. */
const SHOWN_STEPS = 12;

/** Without recursion, since what is nested too deep must not end in a stack overflow. */
function checkSize(root: unknown, path: string): void {
  const waiting: Visit[] = [{ value: root, depth: 0, key: '', parent: null }];
  let count = 0;
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { value, depth } = next;
    if (depth > DEEPEST) {
      throw schemaError(
        `The schema is nested more than ${DEEPEST} levels deep: use "$defs" and "$ref" for what repeats.`,
        placeOf(next, path),
        'schema_too_deep',
      );
    }
    if (++count > LARGEST) {
      throw schemaError(`The schema has more than ${LARGEST} values.`, path, 'schema_too_large');
    }
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, inner] of Object.entries(value)) {
      waiting.push({
        value: inner,
        depth: depth + 1,
        key: Array.isArray(value) ? Number(key) : key,
        parent: next,
      });
    }
  }
}

/** The first steps to a value, which tell the place well enough. */
function placeOf(visit: Visit, path: string): string {
  const keys: (string | number)[] = [];
  for (let at = visit; at.parent; at = at.parent) keys.unshift(at.key);
  return keys.slice(0, SHOWN_STEPS).reduce<string>(pathTo, path);
}

/** Keywords whose values are no schemas. */
const VALUES = new Set(['enum', 'const', 'default', 'example', 'examples']);

/** Also where a grammar does not look, and only the finished answer is checked: then it would be too late. */
function checkPatterns(root: unknown, path: string): void {
  const waiting: [value: unknown, path: string][] = [[root, path]];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [value, place] = next;
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, inner] of Object.entries(value)) {
      const patterns =
        key === 'pattern'
          ? [inner]
          : key === 'patternProperties' && isRecord(inner)
            ? Object.keys(inner)
            : [];
      for (const pattern of patterns) {
        const problem = typeof pattern === 'string' ? patternProblem(pattern) : null;
        if (problem === null) continue;
        throw schemaError(
          `The pattern ${JSON.stringify(pattern.slice(0, 100))} of "${key}" can't be checked in bounded time: ${problem}.`,
          pathTo(place, key),
          'schema_unsupported',
        );
      }
      if (typeof inner === 'object' && !VALUES.has(key)) {
        waiting.push([inner, pathTo(place, Array.isArray(value) ? Number(key) : key)]);
      }
    }
  }
}
