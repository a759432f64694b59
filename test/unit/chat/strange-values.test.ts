/** Whatever a field holds: a request is good, or an error names the field. */
import { describe, expect, it } from 'vitest';
import { honoured, withoutEffect } from '../../../src/chat/field-names.ts';
import { prepareRequest } from '../../../src/chat/request.ts';
import { prepareText, textFields } from '../../../src/chat/text-request.ts';
import { BadRequestError, ModelNotFoundError } from '../../../src/errors.ts';
import { context } from './context.ts';

const circular: Record<string, unknown> = {};
circular.self = circular;

const strange: [string, unknown][] = [
  ['zero', 0],
  ['less than none', -1],
  ['a fraction', 1.5],
  ['a large number', 1e300],
  ['no number', Number.NaN],
  ['infinity', Number.POSITIVE_INFINITY],
  ['an empty text', ''],
  ['a text', 'x'],
  ['half of a surrogate pair', '\ud800'],
  ['true', true],
  ['false', false],
  ['an empty array', []],
  ['an array of null', [null]],
  ['an array of arrays', [[[]]]],
  ['an array of objects', [{}]],
  ['a sparse array', new Array(2)],
  ['an empty object', {}],
  ['an object', { a: 1 }],
  ['an object without a prototype', Object.create(null)],
  ['an object with a type', { type: 'x' }],
  ['an object that holds itself', circular],
  ['a big integer', 1n],
  ['a symbol', Symbol('x')],
  ['a function', () => 1],
  ['a date', new Date(0)],
  ['a map', new Map([[1, 2]])],
];

function paramOf(prepare: () => unknown): string | null {
  try {
    prepare();
    return null;
  } catch (error) {
    if (!(error instanceof BadRequestError || error instanceof ModelNotFoundError)) throw error;
    expect(error.message).not.toBe('');
    return error.param;
  }
}

it.each<[string, object]>([
  ['messages', { messages: new Array(1) }],
  ['stop', { messages: [{ role: 'user', content: 'Hi' }], stop: new Array(1) }],
  ['tools', { messages: [{ role: 'user', content: 'Hi' }], tools: new Array(1) }],
  ['stop_token_ids', { messages: [{ role: 'user', content: 'Hi' }], stop_token_ids: new Array(1) }],
])('a hole in %s is none of its values', (field, body) => {
  expect(paramOf(() => prepareRequest(body, context))).toBe(`${field}[0]`);
});

const isAbout = (param: string | null, field: string) =>
  param === null || param === field || param.startsWith(`${field}.`) || param.startsWith(`${field}[`);

const user = { role: 'user', content: 'Hi' };
const message = (fields: object) => ({ messages: [user, { role: 'assistant', content: 'a', ...fields }] });
const call = (fields: object) => message({ tool_calls: [{ id: 'a', type: 'function', ...fields }] });
const tool = (fields: object) => ({
  messages: [user],
  tools: [{ type: 'function', function: { name: 'f', ...fields } }],
});

describe('a strange value', () => {
  it.each([...honoured, ...withoutEffect])('in %s is taken or named', (field) => {
    for (const [name, value] of strange) {
      const param = paramOf(() => prepareRequest({ messages: [user], [field]: value }, context));
      expect([name, isAbout(param, field), param]).toEqual([name, true, param]);
    }
  });

  it.each(textFields)('in %s of a raw prompt is taken or named', (field) => {
    for (const [name, value] of strange) {
      const param = paramOf(() => prepareText({ prompt: 'Hi', [field]: value }, context));
      expect([name, isAbout(param, field), param]).toEqual([name, true, param]);
    }
  });

  it.each<[string, (value: unknown) => object, string]>([
    ['a role', (role) => ({ messages: [{ role, content: 'a' }] }), 'messages[0]'],
    ['a content', (content) => ({ messages: [{ role: 'user', content }] }), 'messages[0]'],
    ['a part', (part) => ({ messages: [{ role: 'user', content: [part] }] }), 'messages[0]'],
    [
      'a text of a part',
      (text) => ({ messages: [{ role: 'user', content: [{ type: 'text', text }] }] }),
      'messages[0]',
    ],
    ['a reasoning', (reasoning) => message({ reasoning }), 'messages[1]'],
    ['an older reasoning', (reasoning_content) => message({ reasoning_content }), 'messages[1]'],
    ['calls', (tool_calls) => message({ tool_calls }), 'messages[1]'],
    ['a call', (called) => call({ function: called }), 'messages[1]'],
    ['a name of a call', (name) => call({ function: { name, arguments: '{}' } }), 'messages[1]'],
    ['arguments', (text) => call({ function: { name: 'f', arguments: text } }), 'messages[1]'],
    ['a refusal', (refusal) => message({ refusal }), 'messages[1]'],
    [
      'an answer of a tool',
      (id) => ({ messages: [{ role: 'tool', content: 'a', tool_call_id: id }] }),
      'messages[0]',
    ],
    ['a tool', (given) => ({ messages: [user], tools: [given] }), 'tools[0]'],
    ['a name of a tool', (name) => tool({ name }), 'tools[0]'],
    ['a description', (description) => tool({ description }), 'tools[0]'],
    ['parameters', (parameters) => tool({ parameters }), 'tools[0]'],
    ['strictness', (strict) => tool({ strict }), 'tools[0]'],
    [
      'a named choice',
      (name) => ({ ...tool({}), tool_choice: { type: 'function', function: { name } } }),
      'tool_choice',
    ],
    ['a stop string', (stop) => ({ messages: [user], stop: [stop] }), 'stop'],
    ['a stop token', (id) => ({ messages: [user], stop_token_ids: [id] }), 'stop_token_ids'],
    ['a bias', (bias) => ({ messages: [user], logit_bias: { 5: bias } }), 'logit_bias'],
    [
      'an option of streams',
      (usage) => ({ messages: [user], stream: true, stream_options: { include_usage: usage } }),
      'stream_options',
    ],
    ...['json', 'json_object', 'regex', 'choice', 'grammar', 'structural_tag'].map(
      (kind): [string, (value: unknown) => object, string] => [
        `structured_outputs.${kind}`,
        (value) => ({ messages: [user], structured_outputs: { [kind]: value } }),
        'structured_outputs',
      ],
    ),
    [
      'a schema',
      (schema) => ({ messages: [user], response_format: { type: 'json_schema', json_schema: { schema } } }),
      'response_format',
    ],
  ])('in %s is taken or named', (_, bodyOf, field) => {
    for (const [name, value] of strange) {
      const param = paramOf(() => prepareRequest(bodyOf(value), context));
      expect([name, isAbout(param, field), param]).toEqual([name, true, param]);
    }
  });
});
