import { describe, expect, it } from 'vitest';
import { loadFormat } from '../../../../src/formats/index.ts';
import { EbnfGrammar } from '../../../../worker/grammar/ebnf.ts';
import {
  type ParameterStyle,
  type PostCheck,
  parametersRule,
} from '../../../../worker/grammar/json-schema/index.ts';
import { reads, type TestModel, testModel, withTokens } from '../models.ts';

interface Family {
  model: TestModel;
  style: ParameterStyle;
  /** One parameter as the family writes it. */
  write(key: string, value: string, kind: 'text' | 'json'): string;
}

const GLM_TOKENS = ['<arg_key>', '</arg_key>', '<arg_value>', '</arg_value>'];
const tiny = testModel('tiny');

const FAMILIES: Record<string, Family> = {
  qwen3_coder: {
    model: tiny,
    style: {
      open: (key) => `<parameter=${key}>\n`,
      close: '\n</parameter>\n',
      separator: '',
      keyEnds: ['>'],
      avoid: () => ['</function>'],
      avoidAtLineStart: ['<parameter='],
    },
    write: (key, value) => `<parameter=${key}>\n${value}\n</parameter>\n`,
  },
  minimax_m2: {
    model: tiny,
    style: {
      open: (key) => `<parameter name="${key}">`,
      close: '</parameter>\n',
      separator: '',
      keyEnds: ['">', '>'],
    },
    write: (key, value) => `<parameter name="${key}">${value}</parameter>\n`,
  },
  glm: {
    model: withTokens('tiny', GLM_TOKENS),
    style: {
      open: (key) => `<arg_key>${key}</arg_key>\n<arg_value>`,
      close: '</arg_value>\n',
      separator: '',
      keyEnds: ['</arg_key>', '<arg_value>'],
    },
    write: (key, value) => `<arg_key>${key}</arg_key>\n<arg_value>${value}</arg_value>\n`,
  },
  dsml: {
    model: withTokens('tiny', ['｜DSML｜']),
    style: {
      open: (key, kind) => `<｜DSML｜parameter name="${key}" string="${kind === 'text'}">`,
      close: '</｜DSML｜parameter>\n',
      separator: '',
      keyEnds: ['"', '>'],
    },
    write: (key, value, kind) =>
      `<｜DSML｜parameter name="${key}" string="${kind === 'text'}">${value}</｜DSML｜parameter>\n`,
  },
};

function compile({ model, style }: Family, schema: unknown) {
  const grammar = new EbnfGrammar(model.engine.vocabulary.markers.keys());
  const checks: PostCheck[] = [];
  const rule = parametersRule(grammar, schema, style, {
    path: 's',
    isClosed: true,
    report: (check) => checks.push(check),
  });
  return { source: grammar.toString(rule), checks };
}

const object = (properties: object, required: string[] = []) => ({ type: 'object', properties, required });

