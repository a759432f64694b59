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
