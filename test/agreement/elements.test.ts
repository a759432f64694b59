/** What the walks' own reading of elements takes for granted. */
import { describe, expect, it } from 'vitest';
import { mayBeArray } from './array-schemas.ts';
import { distinct, type ReadElement } from './element-reading.ts';

const element = (name: string, text: string): ReadElement => ({ name, text, children: [] });
const list = (name: string, ...texts: string[]): ReadElement => ({
  name,
  text: '',
  children: texts.map((text) => element('item', text)),
});
const written = [element('a', '1'), element('b', '2'), element('a', '3'), element('a', '4')];

describe('elements with a name that comes again', () => {
  it('are a list where one may stand, in the first one’s place', () => {
    expect(distinct(written, () => true)).toEqual([list('a', '1', '3', '4'), element('b', '2')]);
  });

  it('are the last value elsewhere, and a list right behind each other', () => {
    expect(distinct(written, () => false)).toEqual([list('a', '3', '4'), element('b', '2')]);
    expect(distinct(written.slice(0, 3), () => false)).toEqual([element('a', '3'), element('b', '2')]);
  });
});

it('a property may be a list by every schema that it has', () => {
  const schema = {
    properties: {
      any: {},
      list: { type: 'array' },
      both: { type: ['string', 'array'] },
      text: { type: 'string' },
    },
    patternProperties: { '^p_': { type: 'integer' } },
    additionalProperties: { type: 'null' },
  };
  const names = ['any', 'list', 'both', 'text', 'p_1', 'other', 'toString'];
  expect(names.filter((name) => mayBeArray(schema, name))).toEqual(['any', 'list', 'both']);
  expect(mayBeArray({}, 'other')).toBe(true);
});

it('a property may be a list where its schema says so in other words', () => {
  const schema = {
    $defs: { list: { type: 'array' }, text: { type: 'string' }, self: { $ref: '#/$defs/self' } },
    properties: {
      list: { $ref: '#/$defs/list' },
      text: { $ref: '#/$defs/text' },
      either: { anyOf: [{ type: 'string' }, { $ref: '#/$defs/list' }] },
      neither: { oneOf: [{ type: 'string' }, { const: 1 }] },
      all: { allOf: [{}, { type: 'string' }] },
      some: { enum: ['a', [1]] },
      none: { enum: ['a', 1] },
      one: { const: [1] },
      never: false,
      self: { $ref: '#/$defs/self' },
    },
  };
  const names = Object.keys(schema.properties);
  expect(names.filter((name) => mayBeArray(schema, name))).toEqual(['list', 'either', 'some', 'one', 'self']);
  const branches = {
    anyOf: [{ properties: { a: { type: 'null' } } }, { properties: { a: { type: 'array' } } }],
  };
  expect(mayBeArray(branches, 'a')).toBe(true);
  expect(mayBeArray({ anyOf: branches.anyOf.slice(0, 1) }, 'a')).toBe(false);
});
