import { describe, expect, test } from 'vitest';
import { fieldsOf, readSchema, violations } from '../../../demo/pages/form/form-schema.ts';
import { partialJson } from '../../../demo/pages/form/partial-json.ts';

describe('partialJson', () => {
  test.each([
    ['', undefined],
    ['{', {}],
    ['{"city', {}],
    ['{"city"', {}],
    ['{"city": ', {}],
    ['{"city": "Pa', { city: 'Pa' }],
    ['{"city": "a\\', { city: 'a' }],
    ['{"city": "a\\u00', { city: 'a' }],
    ['{"city": "a\\"b", "n": 1', { city: 'a"b' }],
    ['{"n": 1, ', { n: 1 }],
    ['{"n": 1, "deg', { n: 1 }],
    ['{"ok": tr', {}],
    ['{"list": ["a", "b', { list: ['a', 'b'] }],
    ['{"list": [1, 2', { list: [1] }],
    ['{"list": [{"x": "y"}, ', { list: [{ x: 'y' }] }],
    ['{"a": {"b": "c"}', { a: { b: 'c' } }],
    ['{"n": 1}', { n: 1 }],
    ['no JSON', undefined],
  ])('%s', (text, value) => {
    expect(partialJson(text)).toEqual(value);
  });

  test('says nothing that the whole text does not, wherever that is cut', () => {
    const whole = { name: 'Ada "L\\', born: 1815, tags: ['a, b', '{}'], deep: { ok: true, none: null } };
    const text = JSON.stringify(whole);
    for (let at = 1; at < text.length; at++) {
      const value = partialJson(text.slice(0, at)) as typeof whole;
      expect(whole.name.startsWith(value.name ?? ''), text.slice(0, at)).toBe(true);
      expect([undefined, 1815]).toContain(value.born);
      expect(value.tags ?? []).toEqual(
        (value.tags ?? []).map((tag, index) => whole.tags[index]!.slice(0, tag.length)),
      );
    }
    expect(partialJson(text)).toEqual(whole);
  });
});

describe('a form of a schema', () => {
  const schema = readSchema(
    '{"type": "object", "properties": {"n": {"type": "integer", "minimum": 3}, "u": {"enum": ["a", 1], "title": "U"}, "l": {"type": "array"}}, "required": ["n"]}',
  );

  test('has a field for each property', () => {
    expect(fieldsOf(schema)).toEqual([
      { name: 'n', label: 'n', kind: 'number', choices: [] },
      { name: 'u', label: 'U', kind: 'choice', choices: ['a', '1'] },
      { name: 'l', label: 'l', kind: 'json', choices: [] },
    ]);
  });

  test('knows what breaks it, and where', () => {
    expect(violations(schema, { n: 3, u: 1, l: [] })).toEqual([]);
    expect(violations(schema, { n: 2 })).toEqual([expect.stringMatching(/^n: /)]);
    expect(violations(schema, {})).toEqual([expect.stringMatching(/^the whole: .*"n"/)]);
  });

  test.each([
    ['{', 'not JSON'],
    ['[]', 'must be an object'],
    ['{"type": "string"}', "type 'object'"],
    ['{"type": "object", "properties": {}}', "'properties'"],
  ])('%s is refused', (text, message) => {
    expect(() => readSchema(text)).toThrow(message);
  });
});
