import { describe, expect, it } from 'vitest';
import { EbnfGrammar } from '../../../worker/grammar/ebnf.ts';
import { argumentsRule } from '../../../worker/grammar/rules.ts';
import { reads, testModel } from './models.ts';

const model = testModel('tiny');

function rule(schema: unknown) {
  const grammar = new EbnfGrammar();
  const name = argumentsRule(grammar, { name: 'f', schema, path: 'p' }, 'json', () => {});
  return grammar.toString(name);
}

describe('the arguments of a call', () => {
  it.each([{ type: 'string' }, { type: ['array', 'null'] }])(
    'are refused where their type leaves out objects: %j',
    (schema) => {
      expect(() => rule(schema)).toThrow(
        expect.objectContaining({ param: 'p.type', code: 'schema_unsatisfiable' }),
      );
    },
  );

  it('are an object where the schema leaves more to choose', async () => {
    const source = rule({ type: ['object', 'null'], properties: { a: { type: 'integer' } } });
    expect((await reads(model, source, '{"a": 1}')).isAccepted).toBe(true);
    expect((await reads(model, source, 'null')).isAccepted).toBe(false);
  });

  it('say what is wrong with a type that is none', () => {
    expect(() => rule({ type: 'dict' })).toThrow(
      expect.objectContaining({ param: 'p.type', code: 'schema_invalid' }),
    );
  });
});

describe('an object that says nothing of other properties', () => {
  it.each([
    [{ not: { required: ['password'] } }, '{"password": 1}'],
    [{ dependentRequired: { a: ['b'] } }, '{"a": 1}'],
    [{ properties: { a: false } }, '{"a": 1}'],
  ])('stays open where it only forbids some: %j', async (keywords, forbidden) => {
    const source = rule({ type: 'object', ...keywords });
    expect((await reads(model, source, '{"c": 1}')).isAccepted).toBe(true);
    expect((await reads(model, source, forbidden)).isAccepted).toBe(false);
  });
});

describe('schemas that share their parts', () => {
  it('are read once, in however many ways they are reached', async () => {
    const levels = Array.from({ length: 60 }, (_, level) => [
      `d${level + 1}`,
      { allOf: [{ $ref: `#/$defs/d${level}` }, { $ref: `#/$defs/d${level}` }] },
    ]);
    const source = rule({
      properties: { a: { $ref: '#/$defs/d60' } },
      $defs: { d0: { type: 'integer' }, ...Object.fromEntries(levels) },
    });
    expect((await reads(model, source, '{"a": 1}')).isAccepted).toBe(true);
    expect((await reads(model, source, '{"a": "b"}')).isAccepted).toBe(false);
  });

  it('may name themselves in the branches of a choice', async () => {
    const list = (kind: string) => ({
      type: 'object',
      properties: { next: { $ref: `#/$defs/${kind}` } },
      required: ['next'],
    });
    const end = (kind: string) => ({ anyOf: [list(kind), { type: 'null' }] });
    const source = rule({
      properties: { a: { oneOf: [{ $ref: '#/$defs/x' }, { $ref: '#/$defs/y' }] } },
      $defs: { x: end('x'), y: end('y') },
    });
    expect((await reads(model, source, '{"a": {"next": null}}')).isAccepted).toBe(true);
  });
});
