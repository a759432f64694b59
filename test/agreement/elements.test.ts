/** What the walks' own reading of elements takes for granted. */
import { describe, expect, it } from 'vitest';
import { mayBeArray } from './compare.ts';
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
