import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BadRequestError } from '../../../../src/errors.ts';
import { EbnfGrammar } from '../../../../worker/grammar/ebnf.ts';
import { jsonRule, type PostCheck, validateJson } from '../../../../worker/grammar/json-schema/index.ts';
import { reads, testModel } from '../models.ts';
import { randomNumbers, walk } from '../walk.ts';

const model = testModel('tiny');
const ajv = new Ajv2020({ strict: false });
formats.default(ajv);

function compile(schema: unknown, isClosed = false) {
  const grammar = new EbnfGrammar(model.engine.vocabulary.markers.keys());
  const checks: PostCheck[] = [];
  const rule = jsonRule(grammar, schema, { path: 's', isClosed, report: (check) => checks.push(check) });
  return { source: grammar.toString(rule), checks };
}

const KEYS = ['a', 'b', 'ab', 'name', 'é"\n', 'x-1', 'long key'];
const key = fc.constantFrom(...KEYS);
const bound = fc.integer({ min: -30, max: 30 });
const decimal = fc.integer({ min: -3000, max: 3000 }).map((units) => units / 100);
const scalar = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  bound,
  decimal,
  fc.constantFrom('', 'a', 'two words', '"\\\n', 'é😀'),
);

/** Keywords of which each may be missing. */
const some = <Keywords extends object>(
  keywords: { [Name in keyof Keywords]: fc.Arbitrary<Keywords[Name]> },
) => fc.record(keywords, { requiredKeys: [] }) as fc.Arbitrary<Record<string, unknown>>;
const range = (low: string, high: string, value: fc.Arbitrary<number>) =>
  fc.tuple(fc.option(value), fc.option(value)).map(([a, b]) => {
    const [min, max] = a !== null && b !== null ? [Math.min(a, b), Math.max(a, b)] : [a, b];
    return { ...(min === null ? {} : { [low]: min }), ...(max === null ? {} : { [high]: max }) };
  });
const counts = (low: string, high: string, most: number) => range(low, high, fc.nat({ max: most }));
const all = (...parts: fc.Arbitrary<object>[]) =>
  fc.tuple(...parts).map((found) => Object.assign({}, ...found) as object);

const { schema } = fc.letrec<{ schema: object; object: object; array: object }>((tie) => {
  const property = tie('schema');
  return {
    object: all(
      fc.constant({ type: 'object' }),
      some({
        properties: fc.dictionary(key, property, { maxKeys: 6 }),
        required: fc.uniqueArray(key, { maxLength: 2 }),
        additionalProperties: fc.oneof(fc.boolean(), property),
        patternProperties: fc.dictionary(fc.constantFrom('^x', 'b$', '^[a-z]+$'), property, {
          minKeys: 1,
          maxKeys: 2,
        }),
        propertyNames: fc.constantFrom({ maxLength: 4 }, { pattern: '^[a-z]' }),
        dependentRequired: fc.dictionary(key, fc.uniqueArray(key, { maxLength: 2 }), { maxKeys: 1 }),
      }),
      counts('minProperties', 'maxProperties', 4),
    ),
    array: all(
      fc.constant({ type: 'array' }),
      some({
        items: property,
        prefixItems: fc.array(property, { minLength: 1, maxLength: 3 }),
        uniqueItems: fc.boolean(),
      }),
      counts('minItems', 'maxItems', 4),
    ),
    schema: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.constantFrom(
        { type: 'string' },
        { type: 'null' },
        { type: 'boolean' },
        { type: 'integer' },
        { type: 'number' },
        {},
      ),
      all(
        fc.constant({ type: 'integer' }),
        range('minimum', 'maximum', bound),
        some({ multipleOf: fc.integer({ min: 1, max: 7 }) }),
      ),
      all(fc.constant({ type: 'number' }), range('minimum', 'maximum', decimal)),
      all(fc.constant({ type: 'number' }), range('exclusiveMinimum', 'exclusiveMaximum', decimal)),
      all(
        fc.constant({ type: 'string' }),
        counts('minLength', 'maxLength', 12),
        some({ pattern: fc.constantFrom('^[a-z]*$', 'b', '^é|"$', '\\d{2}', '^.{0,8}$', '[^a]$') }),
      ),
      fc
        .constantFrom(
          'date',
          'time',
          'date-time',
          'uuid',
          'email',
          'ipv4',
          'ipv6',
          'hostname',
          'uri',
          'duration',
          'json-pointer',
        )
        .map((format) => ({ type: 'string', format })),
      fc
        .uniqueArray(scalar, { minLength: 1, maxLength: 4, selector: (value) => JSON.stringify(value) })
        .map((values) => ({ enum: values })),
      tie('object'),
      tie('object'),
      tie('array'),
      fc.array(property, { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
      fc.array(property, { minLength: 1, maxLength: 2 }).map((oneOf) => ({ oneOf })),
      fc.array(property, { minLength: 1, maxLength: 2 }).map((allOf) => ({ allOf })),
      fc
        .uniqueArray(fc.constantFrom('string', 'integer', 'null', 'array', 'object'), {
          minLength: 1,
          maxLength: 3,
        })
        .map((type) => ({ type })),
    ),
  };
});

const long = process.env.TOKENPRISM_LONG === '1';

describe('random schemas', () => {
  it('let only through what fits', { timeout: 300_000 }, async () => {
    const seen = { ended: 0, cut: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(schema, fc.nat(), async (given, seed) => {
        let compiled: ReturnType<typeof compile>;
        try {
          compiled = compile(given);
        } catch (error) {
          expect(error).toBeInstanceOf(BadRequestError);
          seen.refused++;
          return;
        }
        const text = await walk(model, compiled.source, randomNumbers(seed));
        if (text === null) {
          seen.cut++;
          return;
        }
        seen.ended++;
        const value: unknown = JSON.parse(text);
        const isDoubled = new Set(keysOf(text)).size < keysOf(text).length;
        // Between a key that comes twice and its last value JSON Schema sees no difference, but it counts.
        // And numbers of many digits are others once they are read.
        if (compiled.checks.length > 0 || isDoubled || /\d{15}/.test(text)) return;
        expect(validateJson(given, value), text).toBeNull();
        expect(ajv.validate(given, value), `${text}: ${ajv.errorsText()}`).toBe(true);
      }),
      { numRuns: long ? 5000 : 400 },
    );
    expect(seen.ended).toBeGreaterThan(4 * seen.cut);
    expect(seen.ended).toBeGreaterThan(seen.refused);
  });

  it('let their values through', { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fittingSchema(), async ([value, given]) => {
        expect(validateJson(given, value)).toBeNull();
        const { source } = compile(given);
        const text = JSON.stringify(value);
        expect(await reads(model, source, text)).toEqual({ isAccepted: true, read: text });
      }),
      { numRuns: long ? 5000 : 400 },
    );
  });
});

