import { describe, expect, it } from 'vitest';
import { EbnfGrammar } from '../../../../worker/grammar/ebnf.ts';
import { jsonRule, keywordsRule, parametersRule } from '../../../../worker/grammar/json-schema/index.ts';

const path = 'tools[0].function.parameters';
const options = { path, isClosed: true, report: () => {} };
const style = {
  open: (key: string) => `<parameter name="${key}">`,
  close: '</parameter>\n',
  separator: '',
  keyEnds: ['">', '>'],
};

const WRITINGS = {
  json: (schema: unknown) => jsonRule(new EbnfGrammar(), schema, options),
  python: (schema: unknown) => keywordsRule(new EbnfGrammar(), schema, options),
  parameters: (schema: unknown) => parametersRule(new EbnfGrammar(), schema, style, options),
};

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
const required = (value: unknown) => object({ b: { type: 'string' }, a: value }, { required: ['a'] });
const none = { type: 'string', enum: [1, 2] };

describe.each(Object.entries(WRITINGS))('arguments that nothing fits: %s', (_, compile) => {
  it.each([
    ['a property', required(none), '.properties.a'],
    ['a property of a property', required(required(none)), '.properties.a.properties.a'],
    ['an item', required({ type: 'array', minItems: 1, items: none }), '.properties.a.items'],
    ['what is referred to', { ...required({ $ref: '#/$defs/n' }), $defs: { n: none } }, '.properties.a'],
    ['beside an optional one', object({ o: none, a: { ...none } }, { required: ['a'] }), '.properties.a'],
    ['a property that may not be', required(false), '.required'],
    [
      'a property that is left out',
      object({}, { required: ['x'], additionalProperties: false }),
      '.required',
    ],
    ['one without a value', required({ not: {} }), '.properties.a'],
    ['one without a value but with a word', required({ not: { description: 'any' } }), '.properties.a'],
    [
      'a list of more different items than there are',
      required({ type: 'array', uniqueItems: true, minItems: 3, items: { enum: ['a', 'b', 'a'] } }),
      '.properties.a',
    ],
    [
      'a list of different items of few types',
      required({ type: 'array', uniqueItems: true, minItems: 4, items: { type: ['null', 'boolean'] } }),
      '.properties.a',
    ],
    [
      'a list of different integers',
      required({
        type: 'array',
        uniqueItems: true,
        minItems: 4,
        items: { type: 'integer', minimum: 0, exclusiveMaximum: 9, multipleOf: 3 },
      }),
      '.properties.a',
    ],
    [
      'a list whose first items are the same',
      required({ type: 'array', uniqueItems: true, minItems: 2, prefixItems: [{ const: 1 }, { const: 1 }] }),
      '.properties.a',
    ],
    ['the whole', object({ o: none }, { minProperties: 2, additionalProperties: false }), ''],
    ['all of several', { anyOf: [required(none), required({ not: {} })], type: 'object' }, ''],
  ])('names the place of %s', (_what, schema, place) => {
    expect(() => compile(schema)).toThrow(
      expect.objectContaining({ param: path + place, code: 'schema_unsatisfiable' }),
    );
  });

  it('a list of as many different items as there are is written', () => {
    const items = { type: 'integer', minimum: 0, maximum: 8, multipleOf: 3 };
    for (const list of [
      { items: { enum: ['a', 'b', 'c'] }, minItems: 3 },
      { items, minItems: 3 },
      { items: { type: 'string' }, minItems: 30 },
      { prefixItems: [{ const: 1 }, { enum: [1, 2] }], items: { type: 'boolean' }, minItems: 4 },
    ])
      expect(() => compile(required({ type: 'array', uniqueItems: true, ...list }))).not.toThrow();
  });

  it('an optional property is left out', () => {
    expect(() => compile(object({ a: none, b: { type: 'string' } }))).not.toThrow();
  });
});

describe('parameters that only a key of no declaration could be', () => {
  it.each([
    { patternProperties: { '^n_': { type: 'integer' } }, additionalProperties: false, minProperties: 1 },
    { properties: { a: { type: 'string' } }, additionalProperties: true, minProperties: 2 },
    { propertyNames: { pattern: '^n' }, additionalProperties: true, minProperties: 1 },
  ])('are written: %j', (schema) => {
    for (const compile of Object.values(WRITINGS))
      expect(() => compile({ type: 'object', ...schema })).not.toThrow();
  });

  it('are not supported where none can be written, which is not that nothing fits', () => {
    const schema = { type: 'object', propertyNames: { pattern: '>' }, minProperties: 1 };
    for (const compile of [WRITINGS.json]) expect(() => compile(schema)).not.toThrow();
    expect(() => WRITINGS.parameters(schema)).toThrow(
      expect.objectContaining({ param: `${path}.minProperties`, code: 'schema_unsupported' }),
    );
  });
});
