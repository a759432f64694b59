/** What values mean by their schemas, in each kind of format: what is valid as it was written stays. */
import { describe, expect, it } from 'vitest';
import { loadFormat } from '../../../src/formats/index.ts';
import { createParser } from '../../../src/parser/index.ts';

const json = JSON.stringify;
const plain = (value: unknown) => (typeof value === 'string' ? value : json(value));
const each = (values: object, write: (key: string, value: unknown) => string) =>
  Object.entries(values)
    .map(([key, value]) => write(key, value))
    .join('');

/** Calls of a function `f`, by format. */
const WRITERS: Record<string, (values: object) => string> = {
  hermes: (values) => `<tool_call>\n{"name": "f", "arguments": ${json(values)}}\n</tool_call>`,
  pythonic: (values) =>
    `[f(${Object.entries(values)
      .map(([key, value]) => `${key}=${value === null ? 'None' : json(value)}`)
      .join(', ')})]`,
  deepseek_v32: (values) =>
    `<｜DSML｜function_calls>\n<｜DSML｜invoke name="f">\n${each(values, (key, value) => {
      return `<｜DSML｜parameter name="${key}" string="${typeof value === 'string'}">${plain(value)}</｜DSML｜parameter>\n`;
    })}</｜DSML｜invoke>\n</｜DSML｜function_calls>`,
  qwen3_coder: (values) =>
    `<tool_call>\n<function=f>\n${each(values, (key, value) => {
      return `<parameter=${key}>\n${plain(value)}\n</parameter>\n`;
    })}</function>\n</tool_call>`,
  glm47: (values) =>
    `<tool_call>f${each(values, (key, value) => {
      return `<arg_key>${key}</arg_key><arg_value>${plain(value)}</arg_value>`;
    })}</tool_call>`,
  minimax_m2: (values) =>
    `<minimax:tool_call>\n<invoke name="f">\n${each(values, (key, value) => {
      return `<parameter name="${key}">${plain(value)}</parameter>\n`;
    })}</invoke>\n</minimax:tool_call>`,
};
const M3 = ']<]minimax[>[';
WRITERS.minimax_m3 = (values) =>
  `${M3}<tool_call>\n${M3}<invoke name="f">${each(values, (key, value) => {
    return `${M3}<${key}>${plain(value)}${M3}</${key}>`;
  })}${M3}</invoke>\n${M3}</tool_call>`;
/** Formats that say what is text. */
const MARKED = ['hermes', 'pythonic', 'deepseek_v32'];
const UNMARKED = ['qwen3_coder', 'glm47', 'minimax_m2'];

/** Pieces of the arguments of the call in a text. */
async function argumentsOf(tools: string, parameters: unknown, text: string): Promise<string[]> {
  const parser = createParser({
    format: await loadFormat({ reasoning: null, tools }),
    tools: [{ name: 'f', parameters }],
  });
  const events = [...Array.from(text, (character) => parser.feed({ text: character })).flat()];
  events.push(...parser.finish('stop'));
  return events.flatMap((event) => (event.type === 'call-arguments' ? [event.text] : []));
}

async function read(tools: string, parameters: unknown, values: object): Promise<unknown> {
  return JSON.parse((await argumentsOf(tools, parameters, WRITERS[tools]!(values))).join(''));
}

const only = (a: unknown, rest: object = {}) => ({
  type: 'object',
  properties: { a },
  required: ['a'],
  additionalProperties: false,
  ...rest,
});

