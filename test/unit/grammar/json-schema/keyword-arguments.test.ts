import { describe, expect, it } from 'vitest';
import { EbnfGrammar } from '../../../../worker/grammar/ebnf.ts';
import { keywordsRule, type PostCheck } from '../../../../worker/grammar/json-schema/index.ts';
import { reads, testModel } from '../models.ts';

const model = testModel('tiny');
const path = 'tools[0].function.parameters';

function compile(schema: unknown) {
  const grammar = new EbnfGrammar();
  const checks: PostCheck[] = [];
  const rule = keywordsRule(grammar, schema, { path, isClosed: true, report: (check) => checks.push(check) });
  return { source: grammar.toString(rule), checks };
}

const city = { type: 'string' };

describe('keywords', () => {
  it.each([
    ['a b', 'a space'],
    ['a"b', 'a quote'],
    ['$ref', 'a sign'],
    ['', 'nothing'],
  ])('are no property names with %j: %s', (name) => {
    expect(() => compile({ type: 'object', properties: { city, [name]: city } })).toThrow(
      expect.objectContaining({
        param: path,
        code: 'schema_unsupported',
        message: `The property ${JSON.stringify(name)} can't be a keyword in the calls of this model: name it with letters, digits and "_".`,
      }),
    );
  });

  it.each([
    [{ type: 'string' }],
    [{ type: 'object', required: ['a'], properties: { a: false } }],
    [{ type: 'object', properties: { a: city }, minProperties: 2 }],
  ])('have values that fit: %j', (schema) => {
    expect(() => compile(schema)).toThrow(expect.objectContaining({ code: 'schema_unsatisfiable' }));
  });

  it('come in any order when they are few', async () => {
    const { source } = compile({ type: 'object', properties: { a: city, b: city }, required: ['a'] });
    for (const text of ['a="x"', 'a="x", b="y"', "b='y',a='x'"]) {
      expect(await reads(model, source, text), text).toMatchObject({ isAccepted: true });
    }
    for (const text of ['', 'b="y"', 'a="x", a="y"', 'a="x" b="y"', 'a: "x"', '"a"="x"', 'a="x",']) {
      expect(await reads(model, source, text), text).toMatchObject({ isAccepted: false });
    }
  });

  it('tell their classes by the letters', async () => {
    const { source } = compile({
      type: 'object',
      properties: { pa: city },
      patternProperties: { '^p': { type: 'integer' } },
      additionalProperties: { type: 'boolean' },
    });
    for (const text of ['', 'p=1', 'q=True', 'pb=1, q=True, p=2']) {
      expect(await reads(model, source, text), text).toMatchObject({ isAccepted: true });
    }
    for (const text of ['pa="x"', 'pa=1', 'p=True', 'q=1', 'q="x"']) {
      expect(await reads(model, source, text), text).toMatchObject({ isAccepted: false });
    }
  });

  it('have dicts whose keys tell their classes, whatever their escapes', async () => {
    const { source } = compile({
      type: 'object',
      properties: {
        o: {
          type: 'object',
          patternProperties: { "^it's$": { type: 'integer' } },
          additionalProperties: { type: 'null' },
        },
      },
    });
    for (const text of ['o={"it\\\'s": 1}', 'o={"it\'s": 1, "\\"": None}', 'o={"\\u0069t\'s": 1}']) {
      expect(await reads(model, source, text), text).toMatchObject({ isAccepted: true });
    }
    for (const text of ['o={"it\\\'s": None}', 'o={"\\"": 1}']) {
      expect(await reads(model, source, text), text).toMatchObject({ isAccepted: false });
    }
  });

  it('refer to values of their own kind', async () => {
    const { source, checks } = compile({
      type: 'object',
      properties: { node: { $ref: '#/$defs/node' } },
      required: ['node'],
      $defs: {
        node: { type: 'object', properties: { next: { $ref: '#/$defs/node' }, set: { uniqueItems: true } } },
      },
    });
    for (const text of [
      'node={}',
      'node={\'next\': {"next": {}}}',
      'node={"set": [None, {"a": \'b\'}, -1.5e3]}',
    ]) {
      expect(await reads(model, source, text), text).toMatchObject({ isAccepted: true });
    }
    expect(await reads(model, source, 'node={"next": None}')).toMatchObject({ isAccepted: false });
    expect(checks).toEqual([
      { keyword: 'uniqueItems', path: `${path}.$defs.node.properties.set.uniqueItems` },
    ]);
  });
});
