import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BadRequestError } from '../../../src/errors.ts';
import { EbnfGrammar } from '../../../worker/grammar/ebnf.ts';
import { jsonRule, validateJson } from '../../../worker/grammar/json-schema/index.ts';
import { AutomatonTooLargeError } from '../../../worker/grammar/language/automaton.ts';
import {
  matchesSomewhere,
  searchBudget,
  searchProblem,
} from '../../../worker/grammar/language/regex-search.ts';

const matches = (source: string, text: string) => matchesSomewhere(source, text, searchBudget());

/** All texts of the letters, up to four of them. */
function* texts(letters: readonly string[], most = 4): Generator<string> {
  yield '';
  if (most > 0)
    for (const letter of letters) for (const rest of texts(letters, most - 1)) yield letter + rest;
}

describe('an expression is found where JavaScript finds it', () => {
  it.each([
    'a',
    '^a',
    'b$',
    '^(?:a|b+)$',
    '^a|b$',
    '(a|ab)(c|bcd)?$',
    'a{2}',
    '^a{1,2}b?$',
    'a^b',
    '$a',
    '()',
    '^$',
    '[^\\s\\S]',
    '[^a]\\n',
    '^.*b.$',
    '(?:^|a)b(?:$|a)',
    // Look-ahead at the start, and what backtracking decides quickly.
    '^(?=a)',
    '^(?!a)',
    '^(?=.*a)(?!.*ab)[ab]*$',
    '^(?!a)|b',
    '^(?=a|b)a|b',
    'a(?=b)',
    '\\bab?\\b',
    '(?<=a)b+',
  ])('%s', (source) => {
    const expression = new RegExp(source, 'u');
    for (const text of texts(['a', 'b', '\n'])) {
      expect(matches(source, text), JSON.stringify(text)).toBe(expression.test(text));
    }
  });

  it('in any characters', () => {
    const sources = ['^\\p{L}+$', '[\\u{1f600}-\\u{1f64f}]', '^.$', '\\w\\W', '[^\\ud800-\\udfff]'];
    fc.assert(
      fc.property(
        fc.constantFrom(...sources),
        fc.string({ unit: 'binary', maxLength: 5 }),
        (source, text) => {
          expect(matches(source, text)).toBe(new RegExp(source, 'u').test(text));
        },
      ),
    );
  });
});

const LONG = `${'a'.repeat(40)}b`;
const BOMB = '^(a+)+$';

it.each([BOMB, '^(a|a)*$', '^(a|aa)+$', '^(a*)*b?c$', '^(?=(a+)+$)', '(.*a){25}c'])(
  'what backtracking would never end on is decided: %s',
  (source) => expect(matches(source, LONG)).toBe(false),
);

it.each([
  ['(?=(a+)+$)b', 'look-ahead'],
  ['(a+)+(?<!b)$', 'look-behind'],
  ['^(a)\\1$', 'references'],
  ['^(a+)+\\b$', '\\b'],
  [`${'a?'.repeat(30)}${'a'.repeat(30)}\\b`, '\\b'],
  [`${'(a|a)'.repeat(30)}\\b`, '\\b'],
  ['^(?:a{1,1000}){1000}$', 'too many ways'],
  ['^(([a-z]{1,50}){1,50}){1,50}$', 'too many ways'],
  ['^(){999999999}$', 'too many ways'],
])('%.40s is refused with the reason', (source, reason) => expect(searchProblem(source)).toContain(reason));

it('searches end when they have taken all that they may', () => {
  const budget = { left: 10_000 };
  expect(() => matchesSomewhere('x{1,4000}y', 'x'.repeat(4000), budget)).toThrow(AutomatonTooLargeError);
});

describe('a schema with a pattern that backtracking would never end on', () => {
  const rule = (schema: unknown) => () => jsonRule(new EbnfGrammar(), schema, { path: 's' });

  it('has the values that fit', () => {
    const grammar = new EbnfGrammar();
    const root = jsonRule(grammar, { enum: [LONG, 'aa'], pattern: BOMB }, { path: 's' });
    expect(grammar.toString(root)).toContain('\\"aa\\"');
    expect(grammar.toString(root)).not.toContain('aab');
  });

  it.each<[string, unknown]>([
    ['const', { const: LONG, pattern: BOMB }],
    ['enum', { enum: [LONG, `b${LONG}`], pattern: BOMB }],
    ['property', { required: [LONG], patternProperties: { [BOMB]: true }, additionalProperties: false }],
  ])('is refused where nothing fits: %s', (name, schema) => {
    const whole = name === 'property' ? { type: 'object', ...(schema as object) } : schema;
    expect(rule(whole)).toThrow(BadRequestError);
  });

  it('checks a finished answer', () => {
    expect(validateJson({ not: { pattern: BOMB } }, LONG)).toBeNull();
    expect(validateJson({ not: { pattern: BOMB } }, 'aaa')).toEqual({ keyword: 'not', at: 'value' });
    expect(validateJson({ pattern: BOMB }, LONG)).toEqual({ keyword: 'pattern', at: 'value' });
    expect(
      validateJson({ patternProperties: { [BOMB]: false }, additionalProperties: true }, { [LONG]: 1 }),
    ).toBeNull();
  });

  it.each<[string, unknown]>([
    ['s.pattern', { type: 'string', pattern: '(a+)+\\b' }],
    ['s.not.pattern', { type: 'string', not: { pattern: '^(a+)+\\1$' } }],
    ['s.contains.anyOf[1].pattern', { type: 'array', contains: { anyOf: [true, { pattern: '(a)\\1' }] } }],
    ['s.patternProperties', { type: 'object', patternProperties: { '(?<!a)(b+)+': true } }],
  ])('is refused where only trying all ways would tell: %s', (param, schema) => {
    expect(rule(schema)).toThrow(BadRequestError);
    expect(rule(schema)).toThrow(expect.objectContaining({ param, code: 'schema_unsupported' }));
  });

  it('leaves alone what is no pattern', () => {
    expect(rule({ const: { pattern: '(a)\\1' } })).not.toThrow();
    expect(
      rule({ properties: { pattern: { type: 'string' } }, default: { pattern: '(a)\\1' } }),
    ).not.toThrow();
  });
});
