import { describe, expect, it } from 'vitest';
import { EbnfGrammar } from '../../../../worker/grammar/ebnf.ts';
import { jsonRule, keywordsRule } from '../../../../worker/grammar/json-schema/index.ts';
import { reads, testModel } from '../models.ts';
import { randomNumbers, walk } from '../walk.ts';

const model = testModel('tiny');

const rules = { json: jsonRule, python: keywordsRule };

function compile(notation: keyof typeof rules, schema: object) {
  const grammar = new EbnfGrammar();
  return grammar.toString(rules[notation](grammar, schema, { path: 's', isClosed: true, report: () => {} }));
}

const object = (value: object, key = 's') => ({
  type: 'object',
  properties: { [key]: value },
  required: [key],
  additionalProperties: false,
});

const dict = (pattern: string) =>
  object({
    type: 'object',
    properties: { q: { type: 'null' } },
    patternProperties: { [pattern]: { type: 'integer' } },
    additionalProperties: false,
    minProperties: 1,
    required: [],
  });

describe.each(['json', 'python'] as const)('escapes of strings in %s', (notation) => {
  it.each([
    ['beyond the first plane', object({ type: 'string', pattern: '^a😀+$' })],
    ['of both', object({ type: 'string', pattern: '^[a😀]{3}$' })],
    ['without an escape of one letter', object({ type: 'string', pattern: '^é+$' })],
    ['that need one', object({ type: 'string', pattern: '^["\'\\\\\\n/]{2}$' })],
    ['of keys', dict('^😀+$')],
  ])('lead nowhere that has no end: characters %s', { timeout: 60_000 }, async (_, schema) => {
    const source = compile(notation, schema);
    for (let seed = 1; seed <= 12; seed++) await walk(model, source, randomNumbers(seed));
  });

  it('are not begun where no escape fits', async () => {
    const source = compile(notation, object({ type: 'string', pattern: '^😀$' }));
    const begun = notation === 'json' ? '{"s":"\\' : 's="\\';
    const { isAccepted, read } = await reads(model, source, `${begun}n`);
    expect(isAccepted).toBe(false);
    expect(read).toBe(notation === 'json' ? begun : 's="');
  });
});
