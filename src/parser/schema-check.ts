/**
 * Whether values fit a schema, which tells the readings of one text apart. What can't be told (a format, a pattern
 * that could take long) counts as fitting.
 */
import { list, type SchemaView } from './schema.ts';
import { isRecord, type Schema } from './schema-references.ts';
import { isOfType, namedTypes, typeOfValue } from './schema-types.ts';

type Node = Readonly<Record<string, unknown>>;

/** Nesting that is looked into. */
const DEEPEST = 200;

/** Whether a value fits, with all of its parts. */
export function fitsSchema(value: unknown, schema: Schema, view: SchemaView): boolean {
  return new SchemaCheck(view).fits(schema, value);
}

/** Checks that have parts in common. */
export class SchemaCheck {
  readonly #view: SchemaView;
  /** Results by schema and value, since many branches may lead to one schema. */
  readonly #known = new Map<object, Map<unknown, boolean>>();

  constructor(view: SchemaView) {
    this.#view = view;
  }

  fits(schema: Schema, value: unknown, depth = 0): boolean {
    if (schema === false) return false;
    if (!isRecord(schema) || depth > DEEPEST) return true;
    const results = this.#known.get(schema) ?? new Map<unknown, boolean>();
    this.#known.set(schema, results);
    const known = results.get(value);
    if (known !== undefined) return known;
    // A branch that only leads back to itself is none.
    results.set(value, false);
    const fits = this.#fitsNode(schema, value, depth + 1);
    results.set(value, fits);
    return fits;
  }

  #fitsNode(node: Node, value: unknown, depth: number): boolean {
    const types = namedTypes(node);
    if (types && !isOfType(typeOfValue(value), types)) return false;
    if (Array.isArray(node.enum) && !node.enum.some((choice) => isSame(choice, value))) return false;
    if ('const' in node && !isSame(node.const, value)) return false;
    return (
      this.#fitsBranches(node, value, depth) &&
      (typeof value !== 'number' || fitsNumber(node, value)) &&
      (typeof value !== 'string' || this.#fitsString(node, value)) &&
      (!Array.isArray(value) || this.#fitsArray(node, value, depth)) &&
      (!isRecord(value) || this.#fitsObject(node, value, depth))
    );
  }

  #fitsBranches(node: Node, value: unknown, depth: number): boolean {
    const fits = (schema: Schema) => this.fits(schema, value, depth);
    if (!fits(this.#view.target(node)) || !list(node.allOf).every(fits)) return false;
    if (Array.isArray(node.anyOf) && !node.anyOf.some(fits)) return false;
    if (Array.isArray(node.oneOf) && node.oneOf.filter(fits).length !== 1) return false;
    if (node.not !== undefined && fits(node.not)) return false;
    return node.if === undefined || fits(fits(node.if) ? node.then : node.else);
  }

  #fitsString({ minLength, maxLength, pattern }: Node, value: string): boolean {
    if (minLength !== undefined || maxLength !== undefined) {
      const length = Array.from(value).length;
      if (!isBetween(minLength, length, maxLength)) return false;
    }
    return typeof pattern !== 'string' || this.#view.matches(pattern, value) !== false;
  }

  #fitsArray(node: Node, value: readonly unknown[], depth: number): boolean {
    if (!isBetween(node.minItems, value.length, node.maxItems)) return false;
    if (node.uniqueItems === true && new Set(value.map(canonical)).size < value.length) return false;
    if (node.contains !== undefined) {
      const count = value.filter((item) => this.fits(node.contains, item, depth)).length;
      if (!isBetween(node.minContains ?? 1, count, node.maxContains)) return false;
    }
    return value.every((item, index) => this.fits(this.#view.ownItem(node, index), item, depth));
  }

  #fitsObject(node: Node, value: Readonly<Record<string, unknown>>, depth: number): boolean {
    const has = (key: unknown) => Object.hasOwn(value, key as string);
    const keys = Object.keys(value);
    if (!list(node.required).every(has)) return false;
    if (!isBetween(node.minProperties, keys.length, node.maxProperties)) return false;
    for (const [key, others] of dependencies(node)) {
      if (!has(key)) continue;
      if (!(Array.isArray(others) ? others.every(has) : this.fits(others, value, depth))) return false;
    }
    return keys.every(
      (key) =>
        this.fits(node.propertyNames, key, depth) &&
        this.fits(this.#view.ownProperty(node, key), value[key], depth),
    );
  }
}

/** What holds where a property is there: the keys that it needs, or a schema. */
export const dependencies = ({ dependentRequired, dependentSchemas, dependencies }: Node) =>
  [dependentRequired, dependentSchemas, dependencies].flatMap((entries) =>
    isRecord(entries) ? Object.entries(entries) : [],
  );

function fitsNumber(node: Node, value: number): boolean {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = node;
  if (!isBetween(minimum, value, maximum)) return false;
  // The bound itself; in older drafts the keyword only says that it is none of the values.
  if (value === (exclusiveMinimum === true ? minimum : exclusiveMinimum)) return false;
  if (value === (exclusiveMaximum === true ? maximum : exclusiveMaximum)) return false;
  if (!isBetween(exclusiveMinimum, value, exclusiveMaximum)) return false;
  if (typeof multipleOf !== 'number' || multipleOf <= 0) return true;
  const times = value / multipleOf;
  return Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times));
}

const isBetween = (least: unknown, value: number, most: unknown) =>
  !(typeof least === 'number' && value < least) && !(typeof most === 'number' && value > most);

const isSame = (a: unknown, b: unknown) =>
  a === b || (typeof a === 'object' && typeof b === 'object' && canonical(a) === canonical(b));

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join()}}`;
}
