/** Alternatives that share a key, in formats that write arguments as parameters: what may be written is read as meant. */
import { describe, expect, it } from 'vitest';
import { createParser } from '../../../src/parser/index.ts';
import { promptOf } from '../../agreement/request.ts';
import { subjectOf } from '../../agreement/subject.ts';
import { isAccepted, prepare, spellings } from './acceptance.ts';

type Values = Record<string, unknown>;

const M3 = ']<]minimax[>[';
const element = (key: string, value: unknown): string => {
  const inside = Array.isArray(value)
    ? value.map((item) => element('item', item)).join('')
    : typeof value === 'object' && value !== null
      ? elements(value as Values)
      : plain(value);
  return `${M3}<${key}>${inside}${M3}</${key}>`;
};
const elements = (values: Values) =>
  Object.entries(values)
    .map(([key, value]) => element(key, value))
    .join('');
const plain = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
const each = (values: Values, write: (key: string, text: string, isText: boolean) => string) =>
  Object.entries(values)
    .map(([key, value]) => write(key, plain(value), typeof value === 'string'))
    .join('');

const m3Call = (inside: string) =>
  `${M3}<tool_call>\n${M3}<invoke name="f">${inside}${M3}</invoke>\n${M3}</tool_call>`;

const FORMATS: Record<string, (values: Values) => string> = {
  qwen3_coder: (values) =>
    `<tool_call>\n<function=f>\n${each(values, (key, text) => `<parameter=${key}>\n${text}\n</parameter>\n`)}</function>\n</tool_call>`,
  minimax_m2: (values) =>
    `<minimax:tool_call>\n<invoke name="f">\n${each(values, (key, text) => `<parameter name="${key}">${text}</parameter>\n`)}</invoke>\n</minimax:tool_call>`,
  // Beside a text a list stands as JSON.
  minimax_m3: (values) => m3Call(each(values, element)),
  glm45: (values) =>
    `<tool_call>f\n${each(values, (key, text) => `<arg_key>${key}</arg_key>\n<arg_value>${text}</arg_value>\n`)}</tool_call>`,
  deepseek_v32: (values) =>
    `<｜DSML｜function_calls>\n<｜DSML｜invoke name="f">\n${each(values, (key, text, isText) => `<｜DSML｜parameter name="${key}" string="${isText}">${text}</｜DSML｜parameter>\n`)}</｜DSML｜invoke>\n</｜DSML｜function_calls>`,
};

const closed = (properties: object) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const integer = { type: 'integer' };
const string = { type: 'string' };

async function read(format: string, parameters: object, text: string) {
  const subject = await subjectOf(format, 'tiny', true);
  const tools = [{ type: 'function', function: { name: 'f', parameters, strict: true } }];
  const make = await prepare(subject, { tools, request: { tool_choice: 'required' }, start: 'closed' });
  // A token may span a place where the grammar wants a border.
  const ids = spellings(subject, text).find((ids) => isAccepted(subject, make(), ids));
  if (!ids) return null;
  const parser = createParser({
    format: subject.format,
    vocabulary: subject.vocabulary.reader,
    prompt: { ids: promptOf(subject, 'closed') },
    tools: [{ name: 'f', parameters }],
  });
  const events = [...parser.feed({ ids }), ...parser.finish('stop')];
  const pieces = events.flatMap((event) => (event.type === 'call-arguments' ? [event.text] : []));
  return JSON.parse(pieces.join('')) as unknown;
}

it.each(Object.entries(FORMATS))('%s: values that others tell', async (format, write) => {
  const parameters = {
    anyOf: [
      closed({ k: integer, a: integer }),
      closed({ k: string, b: string }),
      closed({ k: { type: 'array', items: integer }, c: { type: 'boolean' } }),
    ],
  };
  for (const values of [
    { k: 2, a: 5 },
    { a: 5, k: 2 },
    { k: '2', b: '5' },
    { b: '5', k: 'true' },
    { k: '[1]', b: 'x' },
    { k: [1, 2], c: true },
  ]) {
    expect(await read(format, parameters, write(values))).toEqual(values);
  }
  for (const values of [{ k: 'x', a: 5 }, { k: 2 }, { k: [1], b: 'x' }, { k: [true], c: true }]) {
    const got = await read(format, parameters, write(values));
    // A list that is no list of the schema is a text there.
    if (got !== null) expect(got).toEqual({ ...values, k: plain(values.k) });
  }
});

it('minimax_m3: inside of elements no text looks like the value of another branch', async () => {
  const parameters = {
    anyOf: [
      closed({ k: closed({ x: integer, y: { type: 'array', items: string } }), a: integer }),
      closed({ k: closed({ x: string, y: { type: 'array', items: { type: 'boolean' } } }), b: integer }),
    ],
  };
  const write = (values: Values) => m3Call(elements(values));
  for (const values of [
    { k: { x: 5, y: ['u', 'v'] }, a: 1 },
    { k: { x: 'five', y: [true, false] }, b: 1 },
  ]) {
    expect(await read('minimax_m3', parameters, write(values))).toEqual(values);
  }
  for (const values of [
    { k: { x: '5', y: [true] }, b: 1 },
    { k: { x: 5, y: ['true'] }, a: 1 },
  ]) {
    expect(await read('minimax_m3', parameters, write(values))).toBeNull();
  }
});

describe.each(Object.entries(FORMATS))('%s: keys that are not declared', (format, write) => {
  const open = (properties: object, rest: object) => ({ type: 'object', properties, ...rest });

  it('stand beside declared ones', async () => {
    const parameters = open({ k: integer }, { additionalProperties: true });
    for (const values of [{ k: 5, key: 'text' }, { q: [1], k: 5 }, { k: 5 }, { k_1: true, kk: null }])
      expect(await read(format, parameters, write(values))).toEqual(values);
  });

  it('have values of their schemas', async () => {
    const rest = { additionalProperties: string, patternProperties: { '^n_': integer } };
    const parameters = open({ k: { type: 'boolean' } }, rest);
    for (const values of [
      { k: true, q: '5' },
      { n_a: 5, q: 'x' },
      { n_a: 5, n_b: 6, k: false },
    ])
      expect(await read(format, parameters, write(values))).toEqual(values);
    for (const values of [{ n_a: 'x' }, { k: 'x' }])
      expect(await read(format, parameters, write(values))).toBeNull();
  });

  it('stand beside one that may not be', async () => {
    const parameters = open({}, { additionalProperties: integer, not: { required: ['x'] } });
    expect(await read(format, parameters, write({ y: 1, xx: 2 }))).toEqual({ y: 1, xx: 2 });
    expect(await read(format, parameters, write({ y: 1, x: 2 }))).toBeNull();
  });
});
