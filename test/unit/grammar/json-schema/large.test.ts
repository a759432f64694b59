/** Schemas with long lists and large numbers. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EbnfGrammar } from '../../../../worker/grammar/ebnf.ts';
import { jsonRule, type PostCheck } from '../../../../worker/grammar/json-schema/index.ts';
import { contentRule } from '../../../../worker/grammar/rules.ts';
import { reads, testModel } from '../models.ts';

const model = testModel('tiny');

function compile(schema: unknown) {
  const grammar = new EbnfGrammar(model.engine.vocabulary.markers.keys());
  const checks: PostCheck[] = [];
  const rule = jsonRule(grammar, schema, { path: 's', report: (check) => checks.push(check) });
  return { source: grammar.toString(rule), checks };
}

const accepts = async (source: string, text: string) => (await reads(model, source, text)).isAccepted;

describe('5,000 listed strings', () => {
  const words = Array.from({ length: 5000 }, (_, index) => `value ${index}`);

  it('are all that may come', async () => {
    const { source, checks } = compile({ enum: words });
    expect(checks).toEqual([]);
    expect(await accepts(source, '"value 0"')).toBe(true);
    expect(await accepts(source, '"value 4999"')).toBe(true);
    expect(await accepts(source, '"value 5000"')).toBe(false);
    expect(await accepts(source, '"value "')).toBe(false);
  });

  it('are those that other keywords allow', async () => {
    const { source, checks } = compile({ enum: words, pattern: '9$', maxLength: 8 });
    expect(checks).toEqual([]);
    expect(await accepts(source, '"value 19"')).toBe(true);
    expect(await accepts(source, '"value 18"')).toBe(false);
    expect(await accepts(source, '"value 119"')).toBe(false);
  });

  it('are checked afterwards beside a pattern', async () => {
    const { source, checks } = compile({
      anyOf: [{ enum: words }, { type: 'string', pattern: '^[a-z]{3}$' }],
    });
    expect(checks.length).toBeGreaterThan(0);
    expect(await accepts(source, '"value 4999"')).toBe(true);
    expect(await accepts(source, '"abc"')).toBe(true);
  });
});

describe('bounds with many digits', () => {
  it.each([
    [{ minimum: 1e300 }, ['minimum'], `1${'0'.repeat(300)}`, '5'],
    [{ minimum: 1e101 }, ['minimum'], `1${'0'.repeat(101)}`, '-1'],
    [{ minimum: Number.MAX_VALUE }, ['minimum'], BigInt(Number.MAX_VALUE).toString(), '5'],
    [{ exclusiveMinimum: 5e-324 }, ['exclusiveMinimum'], '0.5', '-1'],
    [{ minimum: -5e-324 }, [], '0', '-1'],
    [{ maximum: -1e100 }, ['maximum'], `-1${'0'.repeat(100)}`, '5'],
    [{ exclusiveMaximum: -5e-324 }, ['exclusiveMaximum'], '-0.5', '1'],
    [{ minimum: 0, maximum: Number.MAX_VALUE }, ['minimum', 'maximum'], '12.5', '-1'],
    [{ maximum: Number.MAX_VALUE }, ['maximum'], '-12.5e3', 'null'],
  ])('%j: held as far as can be, the rest checked', async (bounds, keywords, right, wrong) => {
    const { source, checks } = compile({ type: 'number', ...bounds });
    expect(checks).toEqual(keywords.map((keyword) => ({ keyword, path: `s.${keyword}` })));
    expect(await accepts(source, right)).toBe(true);
    expect(await accepts(source, wrong)).toBe(false);
  });

  it('hold what is between them, whatever they are', async () => {
    const double = fc.double({ noNaN: true, noDefaultInfinity: true });
    const property = fc.asyncProperty(double, double, fc.boolean(), async (a, b, isInteger) => {
      const [minimum, maximum] = a < b ? [a, b] : [b, a];
      const wanted = isInteger ? Math.ceil(minimum) : minimum;
      fc.pre(wanted <= maximum);
      const { source } = compile({ type: isInteger ? 'integer' : 'number', minimum, maximum });
      const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e(.+))?$/.exec(
        String(wanted),
      )!;
      const digits = whole! + fraction;
      const point = whole!.length + Number(exponent);
      const written =
        point <= 0
          ? `0.${'0'.repeat(-point)}${digits}`
          : digits.padEnd(point, '0').slice(0, point) +
            (digits.length > point ? `.${digits.slice(point)}` : '');
      expect(await accepts(source, `${Number(wanted) === 0 ? '' : sign}${written}`)).toBe(true);
    });
    await fc.assert(property, { numRuns: 6 });
  });
});

it('schemas of more rules than can be compiled are refused while their rules are made', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 300 }, (_, index) => [`property ${index}`, { type: 'integer', minimum: index }]),
  );
  const refused = { type: 'object', properties, minProperties: 100, additionalProperties: false };
  expect(() => compile(refused)).toThrow(expect.objectContaining({ code: 'grammar_too_large' }));
  expect(compile({ ...refused, minProperties: 0 }).source).toContain('property 299');
});

it('20,000 choices are all that may come', async () => {
  const grammar = new EbnfGrammar(model.engine.vocabulary.markers.keys());
  const choices = Array.from({ length: 20_000 }, (_, index) => `value ${index}`);
  const source = grammar.toString(
    contentRule(grammar, { kind: 'choice', choices, path: 'structured_outputs.choice' }, () => {}),
  );
  expect(await accepts(source, 'value 19999')).toBe(true);
  expect(await accepts(source, 'value 20000')).toBe(false);
  expect(await accepts(source, 'value ')).toBe(false);
  const long = choices.map((choice) => choice + '-'.repeat(100));
  expect(() =>
    contentRule(
      new EbnfGrammar(),
      { kind: 'choice', choices: long, path: 'structured_outputs.choice' },
      () => {},
    ),
  ).toThrow(expect.objectContaining({ code: 'grammar_too_large' }));
});