/** Schemas under which only a text is valid. */
const TEXTS: [name: string, schema: unknown][] = [
  [
    'a type beside a reference',
    only({ $ref: '#/$defs/z', type: 'string' }, { $defs: { z: { type: ['string', 'integer', 'array'] } } }),
  ],
  [
    'an enumeration beside a reference',
    only(
      { $ref: '#/$defs/z', enum: ['00501', '5', 'true', '[1]', '{"q":1}', 'null'] },
      { $defs: { z: { type: ['string', 'integer', 'boolean', 'null'] } } },
    ),
  ],
  [
    'a pointer into a list',
    {
      type: 'object',
      properties: {
        b: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        a: { $ref: '#/properties/b/anyOf/0' },
      },
    },
  ],
  ['a pointer with signs', only({ $ref: '#/$defs/a~1b%20c' }, { $defs: { 'a/b c': { type: 'string' } } })],
  ['an anchor', only({ $ref: '#z' }, { $defs: { n: { $anchor: 'z', type: 'string' } } })],
  [
    "the document's own name",
    {
      $id: 'https://x.y/z',
      ...only({ $ref: 'https://x.y/z#/$defs/n' }, { $defs: { n: { type: 'string' } } }),
    },
  ],
  ['a part of allOf', only({ type: ['integer', 'string', 'null'], allOf: [{ type: 'string' }] })],
  ['what it is not', only({ not: { type: ['number', 'boolean', 'null', 'array', 'object'] } })],
  [
    'what follows from another key',
    {
      type: 'object',
      properties: { a: {}, k: {} },
      required: ['a', 'k'],
      if: { properties: { k: { const: 'text' } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword
      then: { properties: { a: { type: 'string' } } },
      else: { properties: { a: { type: 'integer' } } },
    },
  ],
  [
    'what depends on another key',
    {
      type: 'object',
      properties: { a: {} },
      dependentSchemas: { k: { properties: { a: { type: 'string' } } } },
    },
  ],
  [
    'a branch that another key tells',
    {
      anyOf: [
        { type: 'object', properties: { a: { type: 'string' }, k: { const: 'text' } }, required: ['a', 'k'] },
        {
          type: 'object',
          properties: { a: { not: { type: 'string' } }, k: { const: 'other' } },
          required: ['k'],
        },
      ],
    },
  ],
  ['what nothing else has evaluated', { type: 'object', unevaluatedProperties: { type: 'string' } }],
];

describe.each([...MARKED, ...UNMARKED, 'minimax_m3'])('%s: a text stays one', (tools) => {
  it.each(TEXTS)('%s', async (_, schema) => {
    for (const a of ['00501', '5', 'true', 'null', '[1]', '{"q":1}']) {
      const values = { a, k: 'text' };
      expect(await read(tools, schema, values)).toEqual(values);
    }
  });
});

describe.each(UNMARKED)('%s: the first reading that fits', (tools) => {
  const zip = only({
    anyOf: [
      { type: 'string', pattern: '^\\d{5}$' },
      { type: 'number', maximum: 10 },
    ],
  });
  const number = only({ type: ['number', 'string'] });
  const listed = only({ anyOf: [{ type: 'boolean' }, { enum: ['auto', '1', 'TRUE'] }] });
  const numbers = only({ type: ['array', 'string'], items: { type: 'integer' } });
  it.each<[string, unknown, string, unknown]>([
    ['a number that is too large is a text', zip, '12345', '12345'],
    ['a number that is not', zip, '5', 5],
    ['of none, the first', zip, '50', 50],
    ['no strict JSON, a text', number, '.5', '.5'],
    ['strict JSON', number, '-1.50', -1.5],
    ['zeros in front, a text', number, '007', '007'],
    ['a list in single quotes, a text', numbers, "['a']", "['a']"],
    ['a list that fits', numbers, '[1]', [1]],
    ['a list that does not, a text', numbers, '["a"]', '["a"]'],
    ['a listed text', listed, 'TRUE', 'TRUE'],
    ['a digit that is listed', listed, '1', '1'],
    ['a word', listed, 'True', true],
    ['a word for null', only({ type: ['string', 'null'] }), 'Null', null],
    ['repaired where no text is admitted', only({ type: 'array' }), "['a']", ['a']],
    ['without a type, a list that fits', only({ items: { type: 'integer' } }), '[1]', [1]],
    ['without a type, a list that does not', only({ items: { type: 'integer' } }), '["a"]', '["a"]'],
  ])('%s', async (_, schema, written, a) => {
    expect(await read(tools, schema, { a: written })).toEqual({ a });
  });

  const union = {
    anyOf: [
      {
        type: 'object',
        properties: { id: { type: 'string' }, kind: { const: 'user' } },
        required: ['id', 'kind'],
      },
      {
        type: 'object',
        properties: { id: { type: 'integer' }, kind: { const: 'order' } },
        required: ['kind'],
      },
    ],
  };

  it('a value waits for the keys that tell what it is, whatever their order', async () => {
    for (const values of [
      { id: '5', kind: 'user', note: 'a "b"' },
      { id: 5, kind: 'order', note: 'a "b"' },
      { note: '5', kind: 'user', id: '5' },
    ]) {
      const got = (await read(tools, union, values)) as object;
      expect(got).toEqual({ ...values, ...(values.note === '5' && { note: 5 }) });
      expect(Object.keys(got)).toEqual(Object.keys(values));
    }
  });

  it('keeps what waited when the call is cut', async () => {
    const text = WRITERS[tools]!({ id: '5', kind: 'user' });
    const cut = text.slice(0, text.indexOf('user') + 4);
    expect((await argumentsOf(tools, union, cut)).join('')).toMatch(/^\{"id": 5(?:, "kind": "user)?$/);
  });

  it('a text that nothing else decides goes out as it comes', async () => {
    const schema = { ...union, properties: { note: { type: 'string' } } };
    const pieces = await argumentsOf(tools, schema, WRITERS[tools]!({ note: 'abcdef' }));
    expect(pieces.length).toBeGreaterThanOrEqual(6);
  });
});

describe.each(MARKED)('%s: a value of an admitted type stays', (tools) => {
  const values: [string, unknown, unknown[]][] = [
    [
      'beside an untyped branch',
      only({ anyOf: [{ type: 'string' }, {}] }),
      [{ q: 1 }, 5, null, true, '5', [1]],
    ],
    ['beside true', only({ anyOf: [{ type: 'string' }, true] }), [{ q: 1 }, 5, null]],
    [
      'beside a reference to anything',
      only({ anyOf: [{ type: 'string' }, { $ref: '#/$defs/any' }] }, { $defs: { any: { title: 'Any' } } }),
      [{ q: 1 }, 5, null],
    ],
    ['anything or null', only({ anyOf: [{}, { type: 'null' }] }), ['5', 'null', 5, null]],
    ['items without a type', only({ items: { type: 'integer' } }), ['["a"]', '5', [1]]],
    ['properties without a type', only({ properties: { q: { type: 'integer' } } }), ['{"q":1}', { q: 1 }]],
    ['integer or string', only({ type: ['integer', 'string'] }), ['5', 5, 'x']],
  ];
  it.each(values)('%s', async (_, schema, all) => {
    for (const a of all) expect(await read(tools, schema, { a })).toEqual({ a });
  });

  it('by what one branch has for other keys, another for this one', async () => {
    const schema = {
      type: 'object',
      anyOf: [
        {
          properties: { a: { type: 'integer' } },
          required: ['a', 'b'],
          additionalProperties: { type: 'string' },
        },
        { properties: { b: { type: 'integer' } }, additionalProperties: false },
      ],
    };
    for (const written of [{ a: 1, b: '5' }, { b: 5 }]) {
      expect(await read(tools, schema, written)).toEqual(written);
    }
  });

  it('what is not admitted is coerced', async () => {
    expect(await read(tools, only({ type: 'integer' }), { a: '5' })).toEqual({ a: 5 });
    expect(await read(tools, only({ type: 'string' }), { a: 5 })).toEqual({ a: '5' });
    const nullable = only({
      anyOf: [{ type: 'object', properties: { n: { type: 'integer' } } }, { type: 'null' }],
    });
    expect(await read(tools, nullable, { a: { n: '5' } })).toEqual({ a: { n: 5 } });
  });
});

it('a schema that refers to itself many times is read once', async () => {
  const branches = [...Array.from({ length: 30 }, () => ({ $ref: '#/$defs/n' }))];
  const node = { type: 'object', properties: { x: { type: 'integer' }, n: { $ref: '#/$defs/n' } } };
  const schema = only({ $ref: '#/$defs/n' }, { $defs: { n: { anyOf: [...branches, node] } } });
  expect(await read('hermes', schema, { a: { x: '5', n: { x: 1, n: { x: '2' } } } })).toEqual({
    a: { x: 5, n: { x: 1, n: { x: 2 } } },
  });
  const fan = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [
      `d${index}`,
      index === 0
        ? { type: 'integer' }
        : {
            anyOf: [
              { $ref: `#/$defs/d${index - 1}` },
              { type: 'array', items: { $ref: `#/$defs/d${index - 1}` } },
            ],
          },
    ]),
  );
  expect(await read('qwen3_coder', only({ $ref: '#/$defs/d39' }, { $defs: fan }), { a: '[[7]]' })).toEqual({
    a: [[7]],
  });
});
