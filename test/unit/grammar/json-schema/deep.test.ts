/** Chains of references: what can't be followed is refused at its place, and what can be is. */
import { describe, expect, it } from 'vitest';
import { BadRequestError } from '../../../../src/errors.ts';
import { EbnfGrammar } from '../../../../worker/grammar/ebnf.ts';
import { jsonRule } from '../../../../worker/grammar/json-schema/index.ts';
import { readsNaturally, testModel } from '../models.ts';

const model = testModel('tiny');

const LINKS: Record<string, (next: object) => object> = {
  property: (x) => ({ type: 'object', properties: { x }, required: ['x'] }),
  item: (items) => ({ type: 'array', items }),
  tuple: (item) => ({ type: 'array', prefixItems: [item], minItems: 1 }),
  reference: (next) => next,
  part: (next) => ({ allOf: [next] }),
  branch: (next) => ({ anyOf: [next, { type: 'null' }] }),
};

function chain(length: number, link: (next: object) => object) {
  const $defs: Record<string, object> = { [`d${length}`]: { type: 'boolean' } };
  for (let index = 0; index < length; index++) $defs[`d${index}`] = link({ $ref: `#/$defs/d${index + 1}` });
  return { $ref: '#/$defs/d0', $defs };
}

describe.each(Object.entries(LINKS))('references by %s', (_, link) => {
  it.each([1000, 5000])('%i deep', (length) => {
    const grammar = new EbnfGrammar();
    expect(() => jsonRule(grammar, chain(length, link), { path: 's' })).toThrow(
      expect.objectContaining({
        name: BadRequestError.name,
        code: 'schema_too_deep',
        param: expect.stringContaining('s.$defs.d'),
      }),
    );
  });

  it('50 deep', async () => {
    const grammar = new EbnfGrammar();
    const source = grammar.toString(jsonRule(grammar, chain(50, link), { path: 's' }));
    await expect(model.engine.compile(source)).resolves.toBeDefined();
  });
});

it('rules that name each other in a long chain', async () => {
  const grammar = new EbnfGrammar();
  let next = grammar.rule('r', '"b"');
  for (let index = 0; index < 4000; index++) next = grammar.rule('r', `"a" ${next}`);
  const source = grammar.toString(next);
  expect(await readsNaturally(model, source, `${'a'.repeat(4000)}b`)).toBe(true);
});