describe.each(Object.entries(FAMILIES))('%s', (name, family) => {
  const accepts = async (schema: unknown, text: string) =>
    (await reads(family.model, compile(family, schema).source, text)).isAccepted;
  const { write } = family;
  // Where the closer has a token, its spelling inside of a value is text.
  const isClosedByToken = name === 'glm' || name === 'dsml';

  it('writes strings as text and the rest as JSON', async () => {
    const schema = object(
      {
        path: { type: 'string' },
        count: { type: 'integer' },
        flags: { type: 'array', items: { type: 'string' } },
      },
      ['path'],
    );
    const text = 'if (a < b) {\n  say("<p>");\n}\n';
    const path = write('path', text, 'text');
    expect(await accepts(schema, path)).toBe(true);
    expect(await accepts(schema, path + write('count', '3', 'json'))).toBe(true);
    expect(await accepts(schema, path + write('flags', '["a", "b"]', 'json'))).toBe(true);
    expect(await accepts(schema, write('path', '', 'text'))).toBe(true);
    expect(await accepts(schema, '')).toBe(false);
    expect(await accepts(schema, write('count', '3', 'json'))).toBe(false);
    expect(await accepts(schema, path + write('count', 'three', 'json'))).toBe(isClosedByToken);
    expect(await accepts(schema, write('other', 'x', 'text') + path)).toBe(false);
    expect(await accepts(schema, path + path)).toBe(isClosedByToken);
    const flags = write('flags', '[]', 'json');
    expect(await accepts(object({ flags: { type: 'array' } }), flags + flags)).toBe(false);
  });

  it('follows all branches that begin alike', async () => {
    const kinds = Array.from({ length: 24 }, (_, index) => index);
    const value = (index: number) =>
      [{ type: 'string', maxLength: 4 + index }, { enum: ['abc', index] }, { type: ['string', 'boolean'] }][
        index % 3
      ]!;
    const branch = (index: number) => ({
      ...object({ a: value(index), b: value(index + 3), kind: { const: `k${index}` } }, ['a', 'b', 'kind']),
      additionalProperties: false,
    });
    const schema = { type: 'object', anyOf: kinds.map(branch) };
    const text = (index: number, a: string) =>
      write('a', a, 'text') + write('b', 'abc', 'text') + write('kind', `k${index}`, 'text');
    const { source } = compile(family, schema);
    const isAccepted = async (written: string) => (await reads(family.model, source, written)).isAccepted;
    for (const index of [0, 1, 2, 20, 21, 22, 23]) expect(await isAccepted(text(index, 'abc'))).toBe(true);
    expect(await isAccepted(text(21, 'a'.repeat(25)))).toBe(true);
    for (const index of [0, 1, 18, 22]) expect(await isAccepted(text(index, 'a'.repeat(25)))).toBe(false);
  });

  it('holds values to their schemas', async () => {
    const schema = object({
      color: { type: 'string', enum: ['red', 'dark "blue"'] },
      day: { type: 'string', format: 'date' },
      code: { type: 'string', pattern: '^[a-z]+$', maxLength: 3 },
    });
    expect(await accepts(schema, write('color', 'dark "blue"', 'text'))).toBe(true);
    expect(await accepts(schema, write('color', 'blue', 'text'))).toBe(false);
    expect(await accepts(schema, write('day', '2024-02-29', 'text'))).toBe(true);
    expect(await accepts(schema, write('day', '2023-02-29', 'text'))).toBe(false);
    expect(await accepts(schema, write('code', 'abc', 'text'))).toBe(true);
    expect(await accepts(schema, write('code', 'abcd', 'text'))).toBe(false);
    expect(await accepts(schema, write('code', '', 'text'))).toBe(false);
  });

  it('ends a value at its closer only', async () => {
    const schema = object({ a: { type: 'string' }, b: { type: 'array' } });
    const closer = family.style.close.trim();
    expect(await accepts(schema, write('a', `x${closer}y`, 'text'))).toBe(isClosedByToken);
    const json = JSON.stringify([`x${closer}y`]);
    expect(await accepts(schema, write('b', json, 'json'))).toBe(isClosedByToken);
    expect(await accepts(schema, write('b', json.replace('<', '\\u003c'), 'json'))).toBe(true);
    expect(await accepts(schema, write('b', json.replace('/', '\\/'), 'json'))).toBe(true);
    expect(await accepts(schema, write('b', json.replace('>', '!'), 'json'))).toBe(true);
  });

  it('takes null and other scalars beside strings', async () => {
    const schema = object({
      a: { type: ['string', 'null'] },
      d: { anyOf: [{ type: 'string', format: 'date' }, { type: 'null' }] },
    });
    const kind = name === 'dsml' ? 'json' : 'text';
    expect(compile(family, schema).checks).toEqual([]);
    expect(await accepts(schema, write('a', 'null', kind))).toBe(true);
    expect(await accepts(schema, write('a', 'anything', 'text'))).toBe(true);
    expect(await accepts(schema, write('d', 'null', kind))).toBe(true);
    expect(await accepts(schema, write('d', '2024-01-01', 'text'))).toBe(true);
    expect(await accepts(schema, write('d', 'nul', 'text'))).toBe(false);
  });

  it('writes free keys where none is declared', async () => {
    const schema = { type: 'object', additionalProperties: { type: 'integer' } };
    expect(await accepts(schema, write('some_key', '1', 'json') + write('b', '2', 'json'))).toBe(true);
    for (const key of [
      '',
      'some key',
      '$x',
      '1',
      'größe',
      'ns:name',
      '日本',
      'a\nb',
      '-',
      '<b',
      'x'.repeat(120),
    ])
      expect(await accepts(schema, write(key, '1', 'json')), key).toBe(true);
    for (const key of [' a', 'a ', 'a\n', 'x'.repeat(121)])
      expect(await accepts(schema, write(key, '1', 'json')), key).toBe(false);
    expect(await accepts(schema, write('a', 'x', 'json'))).toBe(false);
    expect(await accepts(object({}), '')).toBe(true);
    expect(await accepts(object({}), write('a', '1', 'json'))).toBe(false);
  });
});

