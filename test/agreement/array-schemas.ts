/** Whether a list may stand in a property's place, read from the schema without the product. */

type Schema = Readonly<Record<string, unknown>>;

/** Whether every schema of a property leaves room for a list. */
export function mayBeArray(root: Schema, name: string): boolean {
  return propertyMayBe(root, root, name, []);
}

function propertyMayBe(root: Schema, schema: unknown, name: string, open: readonly unknown[]): boolean {
  if (!isSchema(schema) || open.includes(schema)) return schema !== false;
  const { properties, patternProperties, additionalProperties } = schema;
  const within = [...open, schema];
  const inside = (part: unknown) => propertyMayBe(root, part, name, within);
  const own = isSchema(properties) && Object.hasOwn(properties, name) ? [properties[name]] : [];
  for (const [pattern, part] of Object.entries(isSchema(patternProperties) ? patternProperties : {}))
    if (new RegExp(pattern, 'u').test(name)) own.push(part);
  if (own.length === 0) own.push(additionalProperties);
  return own.every((part) => admitsArray(root, part, [])) && combined(root, schema, inside);
}

function admitsArray(root: Schema, schema: unknown, open: readonly unknown[]): boolean {
  if (!isSchema(schema) || open.includes(schema)) return schema !== false;
  const { type } = schema;
  if (type !== undefined && ![type].flat().includes('array')) return false;
  if (Array.isArray(schema.enum) && !schema.enum.some(Array.isArray)) return false;
  if ('const' in schema && !Array.isArray(schema.const)) return false;
  return combined(root, schema, (part) => admitsArray(root, part, [...open, schema]));
}

/** Whether what a schema combines may be so. */
function combined(root: Schema, schema: Schema, mayBe: (part: unknown) => boolean): boolean {
  const { $ref, allOf, anyOf, oneOf } = schema;
  return (
    (typeof $ref !== 'string' || mayBe(target(root, $ref))) &&
    (!Array.isArray(allOf) || allOf.every(mayBe)) &&
    (!Array.isArray(anyOf) || anyOf.some(mayBe)) &&
    (!Array.isArray(oneOf) || oneOf.some(mayBe))
  );
}

/** What a reference within the schema leads to. */
const target = (root: Schema, reference: string) =>
  reference
    .split('/')
    .slice(1)
    .reduce<unknown>((value, step) => (isSchema(value) ? value[step] : undefined), root);

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null;