/** Keys of all objects in a text, with the place of their object, so that only doubled ones are equal. */
function keysOf(text: string): string[] {
  const keys: string[] = [];
  const open: number[] = [];
  let objects = 0;
  for (const [match] of text.matchAll(/"(?:[^"\\]|\\.)*"\s*:?|[{}]/gs)) {
    if (match === '{') open.push(objects++);
    else if (match === '}') open.pop();
    else if (match.endsWith(':')) keys.push(`${open.at(-1)} ${JSON.parse(match.replace(/\s*:$/, ''))}`);
  }
  return keys;
}

/** A value and a schema that it fits, made from the value: in each place what must hold of it, by chance. */
function fittingSchema(): fc.Arbitrary<[value: unknown, schema: object]> {
  // The largest exponent is left out: most numbers with it are infinite.
  const value = fc
    .jsonValue({ maxDepth: 3, depthSize: 'small' })
    .filter((made) => !/e\+308/.test(JSON.stringify(made)));
  return fc
    .tuple(value, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })))
    .map(([made, stream]) => {
      const next = () => stream.next().value as number;
      return [made, schemaOf(made, next)];
    });
}

function schemaOf(value: unknown, next: () => number): object {
  const chance = (share: number) => next() < share;
  if (chance(0.1)) return {};
  if (chance(0.1)) return { enum: [value, 'other', 12] };
  if (chance(0.1)) return { anyOf: [{ type: 'boolean' }, schemaOf(value, next)] };
  if (chance(0.1)) return { allOf: [schemaOf(value, next), schemaOf(value, next)] };
  if (value === null) return { type: ['string', 'null'] };
  if (typeof value === 'boolean') return { type: 'boolean' };
  if (typeof value === 'string') {
    const length = Array.from(value).length;
    return {
      type: 'string',
      ...(chance(0.5) ? { minLength: Math.floor(next() * (length + 1)) } : {}),
      ...(chance(0.5) ? { maxLength: length + Math.floor(next() * 5) } : {}),
    };
  }
  if (typeof value === 'number') {
    // Numbers with an exponent are left out of ranges, where grammars write digits only.
    const isPlain = !String(value).includes('e');
    return {
      type: Number.isInteger(value) && isPlain && !Object.is(value, -0) ? 'integer' : 'number',
      ...(chance(0.5) && isPlain ? { minimum: Math.floor(value - 100 * next()) } : {}),
      ...(chance(0.5) && isPlain ? { maximum: Math.ceil(value + 100 * next()) } : {}),
    };
  }
  if (Array.isArray(value)) {
    const whole = value.length > 0 && chance(0.5);
    return {
      type: 'array',
      ...(whole ? { prefixItems: value.map((item) => schemaOf(item, next)) } : {}),
      ...(!whole && value.length === 1 ? { items: schemaOf(value[0], next) } : {}),
      ...(chance(0.5) ? { minItems: Math.floor(next() * (value.length + 1)) } : {}),
      ...(chance(0.5) ? { maxItems: value.length + Math.floor(next() * 3) } : {}),
    };
  }
  const entries = Object.entries(value as object);
  // Keys without escapes can be told from declared ones while they are written.
  const isPlain = entries.every(([name]) => JSON.stringify(name) === `"${name}"`);
  // What is declared comes first.
  const declared = isPlain ? entries.slice(0, Math.floor(next() * (entries.length + 1))) : entries;
  const isWhole = declared.length === entries.length;
  return {
    type: 'object',
    properties: Object.fromEntries(declared.map(([name, inner]) => [name, schemaOf(inner, next)])),
    ...(chance(0.5) ? { required: declared.filter(() => chance(0.5)).map(([name]) => name) } : {}),
    ...(isWhole && chance(0.5) ? { additionalProperties: false } : {}),
    ...(chance(0.3) ? { minProperties: Math.floor(next() * (entries.length + 1)) } : {}),
    ...(chance(0.3) ? { maxProperties: entries.length + Math.floor(next() * 3) } : {}),
  };
}
