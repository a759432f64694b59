import { describe, expect, it } from 'vitest';
import { EbnfGrammar } from '../../../../worker/grammar/ebnf.ts';
import { jsonRule, parametersRule } from '../../../../worker/grammar/json-schema/index.ts';
import { reads, testModel } from '../models.ts';

const model = testModel('tiny');
const newGrammar = () => new EbnfGrammar(model.engine.vocabulary.markers.keys());

const closed = (properties: object, required: string[] = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const integer = { type: 'integer' };
const string = { type: 'string' };
const letters = { type: 'string', pattern: '^[a-z]+$' };
const day = { type: 'string', format: 'date' };

/** Alternatives of which only another key tells which one it is. */
const CASES: [name: string, branches: object[], valid: object[], invalid: object[]][] = [
  [
    'a number or a text',
    [closed({ k: integer, a: integer }), closed({ k: string, b: integer })],
    [
      { k: 2, a: 5 },
      { k: 'two', b: 5 },
      { a: 5, k: 2 },
      { b: 5, k: 'two' },
    ],
    [{ k: 'two', a: 5 }, { k: 'two' }, { b: 5 }],
  ],
  [
    'texts of two kinds',
    [closed({ k: letters, a: integer }), closed({ k: day, b: integer }), closed({ k: string, c: integer })],
    [
      { k: 'x', a: 1 },
      { k: '2024-02-29', b: 1 },
      { k: 'x', c: 1 },
      { k: '2024-02-29', c: 1 },
      { k: 'X 1', c: 1 },
    ],
    [
      { k: 'x', b: 1 },
      { k: '2024-02-29', a: 1 },
      { k: 'X 1', b: 1 },
    ],
  ],
  [
    'a list or a text',
    [closed({ k: { type: 'array', items: integer }, a: integer }), closed({ k: letters, b: integer })],
    [
      { k: [1, 2], a: 1 },
      { k: 'x', b: 1 },
    ],
    [
      { k: ['x'], a: 1 },
      { k: [1], b: 1 },
    ],
  ],
  [
    'one key after the other',
    [closed({ k: integer, m: letters }), closed({ k: letters, m: integer }), closed({ k: day, m: day })],
    [
      { k: 1, m: 'x' },
      { k: 'x', m: 1 },
      { k: '2024-02-29', m: '2024-02-28' },
    ],
    [
      { k: 1, m: 1 },
      { k: 'x', m: 'x' },
      { k: '2024-02-29', m: 'x' },
    ],
  ],
];

/** Parameters between tags, where a text may end at a line that begins with another's tag. */
const style = {
  open: (key: string) => `<parameter=${key}>\n`,
  close: '\n</parameter>\n',
  separator: '',
  keyEnds: ['>'],
  avoidAtLineStart: ['<parameter='],
};

describe.each(CASES)('%s', (_, branches, valid, invalid) => {
  it.each(['anyOf', 'oneOf'])(
    '%s: each branch can be written as parameters, and nothing else',
    async (keyword) => {
      const grammar = newGrammar();
      const rule = parametersRule(grammar, { [keyword]: branches }, style, { path: 's', isClosed: true });
      const source = grammar.toString(rule);
      const write = (value: object) =>
        Object.entries(value)
          .map(([key, of]) => {
            const text = typeof of === 'string' ? of : JSON.stringify(of);
            return `<parameter=${key}>\n${text}\n</parameter>\n`;
          })
          .join('');
      for (const value of valid)
        expect(await reads(model, source, write(value))).toMatchObject({
          isAccepted: true,
          read: write(value),
        });
      for (const value of invalid)
        expect(await reads(model, source, write(value)), write(value)).toMatchObject({ isAccepted: false });
    },
  );

  it('each branch can be written as JSON, and nothing else', async () => {
    const grammar = newGrammar();
    const list = { type: 'array', items: { anyOf: branches } };
    const source = grammar.toString(jsonRule(grammar, list, { path: 's' }));
    for (const value of [...valid.map((one) => [one]), [...valid, ...valid]]) {
      const text = JSON.stringify(value);
      expect(await reads(model, source, text)).toEqual({ isAccepted: true, read: text });
    }
    for (const value of invalid)
      expect(await reads(model, source, JSON.stringify([value])), JSON.stringify(value)).toMatchObject({
        isAccepted: false,
      });
  });
});

it('branches that are not told apart stay open, however many items come', async () => {
  const grammar = newGrammar();
  const items = { anyOf: [closed({ k: letters }), closed({ k: day }), closed({ k: string })] };
  const source = grammar.toString(jsonRule(grammar, { type: 'array', items }, { path: 's' }));
  const text = JSON.stringify(Array.from({ length: 40 }, (_, at) => ({ k: at % 3 === 0 ? 'x' : 'X 1' })));
  expect(await reads(model, source, text)).toEqual({ isAccepted: true, read: text });
});

it('a text does not begin the parameter of another branch', async () => {
  const grammar = newGrammar();
  const schema = { anyOf: [closed({ k: integer, a: integer }), closed({ k: string, b: string })] };
  const source = grammar.toString(parametersRule(grammar, schema, style, { path: 's', isClosed: true }));
  const write = (b: string) => `<parameter=k>\nx\n</parameter>\n<parameter=b>\n${b}\n</parameter>\n`;
  expect(await reads(model, source, write('1 <parameter=a>'))).toMatchObject({ isAccepted: true });
  expect(await reads(model, source, write('1\n<parameter=a>'))).toMatchObject({ isAccepted: false });
});

it('reports more open values than the parser tries all ways for', () => {
  const keys = (count: number) => Array.from({ length: count }, (_, at) => `k${at}`);
  const branch = (count: number, type: object) =>
    closed(Object.fromEntries(keys(count).map((key) => [key, type])));
  const checksOf = (count: number) => {
    const checks: unknown[] = [];
    const style = { open: (key: string) => `<p=${key}>`, close: '</p>', separator: '', keyEnds: ['>'] };
    const schema = { anyOf: [branch(count, integer), branch(count, string)] };
    parametersRule(newGrammar(), schema, style, { path: 's', report: (check) => checks.push(check) });
    return checks;
  };
  expect(checksOf(4)).toEqual([]);
  expect(checksOf(5)).toEqual([{ keyword: 'anyOf', path: 's' }]);
});
