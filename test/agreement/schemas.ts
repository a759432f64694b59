/** Random tools: schemas with every keyword that a grammar holds while text is written. */
import { CATALOGUE, type Tool } from './catalogue.ts';
import type { Random } from './random.ts';

type Schema = Record<string, unknown>;

const KEYS = ['a', 'name', 'days', 'user_id', 'isOpen', 'x-y', 'größe', 'end', 'type', 'arguments', 'city'];
/** Keys that are no names, of which not every family can write every one. */
const ODD_KEYS = ['$x', 'a b', 'ns:name', 'a<b', '日本', '1', 'a/b', 'a&b'];
const WORDS = ['a<b', 'red', 'green', 'a "b"', 'é\n1', '</b>', '{}', 'null', '3', ' x ', '\\', 'true'];
const PATTERNS = [
  '^[a-z]{2,5}$',
  '^\\d+-\\d+$',
  'x',
  '^(on|off)$',
  '^#[0-9a-f]{6}$',
  '^[^<>]*$',
  '^\\S+ \\S+$',
  '^<[a-z]+>',
];
const KEY_PATTERNS = ['^p_', '^\\$[a-z]', '^\\S+ \\S+$', ':', '^[a-z]+\\.[a-z]+$', '^(ab)+$', '<'];
const FORMATS = ['date', 'time', 'date-time', 'uuid', 'email', 'ipv4', 'hostname', 'duration'];

/** Tools of one request: of the catalogue, made up, or both. */
export function randomTools(random: Random): Tool[] {
  const count = random.between(1, 3);
  const tools: Tool[] = [];
  while (tools.length < count) {
    const tool = random.chance(0.5) ? random.pick(CATALOGUE) : randomTool(random, tools.length);
    if (!tools.some(({ name }) => name === tool.name)) tools.push(tool);
  }
  return tools;
}

const NAMES = ['f', 'f2', 'note', 'get_x', 'a.b-c', 'Search/all', 'x_1'];

function randomTool(random: Random, index: number): Tool {
  const name = NAMES[(random.below(3) + 3 * index) % NAMES.length]!;
  if (random.chance(0.2)) return { name, parameters: branches(random) };
  const parameters = objectSchema(random, 2);
  if (random.chance(0.25)) {
    const { properties } = parameters as { properties: Schema };
    parameters.$defs = { part: schema(random, 1), list: listOfItself(random) };
    properties.part = { $ref: '#/$defs/part' };
    if (random.chance(0.5)) properties.list = { $ref: '#/$defs/list' };
  }
  return { name, parameters };
}

const keysOf = (random: Random) => (random.chance(0.2) ? ODD_KEYS : KEYS);

/** Alternatives with a key in common, whose value another key tells. */
function branches(random: Random): Schema {
  const keys = random.some(keysOf(random), 2);
  const shared = keys.slice(0, random.between(1, 2));
  const own = keys.slice(shared.length);
  const count = random.between(2, 3);
  const made = Array.from({ length: count }, (_, index) => {
    const others = own.filter((_, at) => at % count === index);
    const all = random.chance(0.5) ? [...shared, ...others] : [...others, ...shared];
    const properties = Object.fromEntries(all.map((key) => [key, schema(random, random.below(3))]));
    const required = random.chance(0.7) ? all : random.some(all, 0);
    return {
      type: 'object',
      properties,
      required,
      ...(random.chance(0.7) && { additionalProperties: false }),
    };
  });
  const type = random.chance(0.5) && { type: 'object' };
  return { ...type, [random.chance(0.7) ? 'anyOf' : 'oneOf']: made };
}

/** A linked list: an object that may hold one of its own kind. */
const listOfItself = (random: Random): Schema => ({
  type: 'object',
  properties: { head: schema(random, 0), tail: { anyOf: [{ $ref: '#/$defs/list' }, { type: 'null' }] } },
  required: ['head'],
  additionalProperties: false,
});

/** @param depth levels of arrays and objects that may follow */
export function schema(random: Random, depth: number): Schema {
  const kinds = [
    stringSchema,
    stringSchema,
    stringSchema,
    integerSchema,
    numberSchema,
    plainSchema,
    choiceSchema,
    choiceSchema,
    ...(depth > 0 ? [arraySchema, objectSchema, unionSchema, unionSchema, bothSchema] : []),
  ];
  const made = random.pick(kinds)(random, depth - 1);
  return random.chance(0.1) ? { ...made, description: 'What it is.', title: 'It' } : made;
}

function stringSchema(random: Random): Schema {
  const kind = random.below(8);
  if (kind === 0) return { type: 'string', pattern: random.pick(PATTERNS) };
  if (kind === 1) return { type: 'string', format: random.pick(FORMATS) };
  if (kind === 2) return { type: 'string', minLength: random.below(4), maxLength: random.between(4, 30) };
  if (kind === 3) return { type: 'string', minLength: random.between(1, 12) };
  if (kind === 4) return { type: 'string', maxLength: random.between(1, 200) };
  return { type: 'string' };
}