it('keeps what would be markup out of text', async () => {
  const { source } = compile(FAMILIES.qwen3_coder!, object({ a: { type: 'string' }, b: { type: 'string' } }));
  const read = async (text: string) =>
    (await reads(tiny, source, `<parameter=a>\n${text}\n</parameter>\n`)).isAccepted;
  expect(await read('x\n<parameter')).toBe(true);
  expect(await read('x <parameter=b>')).toBe(true);
  expect(await read('x\n<parameter=b>')).toBe(false);
  expect(await read('</function')).toBe(true);
  expect(await read('</function>')).toBe(false);
});

it.each([
  ['qwen3_coder', 'a>b'],
  ['minimax_m2', 'a">b'],
  ['dsml', 'a"b'],
  ['minimax_m2', ' a'],
  ['glm', 'a\n'],
  ['glm', `x${' x'.repeat(120)}`],
  ['qwen3_coder', 'a\u0001'],
])('refuses keys that would be read as others: %s %j', (name, key) => {
  expect(() => compile(FAMILIES[name]!, object({ [key]: { type: 'integer' } }))).toThrow(
    expect.objectContaining({
      param: `s.properties[${JSON.stringify(key)}]`,
      code: 'schema_unsupported',
      message: expect.stringContaining(JSON.stringify(key)),
    }),
  );
});

it.each(Object.keys(FAMILIES))(
  '%s refuses more patterns for keys than can be followed, by their place',
  (name) => {
    const patterned = (patterns: string) => ({
      type: 'object',
      patternProperties: Object.fromEntries(
        Array.from(patterns, (first) => [`^${first}`, { type: 'integer' }]),
      ),
    });
    expect(() => compile(FAMILIES[name]!, patterned('abcd'))).not.toThrow();
    expect(() => compile(FAMILIES[name]!, patterned('abcde'))).toThrow(
      expect.objectContaining({ param: 's.patternProperties', code: 'schema_unsupported' }),
    );
  },
);

it.each(['tool_call', 'invoke', '/a', 'a>b'])(
  'refuses keys that make a tag mean something else: %s',
  async (key) => {
    const { tools } = await loadFormat({ reasoning: null, tools: 'minimax_m3' });
    const family = { model: tiny, style: tools!.writing!.arguments as ParameterStyle, write: () => '' };
    for (const properties of [{ [key]: {} }, { a: object({ [key]: { type: 'null' } }) }]) {
      expect(() => compile(family, object(properties))).toThrow(
        expect.objectContaining({ code: 'schema_unsupported', message: expect.stringContaining(key) }),
      );
    }
  },
);

it('writes keys as text, also where they spell an added token', () => {
  const { source } = compile(FAMILIES.glm!, object({ '<arg_key>': { type: 'integer' } }, ['<arg_key>']));
  expect(source.match(/\\u0002<arg_key>/g)).toHaveLength(1);
  expect(source.match(/<arg_key>/g)).toHaveLength(3);
});

it.each([
  ['qwen3_coder', '</function>'],
  ['qwen3_coder', 'a\n</parameter>'],
  ['minimax_m2', '</parameter>'],
])('refuses listed texts that would be read as others: %s %j', (name, text) => {
  expect(() => compile(FAMILIES[name]!, object({ a: { enum: ['b', text] } }))).toThrow(
    expect.objectContaining({
      param: 's.properties.a',
      code: 'schema_unsupported',
      message: expect.stringContaining(JSON.stringify(text)),
    }),
  );
});

