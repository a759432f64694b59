/** Types of JSON values, and what the keyword `type` names. */

export type JsonType = 'null' | 'integer' | 'number' | 'boolean' | 'object' | 'array' | 'string';

/** Types that are admitted; null where any is. */
export type Types = ReadonlySet<JsonType> | null;

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

/** The JSON type of a value that was parsed. */
export function typeOfValue(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  if (typeof value === 'boolean') return 'boolean';
  return typeof value === 'string' ? 'string' : 'object';
}

/** Types that the keyword `type` of a node names; null if it names none. */
export function namedTypes({ type, nullable }: Readonly<Record<string, unknown>>): Types {
  const types = new Set<JsonType>();
  for (const name of Array.isArray(type) ? type : [type]) {
    const known = typeof name === 'string' ? ALIASES[name.toLowerCase()] : undefined;
    if (known) types.add(known);
  }
  if (types.size === 0) return null;
  return nullable === true ? types.add('null') : types;
}

/** Types that both admit; undefined if none is. */
export function commonTypes(types: Types, others: Types): Types | undefined {
  if (!types || !others) return types ?? others;
  const both = new Set<JsonType>();
  for (const [some, more] of [
    [types, others],
    [others, types],
  ] as const) {
    for (const type of some) if (isOfType(type, more)) both.add(type);
  }
  return both.size > 0 ? both : undefined;
}

/** Whether a type is among those; whole numbers are numbers. */
export const isOfType = (type: JsonType, types: ReadonlySet<JsonType>) =>
  types.has(type) || (type === 'integer' && types.has('number'));
