/**
 * Values whose reading others decide: of a parameter that may be a number or a text, where a branch of the whole
 * schema has another type for it.
 *
 * ```
 * {anyOf: [{id: string, kind: "user"}, {id: integer, kind: "order"}]}
 * <parameter=id>5</parameter><parameter=kind>user</parameter>
 *               ^ 5 or "5"                       ^ "5"
 * ```
 */
import { list, type SchemaView } from './schema.ts';
import { dependencies, SchemaCheck } from './schema-check.ts';
import { isRecord, type Schema } from './schema-references.ts';

type Node = Readonly<Record<string, unknown>>;

/** A parameter's value. */
export interface OpenValue {
  key: string;
  /** JSON texts that it may be, the likeliest first. */
  readings: readonly string[];
}

/** Ways to read all values that are tried. */
const MOST_WAYS = 256;

/** Keywords that say what the value of a key may be. */
const KEYWORDS = ['properties', 'patternProperties', 'additionalProperties', 'enum', 'const'];

const conditionsOf = new WeakMap<SchemaView, readonly Node[]>();

/** Schemas of values that hold for the arguments only under a condition, or of which one will do. */
function conditions(view: SchemaView): readonly Node[] {
  const known = conditionsOf.get(view);
  if (known) return known;
  const certain = new Set<Node>();
  const found = new Set<Node>();
  const addTo = (nodes: Set<Node>) => (schema: Schema) => {
    if (isRecord(schema)) nodes.add(schema);
  };
  addTo(certain)(view.root);
  const branches = (node: Node): Schema[] => [
    ...[node.anyOf, node.oneOf].flatMap(list),
    ...[node.if, node.then, node.else, node.not],
    ...dependencies(node).map(([, schema]) => schema),
  ];
  for (const node of certain) {
    [view.target(node), ...list(node.allOf)].forEach(addTo(certain));
    branches(node).forEach(addTo(found));
    if (node.enum !== undefined || node.const !== undefined) found.add(node);
  }
  for (const node of found) [view.target(node), ...list(node.allOf), ...branches(node)].forEach(addTo(found));
  const speaking = [...found].filter((node) => KEYWORDS.some((keyword) => node[keyword] !== undefined));
  conditionsOf.set(view, speaking);
  return speaking;
}

/** Whether how a value is read may depend on other values. */
export const hasConditions = (view: SchemaView) => conditions(view).length > 0;

/** Whether how the value of this key is read may depend on other values. */
export function isConditional(key: string, view: SchemaView): boolean {
  return conditions(view).some((node) => {
    if (node.enum !== undefined || node.const !== undefined) return true;
    return isRecord(view.ownProperty(node, key));
  });
}

/** One reading of each: the first ones that fit the schema together, or simply the first ones. */
export function readTogether(values: readonly OpenValue[], view: SchemaView): string[] {
  const first = values.map(({ readings }) => readings[0]!);
  if (values.every(({ readings }) => readings.length === 1)) return first;
  const parsed = values.map(({ readings }) => readings.map((json) => JSON.parse(json) as unknown));
  const check = new SchemaCheck(view);
  const places = values.map(() => 0);
  for (let way = 0; way < MOST_WAYS; way++) {
    const whole = values.map(({ key }, index) => [key, parsed[index]![places[index]!]] as const);
    if (check.fits(view.root, Object.fromEntries(whole)))
      return values.map(({ readings }, index) => readings[places[index]!]!);
    let index = values.length - 1;
    while (index >= 0 && ++places[index]! === parsed[index]!.length) places[index--] = 0;
    if (index < 0) break;
  }
  return first;
}