it.each(['minimax_m2', 'glm', 'dsml'])('%s: many optional parameters compile', async (name) => {
  const { model, style, write } = FAMILIES[name]!;
  const keys = Array.from({ length: 300 }, (_, index) => `prop_${index}`);
  const properties = Object.fromEntries(keys.map((key) => [key, { type: 'integer' }]));
  for (const required of [[], ['prop_0'], ['prop_150']]) {
    const { source } = compile({ model, style, write }, object(properties, required));
    // What one rule has of them makes the time grow with the cube.
    const most = Math.max(...source.split('\n').map((rule) => rule.split('prop_').length - 1));
    expect(most).toBeLessThanOrEqual(2);
    const matches = (...numbers: number[]) =>
      reads(model, source, numbers.map((number) => write(`prop_${number}`, '7', 'json')).join(''));
    expect(await matches(0, 7, 150, 299)).toMatchObject({ isAccepted: true });
    expect(await matches(150, 299)).toMatchObject({ isAccepted: required[0] !== 'prop_0' });
    expect(await matches()).toMatchObject({ isAccepted: required.length === 0 });
    for (const wrong of [150, 149, 300]) {
      expect(await matches(0, 150, wrong)).toMatchObject({ isAccepted: false });
    }
  }
});

describe('patterns for keys', () => {
  const patterned = (pattern: string, value: object) => ({
    type: 'object',
    patternProperties: { [pattern]: value },
  });
  const place = (pattern: string) => `s.patternProperties[${JSON.stringify(pattern)}]`;

  it.each(['>', '^.{300}$', '^ '])(
    'are refused by their place where no key can be written: %s',
    (pattern) => {
      const { minimax_m2 } = FAMILIES;
      expect(() => compile(minimax_m2!, patterned(pattern, { type: 'integer' }))).toThrow(
        expect.objectContaining({ param: place(pattern), code: 'schema_unsupported' }),
      );
      expect(() =>
        compile(minimax_m2!, { ...patterned(pattern, {}), patternProperties: { [pattern]: false } }),
      ).not.toThrow();
    },
  );

  it.each(['^(ab)+$', '^(\\d+-)*x$'])(
    'are refused by their place where the parser does not try them and the value is open: %s',
    (pattern) => {
      const either = { type: ['string', 'integer'] };
      expect(() => compile(FAMILIES.minimax_m2!, patterned(pattern, { type: 'string' }))).toThrow(
        expect.objectContaining({ param: place(pattern), code: 'schema_unsupported' }),
      );
      for (const value of [{ type: 'integer' }, { type: 'array' }, {}])
        expect(() => compile(FAMILIES.minimax_m2!, patterned(pattern, value))).not.toThrow();
      expect(() => compile(FAMILIES.dsml!, patterned(pattern, either))).not.toThrow();
    },
  );

  it('hold what stands under the keys', async () => {
    const schema = { ...patterned('^(ab)+$', { type: 'integer' }), additionalProperties: false };
    const { model, write } = FAMILIES.minimax_m2!;
    const { source } = compile(FAMILIES.minimax_m2!, schema);
    expect(await reads(model, source, write('abab', '1', 'json'))).toMatchObject({ isAccepted: true });
    expect(await reads(model, source, write('aba', '1', 'json'))).toMatchObject({ isAccepted: false });
    expect(await reads(model, source, write('abab', 'x', 'json'))).toMatchObject({ isAccepted: false });
  });

  it.each(['(?=a)', '(a)\\1'])('are refused by their place where they can not be followed: %s', (pattern) => {
    expect(() => compile(FAMILIES.minimax_m2!, patterned(pattern, {}))).toThrow(
      expect.objectContaining({ param: 's.patternProperties', code: 'schema_unsupported' }),
    );
  });
});

it('refuses a text of which each holds what means something else, by its place', () => {
  const schema = object({ a: { type: 'string', pattern: '</parameter>' } });
  expect(() => compile(FAMILIES.minimax_m2!, schema)).toThrow(
    expect.objectContaining({ param: 's.properties.a', code: 'schema_unsupported' }),
  );
  expect(() => compile(FAMILIES.glm!, schema)).not.toThrow();
});

it('says what a mix of text and JSON leaves open', () => {
  const schema = object({ a: { anyOf: [{ type: 'string' }, { type: 'integer', minimum: 3 }] } });
  expect(compile(FAMILIES.minimax_m2!, schema).checks).toEqual([{ keyword: 'type', path: 's.properties.a' }]);
  expect(compile(FAMILIES.dsml!, schema).checks).toEqual([]);
});
