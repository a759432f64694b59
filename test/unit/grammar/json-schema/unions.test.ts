/** Branches that begin alike and are told apart late: none of them may be lost on the way. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EbnfGrammar } from '../../../../worker/grammar/ebnf.ts';
import { jsonRule } from '../../../../worker/grammar/json-schema/index.ts';
import { reads, readsGreedily, type TestModel, testModel } from '../models.ts';

const ajv = new Ajv2020({ strict: false });

function sourceOf(model: TestModel, schema: unknown): string {
  const grammar = new EbnfGrammar(model.engine.vocabulary.markers.keys());
  return grammar.toString(jsonRule(grammar, schema, { path: 's' }));
}

const closed = (properties: Record<string, object>, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const upTo = (maxLength: number) => ({ type: 'string', maxLength });
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('with the vocabulary of qwen3', () => {
  const model = testModel('qwen3');
  const accepted = async (schema: unknown, texts: readonly string[]) => {
    const source = sourceOf(model, schema);
    const readings = await Promise.all(
      texts.map(async (text) => [
        (await reads(model, source, text)).isAccepted,
        await readsGreedily(model, source, text),
      ]),
    );
    for (const [bytewise, greedily] of readings) expect(greedily).toBe(bytewise);
    return texts.filter((_, index) => readings[index]![0]);
  };

  it('keeps many branches of which each bounds a shared key in its own way', async () => {
    const schema = {
      anyOf: numbers(20).map((index) => closed({ name: upTo(20 + index), kind: { const: `k${index}` } })),
    };
    const text = (length: number, kind: number) => `{"name":"${'a'.repeat(length)}","kind":"k${kind}"}`;
    const some = [0, 1, 9, 18, 19];
    const right = some.flatMap((index) => [text(3, index), text(20 + index, index)]);
    const wrong = some.map((index) => text(21 + index, index));
    expect(await accepted(schema, [...right, ...wrong, text(3, 20)])).toEqual(right);
  });

  it('keeps all branches where a token could go on into a text', async () => {
    const paths = {
      anyOf: [
        closed({ a: { const: '/root' }, x: { type: 'integer' } }),
        closed({ a: upTo(50), y: { type: 'integer' } }),
        closed({ a: { type: 'string' }, z: { type: 'integer' } }),
      ],
    };
    const right = ['x', 'y', 'z'].map((key) => `{"a": "/root", "${key}": 1}`);
    expect(await accepted(paths, [...right, '{"a": "/rooty", "x": 1}'])).toEqual(right);
    const open = {
      anyOf: [
        closed({ a: { type: 'object' } }),
        { ...closed({ a: { type: 'boolean' } }), patternProperties: { '^x-': { type: 'string' } } },
      ],
    };
    const fit = ['{"a": true}', '{"a": {}}', '{"a": true, "x-y": "/"}'];
    expect(await accepted(open, [...fit, '{"a": {}, "x-y": "/"}'])).toEqual(fit);
  });

  it('keeps branches within branches', async () => {
    const inner = (outer: number) => ({
      anyOf: numbers(5).map((index) => closed({ b: upTo(10 + 5 * outer + index), c: { const: index } })),
    });
    const schema = {
      anyOf: numbers(5).map((outer) => closed({ a: upTo(5 + outer), x: inner(outer), d: { const: outer } })),
    };
    const text = (outer: number, index: number) => `{"a":"aaaa","x":{"b":"bb","c":${index}},"d":${outer}}`;
    const right = [0, 3, 4].flatMap((outer) => [0, 3, 4].map((index) => text(outer, index)));
    expect(await accepted(schema, [...right, text(5, 0), text(0, 5)])).toEqual(right);
  });

  it('keeps the branches of long lists, of known texts beside bounded ones and of open objects', async () => {
    const schema = {
      type: 'array',
      items: {
        anyOf: [
          closed({ name: { const: 'all' }, kind: { const: 'a' } }),
          closed({ name: upTo(5), kind: { const: 'b' } }),
          closed({ name: { type: 'string' }, kind: { const: 'c' } }),
          { type: 'object', required: ['kind'], properties: { kind: { const: 'd' } } },
          { type: 'object', patternProperties: { '^n': upTo(7) }, additionalProperties: { const: 'e' } },
        ],
      },
    };
    const items = [...'abcde'].map((kind) => `{"name":"all","kind":"${kind}"}`);
    const open = items.map((item) => (item.includes('"d"') ? '{"kind":"d","name":"all"}' : item));
    const text = (list: readonly string[]) => `[${list.join(',')}]`;
    const long = numbers(60).map((index) => open[(index * 7) % 5]!);
    const wrong = [...long.slice(0, 20), '{"name":"every","kind":"a"}'];
    expect(await accepted(schema, [text(open), text(long), text(wrong)])).toEqual([text(open), text(long)]);
  });
});

describe('with the vocabulary of tiny', () => {
  const model = testModel('tiny');
  const value = fc.oneof(
    fc.constantFrom('x', 'xy', 'long').map((text) => ({ const: text })),
    fc.nat({ max: 5 }).map(upTo),
    fc.constantFrom('^x', 'y$', '^[a-m]*$').map((pattern) => ({ type: 'string', pattern })),
    fc.constant({ type: 'string' }),
    fc.constant({ type: 'integer' }),
  );
  const KEYS = ['a', 'b', 'c'];
  const property = fc.oneof(
    { weight: 3, arbitrary: value },
    { weight: 1, arbitrary: value.map((inner) => closed({ a: inner })) },
  );
  const branch = fc
    .tuple(
      fc.tuple(property, property, property),
      fc.subarray(KEYS),
      fc.constantFrom<unknown>(false, false, true, { const: 'x' }),
      fc.boolean(),
    )
    .map(([values, required, additionalProperties, hasPattern]) => ({
      type: 'object',
      properties: Object.fromEntries(values.slice(0, 2).map((schema, index) => [KEYS[index]!, schema])),
      required: required.filter((key) => key !== 'c'),
      additionalProperties,
      ...(hasPattern && { patternProperties: { '^c': values[2] } }),
    }));
  const text = fc.constantFrom<unknown>('x', 'xy', 'x', 'xy', 'long', 'a', 'yyyyy', '', 7);
  const instance = fc
    .tuple(
      ...KEYS.map(() =>
        fc.option(
          fc.oneof({ weight: 4, arbitrary: text }, { weight: 1, arbitrary: text.map((a) => ({ a })) }),
        ),
      ),
    )
    .map((values) =>
      Object.fromEntries(values.flatMap((found, index) => (found === null ? [] : [[KEYS[index]!, found]]))),
    );

  it('lets come what fits any branch, and nothing else', async () => {
    const both = fc.tuple(
      fc.array(branch, { minLength: 2, maxLength: 4 }),
      fc.array(fc.array(instance, { minLength: 1, maxLength: 2 }), { minLength: 8, maxLength: 8 }),
    );
    let right = 0;
    await fc.assert(
      fc.asyncProperty(both, async ([anyOf, values]) => {
        const schema = { type: 'array', items: { anyOf } };
        const isValid = ajv.compile(schema);
        const source = sourceOf(model, schema);
        for (const list of values) {
          const { isAccepted } = await reads(model, source, JSON.stringify(list));
          expect([list, isAccepted]).toEqual([list, isValid(list)]);
          expect([list, await readsGreedily(model, source, JSON.stringify(list))]).toEqual([
            list,
            isAccepted,
          ]);
          if (isAccepted) right++;
        }
      }),
      { numRuns: 100, seed: 7 },
    );
    expect(right).toBeGreaterThan(50);
  }, 120_000);
});