function integerSchema(random: Random): Schema {
  const low = random.between(-120, 50);
  const made: Schema = { type: 'integer' };
  if (random.chance(0.4)) made[random.pick(['minimum', 'exclusiveMinimum'])] = low;
  if (random.chance(0.4)) made[random.pick(['maximum', 'exclusiveMaximum'])] = low + random.between(20, 900);
  if (random.chance(0.2)) made.multipleOf = random.pick([2, 3, 5, 10]);
  return made;
}

function numberSchema(random: Random): Schema {
  // Quarters, so that sums are exact.
  const low = random.between(-120, 120) / 4;
  const made: Schema = { type: 'number' };
  if (random.chance(0.5)) made[random.pick(['minimum', 'exclusiveMinimum'])] = low;
  if (random.chance(0.5))
    made[random.pick(['maximum', 'exclusiveMaximum'])] = low + random.between(1, 40) / 4;
  return made;
}

const plainSchema = (random: Random): Schema =>
  random.pick<Schema>([{ type: 'boolean' }, { type: 'boolean' }, { type: 'null' }, {}]);

function choiceSchema(random: Random): Schema {
  const words = random.some(WORDS, 1);
  switch (random.below(6)) {
    case 0:
      return { const: random.pick<unknown>([...WORDS, 7, -1.5, null, true, ['a', 1], { k: 'v' }]) };
    case 1:
      return { enum: [...words, random.between(-5, 5), null, false] };
    case 2:
      return { enum: [[1, 'a'], { k: [true] }, 'x'] };
    case 3:
      return { type: 'integer', enum: [1, 2, 30] };
    default:
      return { type: 'string', enum: words };
  }
}

function arraySchema(random: Random, depth: number): Schema {
  const made: Schema = { type: 'array' };
  if (random.chance(0.25)) {
    made.prefixItems = [schema(random, depth), schema(random, depth)];
    made.items = random.chance(0.5) ? false : schema(random, depth);
  } else if (random.chance(0.9)) made.items = schema(random, depth);
  const least = random.below(3);
  if (random.chance(0.4) && made.items !== false) made.minItems = least;
  if (random.chance(0.5)) made.maxItems = least + random.below(3);
  return made;
}

function objectSchema(random: Random, depth: number): Schema {
  const keys = random.some(keysOf(random), 1).slice(0, random.between(1, 6));
  const properties = Object.fromEntries(keys.map((key) => [key, schema(random, depth)]));
  const required = random.some(keys, 0);
  const made: Schema = { type: 'object', properties };
  if (required.length > 0 || random.chance(0.2)) made.required = required;
  const rest = random.below(8);
  if (rest === 0) made.additionalProperties = true;
  if (rest === 1) made.additionalProperties = schema(random, 0);
  if (rest >= 2 && rest <= 4) made.additionalProperties = false;
  if (random.chance(0.1)) made.patternProperties = { [random.pick(KEY_PATTERNS)]: schema(random, 0) };
  if (random.chance(0.1)) made.minProperties = required.length + random.below(2);
  if (random.chance(0.1)) made.maxProperties = Math.max(required.length + 1, Number(made.minProperties ?? 0));
  if (random.chance(0.05) && keys.length > 1) made.dependentRequired = { [keys[0]!]: [keys[1]!] };
  return made;
}

function unionSchema(random: Random, depth: number): Schema {
  switch (random.below(5)) {
    case 0:
      return { type: random.some(['string', 'integer', 'boolean', 'null', 'number'], 2) };
    case 1:
      return { anyOf: [schema(random, depth), { type: 'null' }] };
    case 2:
      return { oneOf: [{ type: 'string' }, { type: 'integer', minimum: 0 }, arraySchema(random, depth)] };
    case 3:
      return { ...stringSchema(random), nullable: random.chance(0.5) };
    default:
      return { anyOf: [schema(random, depth), schema(random, depth)] };
  }
}

const bothSchema = (random: Random, depth: number): Schema => ({
  allOf: [
    { type: 'object', properties: { kind: { const: 'k' } }, required: ['kind'] },
    { type: 'object', properties: { v: schema(random, depth) } },
  ],
});

/** Every keyword of a schema, wherever it stands. */
export function keywordsOf(made: unknown, found = new Set<string>()): Set<string> {
  if (typeof made !== 'object' || made === null) return found;
  for (const [keyword, value] of Object.entries(made)) {
    if (!Array.isArray(made)) found.add(keyword);
    const isMap = ['properties', 'patternProperties', '$defs', 'dependentRequired'].includes(keyword);
    if (isMap && !Array.isArray(made))
      for (const inner of Object.values(value as object)) keywordsOf(inner, found);
    else if (!['enum', 'const', 'required', 'dependentRequired'].includes(keyword)) keywordsOf(value, found);
  }
  return found;
}
