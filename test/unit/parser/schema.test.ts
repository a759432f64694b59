import { describe, expect, it } from 'vitest';
import { coerceText, wholeJson } from '../../../src/parser/coercion.ts';
import { SchemaView } from '../../../src/parser/schema.ts';

/** JSON text of arguments as a JSON format delivers them. */
const coerced = (schema: unknown, json: string) => wholeJson(json, schema, new SchemaView(schema));

const kinds = (...types: unknown[]) => ({
  anyOf: types.map((type) => ({ type: 'object', properties: { v: { type } } })),
});

describe('values that fit one branch of a schema', () => {
  it.each([
    ['another branch has another type', kinds('string', 'integer'), '{"v": -2}'],
    ['in the other order', kinds('integer', 'string'), '{"v": "-2"}'],
    [
      'branches within branches',
      { allOf: [kinds('string'), { oneOf: [kinds('boolean'), kinds('null')] }] },
      '{"v": null}',
    ],
    [
      'items of branches',
      { anyOf: [{ items: { type: 'string' } }, { items: { type: 'integer' } }] },
      '[1, "1"]',
    ],
    [
      'items by position',
      {
        anyOf: [
          { prefixItems: [{ type: 'string' }] },
          { prefixItems: [{ type: 'integer' }], items: { type: 'boolean' } },
        ],
      },
      '[1, true]',
    ],
    [
      'other properties',
      { anyOf: [{ additionalProperties: { type: 'string' } }, { additionalProperties: { type: 'number' } }] },
      '{"a": 1.5, "b": "1.5"}',
    ],
    [
      'keys that match a pattern',
      {
        patternProperties: { '^x-': { type: 'integer' }, n$: { type: 'boolean' }, '(': { type: 'string' } },
        additionalProperties: { type: 'string' },
      },
      '{"x-a": 5, "on": true, "x-n": 1, "x-n": false, "b": "1"}',
    ],
    [
      'a declared property, beside others',
      { properties: { a: { type: 'integer' } }, additionalProperties: { type: 'string' } },
      '{"a": 1, "b": "1"}',
    ],
  ])('%s', (_, schema, json) => {
    expect(coerced({ type: ['object', 'array'], ...schema }, json)).toBe(json);
  });

  it('does not try patterns that could take long', () => {
    const patterns = ['^(a+)+$', '^(a|a)*$', '^a*a*a*a*$', '^(a)(\\1)*$', '^([a-z]{1,9}){1,9}$'];
    for (const pattern of patterns) {
      const schema = { type: 'object', patternProperties: { [pattern]: { type: 'integer' } } };
      const json = `{"${'a'.repeat(60)}!": "7"}`;
      expect(coerced(schema, json), pattern).toBe(json);
    }
    const long = { type: 'object', patternProperties: { '^a.*b.*c$': { type: 'integer' } } };
    expect(coerced(long, `{"a${'b'.repeat(100_000)}": "7"}`)).toContain('"7"');
  });

  it('coerces what fits no branch', () => {
    const schema = { type: 'object', ...kinds('integer', 'boolean') };
    expect(coerced(schema, '{"v": "7"}')).toBe('{"v": 7}');
    expect(
      coerceText('true', { anyOf: [{ type: 'integer' }, { type: 'boolean' }] }, new SchemaView({})),
    ).toBe('true');
  });
});
