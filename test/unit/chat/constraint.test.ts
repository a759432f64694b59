import { describe, expect, it } from 'vitest';
import type { ToolStrictness } from '../../../src/chat/constraint.ts';
import { prepareRequest } from '../../../src/chat/request.ts';
import { context } from './context.ts';

const parameters = { type: 'object', properties: { a: { type: 'string' } } };
const tool = (name: string, strict?: boolean) => ({
  type: 'function',
  function: { name, parameters, strict },
});

function constraintOf(
  body: object,
  { toolStrictness = 'auto' as ToolStrictness, strictToolCalling = true } = {},
) {
  return prepareRequest(
    { messages: [{ role: 'user', content: 'Hi' }], ...body },
    { ...context, toolStrictness, strictToolCalling },
  ).job.constraint;
}

const schemas = (constraint: ReturnType<typeof constraintOf>) =>
  constraint?.calls?.functions.map(({ schema }) => (schema === true ? true : 'schema'));

describe('what a request holds the model to', () => {
  it('is nothing for tools that are not strict', () => {
    expect(constraintOf({ tools: [tool('f')] })).toBeNull();
    expect(constraintOf({ tools: [tool('f', false)] })).toBeNull();
  });

  it('is the envelope once one tool is strict, and the schema of those that are', () => {
    const constraint = constraintOf({ tools: [tool('f', true), tool('g'), tool('h', false)] });
    expect(constraint?.calls?.choice).toBe('auto');
    expect(schemas(constraint)).toEqual(['schema', true, true]);
  });

  it('is a call with arguments by their schema when one is required', () => {
    const constraint = constraintOf({ tools: [tool('f'), tool('g', false)], tool_choice: 'required' });
    expect(constraint?.calls?.choice).toBe('required');
    expect(schemas(constraint)).toEqual(['schema', true]);
  });

  it('is one call for a named choice', () => {
    const choice = { type: 'function', function: { name: 'g' } };
    expect(constraintOf({ tools: [tool('f'), tool('g')], tool_choice: choice })?.calls?.choice).toEqual({
      name: 'g',
    });
  });

  it.each([
    ['function', 'auto', [true, true]],
    ['parameter', 'auto', ['schema', 'schema']],
    ['parameter', 'required', ['schema', 'schema']],
  ] as const)('is at least what the engine asks for: %s, %s', (toolStrictness, tool_choice, expected) => {
    const tools = [tool('f'), tool('g', false)];
    expect(schemas(constraintOf({ tools, tool_choice }, { toolStrictness }))).toEqual(expected);
  });

  it('is only what is required when strict tool calling is off', () => {
    const off = { strictToolCalling: false, toolStrictness: 'parameter' as const };
    expect(constraintOf({ tools: [tool('f', true)] }, off)).toBeNull();
    expect(constraintOf({ tools: [tool('f', true)], tool_choice: 'required' }, off)?.calls).not.toBeNull();
    expect(constraintOf({ response_format: { type: 'json_object' } }, off)?.content?.kind).toBe('json');
  });

  it('is calls alone where they are required: content has a form only beside "auto"', () => {
    const response_format = { type: 'json_object' };
    const structured_outputs = { regex: 'a+' };
    const tools = [tool('f')];
    expect(constraintOf({ tools, tool_choice: 'required', response_format })).toMatchObject({
      calls: { choice: 'required' },
      content: null,
    });
    expect(constraintOf({ tools, structured_outputs })?.content?.kind).toBe('regex');
    for (const tool_choice of ['required', { type: 'function', function: { name: 'f' } }]) {
      expect(() => constraintOf({ tools, tool_choice, structured_outputs })).toThrow(
        expect.objectContaining({
          param: 'structured_outputs',
          message: expect.stringContaining('tool_choice'),
        }),
      );
    }
  });

  it('leaves tool_choice none free', () => {
    expect(constraintOf({ tools: [tool('f', true)], tool_choice: 'none' })).toBeNull();
  });

  it('refuses a field of a described schema that it does not know', () => {
    const described = { name: 'n', description: 'd', strict: true, schema: { type: 'object' } };
    const form = (more: object) => ({
      response_format: { type: 'json_schema', json_schema: { ...described, ...more } },
    });
    expect(constraintOf(form({}))?.content).toMatchObject({ kind: 'json' });
    expect(() => constraintOf(form({ shema: {} }))).toThrow(
      expect.objectContaining({
        param: 'response_format.json_schema.shema',
        code: 'unknown_parameter',
        message:
          "'response_format.json_schema.shema' is not supported; there are name, description, schema, strict.",
      }),
    );
  });

  it('takes every form of content', () => {
    const schema = { type: 'object' };
    const content = (body: object) => constraintOf(body)?.content;
    expect(content({ response_format: { type: 'text' } })).toBeUndefined();
    expect(content({ response_format: { type: 'json_schema', json_schema: { name: 'n', schema } } })).toEqual(
      {
        kind: 'json',
        schema,
        path: 'response_format.json_schema.schema',
      },
    );
    expect(content({ structured_outputs: { json: JSON.stringify(schema) } })).toMatchObject({ schema });
    expect(content({ structured_outputs: { regex: '[a-z]+' } })).toMatchObject({
      kind: 'regex',
      pattern: '[a-z]+',
    });
    expect(content({ structured_outputs: { choice: ['a', 'b'] } })).toMatchObject({ choices: ['a', 'b'] });
    expect(content({ structured_outputs: { grammar: 'root ::= "a"' } })).toMatchObject({ kind: 'grammar' });
  });

  it('takes a thinking budget by itself', () => {
    expect(constraintOf({ thinking_token_budget: 0 })).toMatchObject({
      thinkingTokenBudget: 0,
      calls: null,
      content: null,
    });
  });
});
