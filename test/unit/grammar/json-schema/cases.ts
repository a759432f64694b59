/** Schemas by keyword, with values that fit and values that do not. */
export interface SchemaCase {
  keyword: string;
  schema: unknown;
  accept: unknown[];
  reject: unknown[];
  /** Keywords that are left for a check afterwards: what only they reject, the grammar may accept. */
  checkedAfter?: string[];
}

const object = (properties: object, more: object = {}) => ({
  type: 'object',
  properties,
  additionalProperties: false,
  ...more,
});
const string = { type: 'string' };
const integer = { type: 'integer' };

export const CASES: SchemaCase[] = [
  // Types
  { keyword: 'type', schema: string, accept: ['', 'a', 'é"\\\n\u0001😀'], reject: [1, null, ['a'], {}] },
  { keyword: 'type', schema: integer, accept: [0, -7, 12345678901], reject: [1.5, '1', null, true] },
  {
    keyword: 'type',
    schema: { type: 'number' },
    accept: [0, -1.25, 3, 1e20, 2.5e-7, 1e300],
    reject: ['1', null],
  },
  { keyword: 'type', schema: { type: 'boolean' }, accept: [true, false], reject: [0, 'true', null] },
  { keyword: 'type', schema: { type: 'null' }, accept: [null], reject: [false, 0, ''] },
  { keyword: 'type', schema: { type: 'array' }, accept: [[], [1, ['a', {}], null]], reject: [{}, 1] },
  { keyword: 'type', schema: { type: 'object' }, accept: [{}, { a: [1, { b: null }] }], reject: [[], 1] },
  { keyword: 'type', schema: { type: ['string', 'null'] }, accept: ['a', null], reject: [1, {}, []] },
  {
    keyword: 'type',
    schema: { type: ['integer', 'boolean', 'array'] },
    accept: [1, true, ['a']],
    reject: ['a', 1.5],
  },
  { keyword: 'type', schema: true, accept: [1, 'a', null, [{}], { a: 1 }], reject: [] },
  { keyword: 'type', schema: {}, accept: [1, 'a', null, [{}], { a: 1 }, 0.5, false], reject: [] },
  { keyword: 'nullable', schema: { type: 'string', nullable: true }, accept: ['a', null], reject: [1] },

  // Values
  {
    keyword: 'enum',
    schema: { enum: ['a', 1, null, true, [1, 2], { a: 'b' }] },
    accept: ['a', 1, null, true, [1, 2], { a: 'b' }],
    reject: ['b', 2, false, [1], { a: 'c' }, {}],
  },
  {
    keyword: 'enum',
    schema: { type: 'string', enum: ['a', 'b', 3] },
    accept: ['a', 'b'],
    reject: [3, 'c', 'ab', ''],
  },
  {
    keyword: 'enum',
    schema: { type: 'string', enum: ['"', '\\', 'line\nbreak', '<tool_call>', 'é'] },
    accept: ['"', '\\', 'line\nbreak', '<tool_call>', 'é'],
    reject: ['', 'e'],
  },
  {
    keyword: 'enum',
    schema: { type: 'string', enum: Array.from({ length: 1000 }, (_, index) => `value ${index}`) },
    accept: ['value 0', 'value 999'],
    reject: ['value', 'value 1000', 'value 00'],
  },
  { keyword: 'enum', schema: { enum: ['red', 'green'], maxLength: 3 }, accept: ['red'], reject: ['green'] },
  {
    keyword: 'const',
    schema: { const: { a: [1, 'x'] } },
    accept: [{ a: [1, 'x'] }],
    reject: [{ a: [1] }, { a: [1, 'y'] }, 'a'],
  },
  { keyword: 'const', schema: { const: null }, accept: [null], reject: [0, ''] },
  { keyword: 'const', schema: { const: -0.5 }, accept: [-0.5], reject: [0.5, 0] },

  // References
  { keyword: '$ref', schema: { $ref: '#/$defs/a', $defs: { a: integer } }, accept: [1], reject: ['1'] },
  {
    keyword: '$ref',
    schema: { $ref: '#/definitions/a%20b~1c~0d', definitions: { 'a b/c~d': integer } },
    accept: [1],
    reject: ['1'],
  },
  {
    keyword: '$ref',
    schema: { $ref: '#/$defs/a', maximum: 5, $defs: { a: integer } },
    accept: [5],
    reject: [6, 'a'],
  },
  {
    keyword: '$ref',
    schema: { $ref: '#mark', $defs: { a: { $anchor: 'mark', type: 'string' } } },
    accept: ['a'],
    reject: [1],
  },
  {
    keyword: '$ref',
    schema: { $id: 'https://example.org/s', $ref: 'https://example.org/s#/$defs/a', $defs: { a: integer } },
    accept: [1],
    reject: ['a'],
  },
  {
    keyword: '$ref',
    schema: {
      $ref: '#/$defs/node',
      $defs: {
        node: object(
          { value: integer, next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
          { required: ['value'] },
        ),
      },
    },
    accept: [{ value: 1 }, { value: 1, next: null }, { value: 1, next: { value: 2, next: { value: 3 } } }],
    reject: [{}, { value: 1, next: {} }, { value: 1, next: { value: 2, next: 3 } }],
  },
  {
    keyword: '$ref',
    schema: object({ children: { type: 'array', items: { $ref: '#' } } }),
    accept: [{}, { children: [{}, { children: [] }] }],
    reject: [{ children: [1] }, { child: [] }],
  },

  // Combinations
  {
    keyword: 'anyOf',
    schema: { anyOf: [string, { type: 'integer', minimum: 3 }] },
    accept: ['a', 3],
    reject: [2, null],
  },
  {
    keyword: 'anyOf',
    schema: object(
      { modifier: string, size: integer },
      { anyOf: [{ required: ['modifier'] }, { required: ['size'] }] },
    ),
    accept: [{ modifier: 'x' }, { size: 1 }, { modifier: 'x', size: 1 }],
    reject: [{}, { other: 1 }, [1], 'text'],
  },
  { keyword: 'anyOf', schema: { anyOf: [false, integer] }, accept: [1], reject: ['a'] },
  {
    keyword: 'anyOf',
    schema: {
      anyOf: [{ type: 'string', maxLength: 2 }, { type: 'string', pattern: '^x' }, { const: 'long one' }],
    },
    accept: ['ab', 'xyz', 'long one'],
    reject: ['abc', 'long'],
  },
  {
    keyword: 'anyOf',
    schema: {
      anyOf: [
        object({ kind: { const: 'a' }, x: integer }, { required: ['kind', 'x'] }),
        object({ kind: { const: 'b' }, y: string }, { required: ['kind', 'y'] }),
      ],
    },
    accept: [
      { kind: 'a', x: 1 },
      { kind: 'b', y: 'z' },
    ],
    reject: [{ kind: 'a', y: 'z' }, { kind: 'b', x: 1 }, { kind: 'c' }],
  },
  { keyword: 'oneOf', schema: { oneOf: [string, integer] }, accept: ['a', 1], reject: [null, 1.5] },
  {
    keyword: 'oneOf',
    schema: {
      oneOf: [
        { type: 'integer', multipleOf: 2 },
        { type: 'integer', multipleOf: 3 },
      ],
    },
    accept: [2, 3, 4, 9],
    reject: [1, 6],
    checkedAfter: ['oneOf'],
  },
  {
    keyword: 'allOf',
    schema: { allOf: [{ type: 'integer', minimum: 3 }, { maximum: 5 }] },
    accept: [3, 5],
    reject: [2, 6, 'a'],
  },
  {
    keyword: 'allOf',
    schema: {
      allOf: [
        { type: 'object', properties: { a: integer }, required: ['a'] },
        { properties: { b: string }, required: ['b'] },
      ],
    },
    accept: [
      { a: 1, b: 'x' },
      { b: 'x', a: 1 },
      { a: 1, b: 'x', c: null },
    ],
    reject: [{ a: 1 }, { b: 'x' }, { a: 'x', b: 'x' }],
  },
  {
    keyword: 'allOf',
    schema: { allOf: [{ type: ['string', 'integer'] }, { type: ['integer', 'null'] }] },
    accept: [1],
    reject: ['a', null],
  },
  {
    keyword: 'allOf',
    schema: { allOf: [{ pattern: '^a' }, { type: 'string', pattern: 'z$' }, { maxLength: 4 }] },
    accept: ['az', 'abz', 'abcz'],
    reject: ['a', 'z', 'abcdz'],
  },
  { keyword: 'not', schema: { not: { type: 'string' } }, accept: [1, null, [], {}], reject: ['a'] },
  {
    keyword: 'not',
    schema: { type: 'integer', not: { const: 5 } },
    accept: [4],
    reject: [5, 'a'],
    checkedAfter: ['not'],
  },
  {
    keyword: 'not',
    schema: object({ a: integer, b: integer }, { not: { required: ['a'] } }),
    accept: [{}, { b: 1 }],
    reject: [{ a: 1 }],
  },
  {
    keyword: 'if',
    schema: object(
      { kind: { enum: ['a', 'b'] }, x: integer },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      { required: ['kind'], if: { properties: { kind: { const: 'a' } } }, then: { required: ['x'] } },
    ),
    accept: [{ kind: 'a', x: 1 }, { kind: 'b' }, { kind: 'b', x: 2 }],
    reject: [{ kind: 'a' }, { kind: 'c' }],
    checkedAfter: ['if'],
  },

  // Numbers
  { keyword: 'minimum', schema: { type: 'integer', minimum: 3 }, accept: [3, 10, 1000], reject: [2, -3, 0] },
  {
    keyword: 'minimum',
    schema: { type: 'integer', minimum: -12 },
    accept: [-12, -9, 0, 55],
    reject: [-13, -100],
  },
  {
    keyword: 'maximum',
    schema: { type: 'integer', maximum: 42 },
    accept: [42, 7, 0, -1000],
    reject: [43, 100],
  },
  {
    keyword: 'maximum',
    schema: { type: 'integer', minimum: 7, maximum: 1203 },
    accept: [7, 99, 100, 1203],
    reject: [6, 1204, 9999],
  },
  {
    keyword: 'maximum',
    schema: { type: 'integer', minimum: -5, maximum: 5 },
    accept: [-5, 0, 5],
    reject: [-6, 6, 10],
  },
  {
    keyword: 'exclusiveMinimum',
    schema: { type: 'integer', exclusiveMinimum: 3, exclusiveMaximum: 5 },
    accept: [4],
    reject: [3, 5],
  },
  {
    keyword: 'minimum',
    schema: { type: 'integer', minimum: 0.5, maximum: 2.5 },
    accept: [1, 2],
    reject: [0, 3],
  },
  {
    keyword: 'exclusiveMinimum',
    schema: { type: 'number', exclusiveMinimum: 0 },
    accept: [0.1, 1e-3, 5, 12.5],
    reject: [0, -1, -0.1],
  },
  {
    keyword: 'minimum',
    schema: { type: 'number', minimum: 0.5, maximum: 1.5 },
    accept: [0.5, 1, 1.5, 0.75, 1.499],
    reject: [0.49, 1.51, 2, 0, -1],
  },
  {
    keyword: 'minimum',
    schema: { type: 'number', minimum: -90, maximum: 90 },
    accept: [-0.5, 90, -90, 0, 89.99],
    reject: [90.01, -91, 100],
  },
  {
    keyword: 'minimum',
    schema: { type: 'number', minimum: 1.25, maximum: 1.75 },
    accept: [1.25, 1.3, 1.75, 1.745],
    reject: [1.2, 1.24, 1.751, 1.8, 1, 2],
  },
  {
    keyword: 'exclusiveMaximum',
    schema: { type: 'number', exclusiveMinimum: 1.25, exclusiveMaximum: 1.3 },
    accept: [1.26, 1.251, 1.2999],
    reject: [1.25, 1.3, 1],
  },
  { keyword: 'maximum', schema: { type: 'number', maximum: 1e30 }, accept: [5, 1e15, -1e20], reject: ['a'] },
  { keyword: 'maximum', schema: { type: 'number', exclusiveMaximum: 0 }, accept: [-0.1, -5], reject: [0, 1] },
  {
    keyword: 'minimum',
    schema: { type: 'integer', minimum: 9007199254740992 },
    accept: [9007199254740994],
    reject: [1],
  },
  { keyword: 'minimum', schema: { minimum: 3 }, accept: [3, 'a', null], reject: [2] },
  {
    keyword: 'multipleOf',
    schema: { type: 'integer', multipleOf: 7 },
    accept: [0, 7, -14, 700],
    reject: [1, 8, 71],
  },
  {
    keyword: 'multipleOf',
    schema: { type: 'integer', multipleOf: 5, minimum: 10, maximum: 30 },
    accept: [10, 15, 30],
    reject: [5, 12, 35],
  },
  {
    keyword: 'multipleOf',
    schema: { type: 'number', multipleOf: 0.01 },
    accept: [1, 0.5, 12.34, -0.01],
    reject: [0.001, 1.005],
  },
  {
    keyword: 'multipleOf',
    schema: { type: 'number', multipleOf: 0.25, minimum: 0, maximum: 1 },
    accept: [0, 0.25, 0.5, 1],
    reject: [0.1, 1.25],
  },
  {
    keyword: 'multipleOf',
    schema: { type: 'number', multipleOf: 0.3 },
    accept: [0.9, 3],
    reject: [1],
    checkedAfter: ['multipleOf'],
  },
  {
    keyword: 'format',
    schema: { type: 'integer', format: 'int32' },
    accept: [2147483647, -2147483648],
    reject: [2147483648],
  },

  // Strings
  {
    keyword: 'minLength',
    schema: { type: 'string', minLength: 2 },
    accept: ['ab', 'é😀', '"\n'],
    reject: ['', 'a', '😀'],
  },
  {
    keyword: 'maxLength',
    schema: { type: 'string', maxLength: 3 },
    accept: ['', 'abc', '😀😀😀', '"\\\n'],
    reject: ['abcd', '😀😀😀😀'],
  },
  {
    keyword: 'maxLength',
    schema: { type: 'string', minLength: 10, maxLength: 2000 },
    accept: ['0123456789', 'x'.repeat(2000)],
    reject: ['012345678', 'x'.repeat(2001)],
  },
  {
    keyword: 'pattern',
    schema: { type: 'string', pattern: '^[a-z]+$' },
    accept: ['a', 'hello'],
    reject: ['', 'A', 'a1', 'a b'],
  },
  {
    keyword: 'pattern',
    schema: { type: 'string', pattern: 'b+' },
    accept: ['b', 'abc', 'xx bb"\n'],
    reject: ['', 'ac'],
  },
  {
    keyword: 'pattern',
    schema: { type: 'string', pattern: '^.[^x]"\\\\$' },
    accept: ['ab"\\', '"""\\'],
    reject: ['ax"\\', 'ab'],
  },
  {
    keyword: 'pattern',
    schema: { type: 'string', pattern: '^[à-ü一-龥]{2}$' },
    accept: ['éü', '文字'],
    reject: ['ab', 'é'],
  },
  {
    keyword: 'pattern',
    schema: { type: 'string', pattern: '^\\p{Lu}\\w*\\s\\d{2,3}$' },
    accept: ['Éa 12', 'A 123'],
    reject: ['a 12', 'A 1', 'A1234'],
  },
  {
    keyword: 'pattern',
    schema: { type: 'string', pattern: '^(?:a|b(?:c|d)*){2}$' },
    accept: ['aa', 'bcda', 'bb'],
    reject: ['a', 'c'],
  },
  {
    keyword: 'pattern',
    schema: { type: 'string', pattern: '^\\u0041\\x42\\u{1F600}$' },
    accept: ['AB😀'],
    reject: ['AB'],
  },
  {
    keyword: 'pattern',
    schema: { type: 'string', pattern: '^(?=a)' },
    accept: ['ab'],
    reject: ['b'],
    checkedAfter: ['pattern'],
  },
  {
    keyword: 'pattern',
    schema: { type: 'string', pattern: '^[0-9]+$', minLength: 2, maxLength: 3 },
    accept: ['12', '123'],
    reject: ['1', '1234', 'ab'],
  },
  { keyword: 'pattern', schema: { pattern: '^a' }, accept: ['ab', 1, null], reject: ['b'] },
  {
    keyword: 'format',
    schema: { type: 'string', format: 'date' },
    accept: ['2024-02-29', '2023-12-31'],
    reject: ['2023-02-29', '2023-13-01', '2023-1-1', ''],
  },
  {
    keyword: 'format',
    schema: { type: 'string', format: 'time' },
    accept: ['12:30:00Z', '23:59:59.5+02:00'],
    reject: ['24:00:00Z', '12:30'],
  },
  {
    keyword: 'format',
    schema: { type: 'string', format: 'date-time' },
    accept: ['2024-02-29T12:30:00Z'],
    reject: ['2024-02-29', '2024-02-30T12:30:00Z'],
  },
  {
    keyword: 'format',
    schema: { type: 'string', format: 'duration' },
    accept: ['P1D', 'PT5M', 'P3Y6M4DT12H30M5S', 'P2W'],
    reject: ['P', '1D', 'PT'],
  },
  {
    keyword: 'format',
    schema: { type: 'string', format: 'uuid' },
    accept: ['123e4567-e89b-12d3-a456-426614174000'],
    reject: ['123e4567', '123e4567-e89b-12d3-a456-42661417400g'],
  },
  {
    keyword: 'format',
    schema: { type: 'string', format: 'email' },
    accept: ['a.b+c@example.org'],
    reject: ['a', 'a@', '@b.c'],
  },
  {
    keyword: 'format',
    schema: { type: 'string', format: 'ipv4' },
    accept: ['192.168.0.1'],
    reject: ['256.1.1.1', '1.2.3'],
  },
  {
    keyword: 'format',
    schema: { type: 'string', format: 'ipv6' },
    accept: [
      '::1',
      '2001:db8::8a2e:370:7334',
      '1:2:3:4:5:6:7:8',
      '::ffff:192.168.0.1',
      '1:2:3:4:5:6:7.8.9.10',
    ],
    reject: ['1:2', ':::', '12345::', '1:2:3:4:5:6:7:8.9.10.11', '::1.2.3', '1.2.3.4::', '::300.1.1.1'],
  },
  {
    keyword: 'format',
    schema: { type: 'string', format: 'hostname' },
    accept: ['example.org', 'localhost', 'a', 'a--b.c-d', 'a.b--c'],
    reject: ['-a.org', 'a..b', `${'a'.repeat(64)}`],
  },
  {
    keyword: 'format',
    schema: { type: 'string', format: 'uri' },
    accept: ['https://example.org/a?b=c#d', 'mailto:a@b.c', 'file:///tmp/x', 'postgresql:///db?a=b'],
    reject: ['example', '//example.org', 'http://a b'],
  },
  // As Zod writes them: what the format means is told by the pattern, or is none of a text.
  {
    keyword: 'format',
    schema: { type: 'string', format: 'lowercase', pattern: '^[^A-Z]*$' },
    accept: ['abc', ''],
    reject: ['aBc', 1],
  },
  { keyword: 'format', schema: { type: 'integer', format: 'timestamp' }, accept: [1], reject: ['1', 1.5] },
  {
    keyword: 'format',
    schema: { type: 'string', format: 'uri-reference' },
    accept: ['/a/b?c', '../d', 'https://example.org'],
    reject: ['a b', '\\\\'],
  },
  {
    keyword: 'format',
    schema: { type: 'string', format: 'uri-template' },
    accept: ['', 'http://a.b/{x}{?y,z*}', '/d/{term:1}/é😀', 'its{+path}', '{ab}%20'],
    reject: ['{', '}', '{}', '{a,}', '{v:0}', '{v:10000}', '{a..b}', 'a b', '{a=b}', '%2'],
  },
  {
    keyword: 'format',
    schema: { type: 'string', format: 'json-pointer' },
    accept: ['', '/a~1b/0'],
    reject: ['a', '/~2'],
  },
  {
    keyword: 'format',
    schema: { type: 'string', format: 'regex' },
    accept: ['^a'],
    reject: ['('],
    checkedAfter: ['format'],
  },
  {
    keyword: 'format',
    schema: { type: 'string', format: 'byte' },
    accept: ['', 'YWI=', 'YWJj'],
    reject: ['YWI', '*'],
  },
  { keyword: 'format', schema: { type: 'string', format: 'password' }, accept: ['anything'], reject: [1] },
  { keyword: 'format', schema: { type: 'number', format: 'double' }, accept: [1.5], reject: ['1.5'] },
  {
    keyword: 'format',
    schema: { type: 'integer', format: 'int64' },
    accept: [0, 9007199254740991],
    reject: [1.5],
  },

  // Arrays
  {
    keyword: 'items',
    schema: { type: 'array', items: integer },
    accept: [[], [1], [1, 2, 3]],
    reject: [['a'], [1, 'a']],
  },
  { keyword: 'items', schema: { items: integer }, accept: [[1], 'a', {}], reject: [['a']] },
  { keyword: 'items', schema: { type: 'array', items: false }, accept: [[]], reject: [[1]] },
  {
    keyword: 'minItems',
    schema: { type: 'array', items: string, minItems: 2 },
    accept: [
      ['a', 'b'],
      ['a', 'b', 'c'],
    ],
    reject: [[], ['a']],
  },
  {
    keyword: 'maxItems',
    schema: { type: 'array', items: string, maxItems: 2 },
    accept: [[], ['a'], ['a', 'b']],
    reject: [['a', 'b', 'c']],
  },
  {
    keyword: 'maxItems',
    schema: { type: 'array', minItems: 3, maxItems: 40, items: { type: 'boolean' } },
    accept: [[true, true, false], Array(40).fill(true)],
    reject: [[true, true], Array(41).fill(true)],
  },
  { keyword: 'maxItems', schema: { type: 'array', maxItems: 0 }, accept: [[]], reject: [[1]] },
  { keyword: 'minItems', schema: { type: 'array', minItems: 1 }, accept: [[null]], reject: [[]] },
  {
    keyword: 'prefixItems',
    schema: { type: 'array', prefixItems: [string, integer], items: false },
    accept: [[], ['a'], ['a', 1]],
    reject: [[1], ['a', 'b'], ['a', 1, 2]],
  },
  {
    keyword: 'prefixItems',
    schema: { type: 'array', prefixItems: [string], items: integer, minItems: 2 },
    accept: [
      ['a', 1],
      ['a', 1, 2],
    ],
    reject: [['a'], [1, 1], ['a', 'b']],
  },
  {
    keyword: 'prefixItems',
    schema: { type: 'array', prefixItems: [string, integer], minItems: 2, maxItems: 2 },
    accept: [['a', 1]],
    reject: [['a'], ['a', 1, 1]],
  },
  {
    keyword: 'uniqueItems',
    schema: { type: 'array', items: integer, uniqueItems: true },
    accept: [[1, 2]],
    reject: [[1, 1], ['a']],
    checkedAfter: ['uniqueItems'],
  },
  {
    keyword: 'contains',
    schema: { type: 'array', contains: integer },
    accept: [['a', 1]],
    reject: [['a'], []],
    checkedAfter: ['contains'],
  },

  // Objects
  {
    keyword: 'properties',
    schema: object({ a: integer, b: string }),
    accept: [{}, { a: 1 }, { b: 'x' }, { a: 1, b: 'x' }, { b: 'x', a: 1 }],
    reject: [{ a: 'x' }, { c: 1 }, { a: 1, c: 1 }],
  },
  {
    keyword: 'properties',
    schema: object({ 'a "b"': integer, 'é\n\\': string }),
    accept: [{ 'a "b"': 1 }, { 'é\n\\': 'x' }],
    reject: [{ a: 1 }],
  },
  {
    keyword: 'properties',
    schema: { properties: { a: integer } },
    accept: [{ a: 1 }, {}, 'x', { b: 'y' }],
    reject: [{ a: 'x' }],
  },
  {
    keyword: 'properties',
    schema: object({ a: integer, b: false }),
    accept: [{ a: 1 }],
    reject: [{ b: 1 }, { a: 1, b: 1 }],
  },
  {
    keyword: 'required',
    schema: object({ a: integer, b: string }, { required: ['a', 'b'] }),
    accept: [
      { a: 1, b: 'x' },
      { b: 'x', a: 1 },
    ],
    reject: [{}, { a: 1 }, { b: 'x' }],
  },
  {
    keyword: 'required',
    schema: { type: 'object', required: ['z'] },
    accept: [{ z: 1 }, { z: 1, a: 2 }],
    reject: [{}, { a: 1 }],
  },
  {
    keyword: 'required',
    schema: object(
      { a: integer, b: integer, c: integer, d: integer, e: integer, f: integer },
      { required: ['c', 'e'] },
    ),
    accept: [
      { c: 1, e: 1 },
      { a: 1, c: 1, e: 1, f: 1 },
      { b: 1, c: 1, d: 1, e: 1 },
    ],
    reject: [{ c: 1 }, { a: 1, b: 1 }, { e: 1 }, { c: 1, e: 1, g: 1 }],
  },
  {
    keyword: 'required',
    schema: object({ a: integer, b: integer, c: integer, d: integer, e: integer }),
    accept: [{}, { a: 1 }, { e: 1 }, { b: 1, d: 1 }],
    reject: [{ f: 1 }],
  },
  {
    keyword: 'additionalProperties',
    schema: { type: 'object', properties: { a: integer, name: string }, additionalProperties: true },
    accept: [
      {},
      { a: 1 },
      { a: 1, b: 'x' },
      { name: 'x', names: 1 },
      { b: null, a: 1 },
      { nam: 1 },
      { aa: 2 },
    ],
    reject: [{ a: 'x' }, { name: 1 }, { b: 1, a: 'x' }],
  },
  {
    keyword: 'additionalProperties',
    schema: {
      type: 'object',
      properties: { city: string },
      required: ['city'],
      additionalProperties: integer,
    },
    accept: [{ city: 'x' }, { city: 'x', b: 1 }, { b: 1, city: 'x' }],
    reject: [{ city: 1 }, { b: 1 }, { city: 'x', b: 'y' }, { city: 'x', cit: 'y' }],
  },
  {
    keyword: 'additionalProperties',
    schema: { type: 'object', additionalProperties: integer },
    accept: [{}, { a: 1, 'b"': 2 }],
    reject: [{ a: 'x' }],
  },
  {
    keyword: 'additionalProperties',
    schema: { type: 'object', additionalProperties: false },
    accept: [{}],
    reject: [{ a: 1 }],
  },
  {
    keyword: 'additionalProperties',
    schema: {
      type: 'object',
      properties: { a1: integer, a2: integer, a3: integer, a4: integer, a5: integer, a6: integer },
      required: ['a3'],
      additionalProperties: string,
    },
    accept: [{ a3: 1 }, { a1: 1, a3: 1, a6: 1, x: 'y' }, { a3: 1, a33: 'z' }],
    reject: [{ a3: 'x' }, { a3: 1, a4: 'x' }, { x: 'y' }],
  },
  {
    keyword: 'patternProperties',
    schema: { type: 'object', patternProperties: { '^x-': integer }, additionalProperties: false },
    accept: [{}, { 'x-a': 1, 'x-': 2 }],
    reject: [{ a: 1 }, { 'x-a': 'b' }],
  },
  {
    keyword: 'patternProperties',
    schema: {
      type: 'object',
      properties: { a: string },
      required: ['a'],
      patternProperties: { '^x': integer },
      additionalProperties: { type: 'boolean' },
    },
    accept: [{ a: 'y' }, { a: 'y', x1: 1 }, { a: 'y', other: true, x: 2 }],
    reject: [{}, { a: 1 }, { a: 'y', x: true }, { a: 'y', other: 1 }, { x: 1 }],
  },
  {
    keyword: 'patternProperties',
    schema: { type: 'object', patternProperties: { '^a': { minimum: 3 }, z$: integer } },
    accept: [{ a: 3.5, bz: 1, az: 4, other: 'x' }],
    reject: [{ a: 1 }, { bz: 'x' }, { az: 1 }, { az: 3.5 }],
  },
  {
    keyword: 'patternProperties',
    schema: {
      type: 'object',
      properties: { ab: integer },
      patternProperties: { '^a': { maximum: 5 } },
      additionalProperties: false,
    },
    accept: [{ ab: 5 }, { ac: 2.5 }],
    reject: [{ ab: 6 }, { ab: 2.5 }, { b: 1 }],
  },
  {
    keyword: 'propertyNames',
    schema: { type: 'object', propertyNames: { pattern: '^[a-z]{2,4}$' }, additionalProperties: integer },
    accept: [{}, { ab: 1, abcd: 2 }],
    reject: [{ a: 1 }, { ABC: 1 }, { ab: 'x' }],
  },
  {
    keyword: 'propertyNames',
    schema: { type: 'object', propertyNames: { enum: ['a', 'b'] } },
    accept: [{ a: 1 }, { b: 'x', a: 2 }],
    reject: [{ c: 1 }],
  },
  {
    keyword: 'propertyNames',
    schema: { type: 'object', properties: { a: integer, long: integer }, propertyNames: { maxLength: 2 } },
    accept: [{ a: 1, bc: 'x' }],
    reject: [{ long: 1 }, { a: 'x' }, { abc: 1 }],
  },
  {
    keyword: 'minProperties',
    schema: { type: 'object', additionalProperties: integer, minProperties: 2 },
    accept: [
      { a: 1, b: 2 },
      { a: 1, b: 2, c: 3 },
    ],
    reject: [{}, { a: 1 }],
    // A key that comes twice counts once.
    checkedAfter: ['minProperties'],
  },
  {
    keyword: 'maxProperties',
    schema: { type: 'object', additionalProperties: integer, maxProperties: 2 },
    accept: [{}, { a: 1, b: 2 }],
    reject: [{ a: 1, b: 2, c: 3 }],
  },
  {
    keyword: 'minProperties',
    schema: object({ a: integer, b: integer, c: integer }, { minProperties: 2, maxProperties: 2 }),
    accept: [
      { a: 1, b: 1 },
      { a: 1, c: 1 },
      { b: 1, c: 1 },
    ],
    reject: [{}, { a: 1 }, { a: 1, b: 1, c: 1 }],
  },
  {
    keyword: 'dependentRequired',
    schema: object({ a: integer, b: integer }, { dependentRequired: { a: ['b'] } }),
    accept: [{}, { b: 1 }, { a: 1, b: 1 }],
    reject: [{ a: 1 }],
  },
  {
    keyword: 'dependentSchemas',
    schema: object(
      { a: integer, b: integer },
      { dependentSchemas: { a: { properties: { b: { minimum: 5 } } } } },
    ),
    accept: [{ b: 1 }, { a: 1 }, { a: 1, b: 5 }],
    reject: [{ a: 1, b: 1 }],
  },
  {
    keyword: 'unevaluatedProperties',
    schema: {
      type: 'object',
      allOf: [{ properties: { a: integer } }],
      properties: { b: string },
      unevaluatedProperties: false,
    },
    accept: [{ a: 1 }, { b: 'x' }, { a: 1, b: 'x' }],
    reject: [{ c: 1 }, { a: 'x' }],
    checkedAfter: ['unevaluatedProperties'],
  },

  // Annotations say nothing about values.
  {
    keyword: 'description',
    schema: {
      type: 'string',
      title: 'T',
      description: 'D',
      default: 1,
      examples: [2],
      deprecated: true,
      $comment: 'c',
      'x-order': 3,
    },
    accept: ['a'],
    reject: [1],
  },
];

/** Schemas that are refused, with the place and the code of the error. */
export const REFUSED: { name: string; schema: unknown; param: string; code: string }[] = [
  { name: 'false', schema: false, param: 's', code: 'schema_unsatisfiable' },
  { name: 'no schema', schema: 'string', param: 's', code: 'schema_invalid' },
  { name: 'unknown type', schema: { type: 'str' }, param: 's.type', code: 'schema_invalid' },
  {
    name: 'empty enum',
    schema: object({ a: { enum: [] } }),
    param: 's.properties.a.enum',
    code: 'schema_invalid',
  },
  { name: 'empty anyOf', schema: { anyOf: [] }, param: 's.anyOf', code: 'schema_invalid' },
  {
    name: 'minimum above maximum',
    schema: { type: 'integer', minimum: 3, maximum: 2 },
    param: 's.minimum',
    code: 'schema_invalid',
  },
  {
    name: 'nothing between bounds',
    schema: { type: 'integer', minimum: 2.1, maximum: 2.9 },
    param: 's',
    code: 'schema_unsatisfiable',
  },
  {
    name: 'more choices beside each other than can be followed',
    schema: {
      type: 'object',
      dependentRequired: Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`a${index}`, ['b']])),
    },
    param: 's',
    code: 'schema_too_large',
  },
  {
    name: 'a pattern that only half a character fits',
    schema: { type: 'string', pattern: '^[\\ud800-\\udfff]$' },
    param: 's',
    code: 'schema_unsatisfiable',
  },
  {
    name: 'a format that nobody knows',
    schema: object({ a: { type: 'string', format: 'x-unknown' } }),
    param: 's.properties.a.format',
    code: 'schema_invalid',
  },
  { name: 'lengths', schema: { minLength: 3, maxLength: 2 }, param: 's.minLength', code: 'schema_invalid' },
  { name: 'negative length', schema: { minLength: -1 }, param: 's.minLength', code: 'schema_invalid' },
  {
    name: 'invalid pattern',
    schema: object({ a: { pattern: '(' } }),
    param: 's.properties.a.pattern',
    code: 'schema_invalid',
  },
  {
    name: 'invalid key pattern',
    schema: { patternProperties: { '[': {} } },
    param: 's.patternProperties',
    code: 'schema_invalid',
  },
  {
    name: 'pattern that nothing matches',
    schema: { type: 'string', pattern: '^a$', minLength: 2 },
    param: 's',
    code: 'schema_unsatisfiable',
  },
  { name: 'missing reference', schema: { $ref: '#/$defs/none' }, param: 's.$ref', code: 'schema_reference' },
  {
    name: 'remote reference',
    schema: { $ref: 'https://example.org/other.json' },
    param: 's.$ref',
    code: 'schema_reference',
  },
  {
    name: 'dynamic reference',
    schema: { $dynamicRef: '#x' },
    param: 's.$dynamicRef',
    code: 'schema_unsupported',
  },
  { name: 'reference to itself', schema: { $ref: '#' }, param: 's', code: 'schema_reference' },
  {
    name: 'circle of references',
    schema: { $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { $ref: '#/$defs/a' } } },
    param: 's.$defs.a',
    code: 'schema_reference',
  },
  {
    name: 'endless requirement',
    schema: object({ next: { $ref: '#' } }, { required: ['next'] }),
    param: 's.properties.next',
    code: 'schema_unsatisfiable',
  },
  {
    name: 'contradiction',
    schema: { allOf: [{ type: 'string' }, { type: 'integer' }] },
    param: 's',
    code: 'schema_unsatisfiable',
  },
  {
    name: 'enum of another type',
    schema: { type: 'integer', enum: ['a'] },
    param: 's',
    code: 'schema_unsatisfiable',
  },
  {
    name: 'required but impossible',
    schema: object({}, { required: ['a'] }),
    param: 's.required',
    code: 'schema_unsatisfiable',
  },
  {
    name: 'required as a flag',
    schema: object({ a: { type: 'string', required: true } }),
    param: 's.properties.a.required',
    code: 'schema_invalid',
  },
];
