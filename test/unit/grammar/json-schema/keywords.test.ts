import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { BadRequestError } from '../../../../src/errors.ts';
import { EbnfGrammar } from '../../../../worker/grammar/ebnf.ts';
import { jsonRule, type PostCheck, validateJson } from '../../../../worker/grammar/json-schema/index.ts';
import { reads, testModel } from '../models.ts';
import { CASES, REFUSED } from './cases.ts';

const model = testModel('tiny');

function compile(schema: unknown, isClosed = false) {
  const grammar = new EbnfGrammar(model.engine.vocabulary.markers.keys());
  const checks: PostCheck[] = [];
  const rule = jsonRule(grammar, schema, { path: 's', isClosed, report: (check) => checks.push(check) });
  return { source: grammar.toString(rule), checks };
}

/** The two ways in which a value is spelled: without spaces, and with one behind each comma and colon. */
function spellings(value: unknown): string[] {
  const spaced = (part: unknown): string => {
    if (Array.isArray(part)) return `[${part.map(spaced).join(', ')}]`;
    if (typeof part !== 'object' || part === null) return JSON.stringify(part);
    return `{${Object.entries(part)
      .map(([key, inner]) => `${JSON.stringify(key)}: ${spaced(inner)}`)
      .join(', ')}}`;
  };
  return [...new Set([JSON.stringify(value), spaced(value)])];
}

const ajv = () => {
  const made = new Ajv2020({ strict: false, allErrors: false });
  formats.default(made);
  return made;
};

describe.each(CASES.map((test, index) => ({ ...test, title: `${test.keyword} (${index})` })))(
  '$title',
  ({ schema, accept, reject, checkedAfter = [] }) => {
    it('accepts what fits and nothing else', async () => {
      const { source, checks } = compile(schema);
      for (const value of accept) {
        for (const text of spellings(value)) {
          expect(await reads(model, source, text), text).toEqual({ isAccepted: true, read: text });
        }
      }
      for (const value of reject) {
        for (const text of spellings(value)) {
          const { isAccepted } = await reads(model, source, text);
          if (!isAccepted) continue;
          // The grammar may be wider only where it says so.
          const rest = { ...(schema as object) };
          for (const keyword of checkedAfter) Reflect.deleteProperty(rest, keyword);
          expect(validateJson(rest, value), text).toBeNull();
        }
      }
      expect([...new Set(checks.map(({ keyword }) => keyword))]).toEqual(checkedAfter);
    });

    it('is judged by our validation as by Ajv', () => {
      const usesNullable = typeof schema === 'object' && schema !== null && 'nullable' in schema;
      const judge = usesNullable ? null : ajv().compile(schema as object);
      for (const value of accept) {
        expect(validateJson(schema, value), JSON.stringify(value)).toBeNull();
        if (judge) expect(judge(value), JSON.stringify(value)).toBe(true);
      }
      for (const value of reject) {
        expect(validateJson(schema, value), JSON.stringify(value)).not.toBeNull();
        if (judge) expect(judge(value), JSON.stringify(value)).toBe(false);
      }
    });
  },
);

describe('refuses', () => {
  it.each(REFUSED)('$name', ({ schema, param, code }) => {
    const start = performance.now();
    let error: unknown;
    try {
      compile(schema);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ param, code });
    expect(performance.now() - start).toBeLessThan(10_000);
  });

  it('5,000 nested levels, without an overflow', () => {
    let schema: unknown = { type: 'string' };
    for (let level = 0; level < 5000; level++) schema = { type: 'array', items: schema };
    expect(() => compile(schema)).toThrow(
      expect.objectContaining({ param: `s${'.items'.repeat(12)}`, code: 'schema_too_deep' }),
    );
  });
});

describe('arguments of tools', () => {
  it('have no undeclared properties, unless the schema says so', async () => {
    const closed = compile({ type: 'object', properties: { a: { type: 'integer' } } }, true);
    expect((await reads(model, closed.source, '{"a": 1}')).isAccepted).toBe(true);
    expect((await reads(model, closed.source, '{"b": 1}')).isAccepted).toBe(false);
    const open = compile(
      { type: 'object', properties: { a: { type: 'integer' } }, additionalProperties: true },
      true,
    );
    expect((await reads(model, open.source, '{"b": 1}')).isAccepted).toBe(true);
    const free = compile({ type: 'object' }, true);
    expect((await reads(model, free.source, '{"b": 1}')).isAccepted).toBe(true);
  });
});

describe('white space', () => {
  it.each([
    ['{ "a": 1}', false],
    ['{"a" : 1}', false],
    ['{"a":  1}', false],
    ['{"a":\n1}', false],
    ['{"a": 1 }', false],
    ['{"a": 1}', true],
    ['{"a":1}', true],
  ])('%j: %s', async (text, isAccepted) => {
    const { source } = compile({ type: 'object', properties: { a: { type: 'integer' } } });
    expect((await reads(model, source, text)).isAccepted).toBe(isAccepted);
  });
});
