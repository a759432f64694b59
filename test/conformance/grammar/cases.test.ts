import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EbnfGrammar } from '../../../worker/grammar/ebnf.ts';
import { jsonRule } from '../../../worker/grammar/json-schema/index.ts';
import { reads, testModel } from '../../unit/grammar/models.ts';

/** A request and documents that its grammar must accept and reject. */
interface GrammarCase {
  id: string;
  title: string;
  request: { response_format: { json_schema: { schema: unknown } } };
  accept: string[];
  reject: string[];
}

const cases = readFileSync(new URL('./cases.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => JSON.parse(line) as GrammarCase);

describe.each(['tiny', 'qwen3'] as const)('with the vocabulary of %s', (name) => {
  const model = testModel(name);

  it.each(cases)('$id: $title', async ({ request, accept, reject }) => {
    const grammar = new EbnfGrammar(model.engine.vocabulary.markers.keys());
    const { schema } = request.response_format.json_schema;
    const source = grammar.toString(
      jsonRule(grammar, schema, { path: 'response_format.json_schema.schema' }),
    );
    for (const text of accept) {
      expect(await reads(model, source, text)).toEqual({ isAccepted: true, read: text });
    }
    for (const text of reject) expect((await reads(model, source, text)).isAccepted, text).toBe(false);
  });
});
