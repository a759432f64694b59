import { describe, expect, it } from 'vitest';
import { prepareRequest, type RequestContext } from '../../../src/chat/request.ts';
import { BadRequestError, ModelNotFoundError } from '../../../src/errors.ts';
import { context } from './context.ts';

const user = { role: 'user', content: 'Hi' };
const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };

function failure(body: unknown, overrides: Partial<RequestContext> = {}): BadRequestError {
  try {
    prepareRequest(body, { ...context, ...overrides });
  } catch (error) {
    if (error instanceof BadRequestError || error instanceof ModelNotFoundError)
      return error as BadRequestError;
    throw error;
  }
  throw new Error(`accepted: ${JSON.stringify(body)}`);
}

const withUser = (fields: object) => ({ messages: [user], ...fields });

/** What is wrong, the body, the path that the error names, its code, a part of its message. */
const rejected: [string, unknown, string, string, string][] = [
  ['no body', undefined, 'body', 'missing_required_parameter', 'an object'],
  ['another model', withUser({ model: 'gpt' }), 'model', 'model_not_found', 'createEngine'],
  ['model not a string', withUser({ model: 1 }), 'model', 'invalid_type', 'loaded model'],
  ['no tools in the array', withUser({ tools: [] }), 'tools', 'empty_array', 'leave it out'],
  ['tools not an array', withUser({ tools: {} }), 'tools', 'invalid_type', 'array'],
  ['tool not an object', withUser({ tools: ['f'] }), 'tools[0]', 'invalid_type', 'object'],
  [
    'custom tool',
    withUser({ tools: [{ type: 'custom' }] }),
    'tools[0].type',
    'unsupported_value',
    'function',
  ],
  [
    'bare tool',
    withUser({ tools: [{ type: 'function' }] }),
    'tools[0].function',
    'missing_required_parameter',
    '',
  ],
  [
    'nameless tool',
    withUser({ tools: [{ type: 'function', function: {} }] }),
    'tools[0].function.name',
    'missing_required_parameter',
    'string',
  ],
  [
    'tool name with a space',
    withUser({ tools: [{ type: 'function', function: { name: 'a b' } }] }),
    'tools[0].function.name',
    'invalid_value',
    '"a b"',
  ],
  [
    'schema not an object',
    withUser({ tools: [{ type: 'function', function: { name: 'f', parameters: [] } }] }),
    'tools[0].function.parameters',
    'invalid_type',
    'JSON schema',
  ],
  [
    'strict that is no boolean',
    withUser({ tools: [{ type: 'function', function: { name: 'f', strict: 'yes' } }] }),
    'tools[0].function.strict',
    'invalid_type',
    'true or false',
  ],
  [
    'two of one name',
    withUser({ tools: [tool, tool] }),
    'tools[1].function.name',
    'invalid_value',
    'Two tools',
  ],
  ['choice without tools', withUser({ tool_choice: 'auto' }), 'tool_choice', 'invalid_value', "no 'tools'"],
  [
    'named without a name',
    withUser({ tools: [tool], tool_choice: { type: 'function' } }),
    'tool_choice.function',
    'missing_required_parameter',
    'a name',
  ],
  [
    'named that is not offered',
    withUser({ tools: [tool], tool_choice: { type: 'function', function: { name: 'g' } } }),
    'tool_choice.function.name',
    'invalid_value',
    'not among',
  ],
  [
    'response format of no known type',
    withUser({ response_format: { type: 'xml' } }),
    'response_format.type',
    'unsupported_value',
    'json_schema',
  ],
  [
    'response format without its schema',
    withUser({ response_format: { type: 'json_schema', json_schema: { name: 'n' } } }),
    'response_format.json_schema.schema',
    'missing_required_parameter',
    'a JSON schema',
  ],
  [
    'response format beside a named choice',
    withUser({
      tools: [tool],
      tool_choice: { type: 'function', function: { name: 'f' } },
      response_format: { type: 'json_object' },
    }),
    'response_format',
    'invalid_value',
    'that call',
  ],
  [
    'two structured outputs',
    withUser({ structured_outputs: { regex: 'a', choice: ['a'] } }),
    'structured_outputs',
    'invalid_value',
    'exactly one',
  ],
  [
    'structured outputs beside a response format',
    withUser({ structured_outputs: { regex: 'a' }, response_format: { type: 'json_object' } }),
    'structured_outputs',
    'invalid_value',
    'not both',
  ],
  [
    'unknown structured output',
    withUser({ structured_outputs: { xml: 'a' } }),
    'structured_outputs.xml',
    'unsupported_parameter',
    'not supported',
  ],
  [
    'negative thinking budget',
    withUser({ thinking_token_budget: -1 }),
    'thinking_token_budget',
    'integer_below_min_value',
    'at least 0',
  ],
  [
    'unknown choice',
    withUser({ tools: [tool], tool_choice: 'any' }),
    'tool_choice',
    'invalid_value',
    '"any"',
  ],
  [
    'parallel not boolean',
    withUser({ parallel_tool_calls: 'no' }),
    'parallel_tool_calls',
    'invalid_type',
    'false',
  ],
  ['temperature too high', withUser({ temperature: 2.5 }), 'temperature', 'decimal_above_max_value', '2.5'],
  [
    'temperature negative',
    withUser({ temperature: -1 }),
    'temperature',
    'decimal_below_min_value',
    'least 0',
  ],
  ['temperature NaN', withUser({ temperature: Number.NaN }), 'temperature', 'invalid_type', 'NaN'],
  ['temperature as text', withUser({ temperature: '1' }), 'temperature', 'invalid_type', '"1"'],
  ['top_p', withUser({ top_p: 1.1 }), 'top_p', 'decimal_above_max_value', 'at most 1'],
  ['top_k fraction', withUser({ top_k: 1.5 }), 'top_k', 'invalid_type', 'integer'],
  ['top_k', withUser({ top_k: -2 }), 'top_k', 'integer_below_min_value', '-2'],
  ['min_p', withUser({ min_p: 2 }), 'min_p', 'decimal_above_max_value', ''],
  [
    'repetition',
    withUser({ repetition_penalty: 0 }),
    'repetition_penalty',
    'decimal_below_min_value',
    'above 0',
  ],
  ['presence', withUser({ presence_penalty: 3 }), 'presence_penalty', 'decimal_above_max_value', ''],
  ['frequency', withUser({ frequency_penalty: -3 }), 'frequency_penalty', 'decimal_below_min_value', ''],
  ['infinite', withUser({ frequency_penalty: Infinity }), 'frequency_penalty', 'invalid_type', 'Infinity'],
  ['seed', withUser({ seed: 0.5 }), 'seed', 'invalid_type', 'integer'],
  ['max_tokens 0', withUser({ max_tokens: 0 }), 'max_tokens', 'integer_below_min_value', 'at least 1'],
  [
    'contradicting limits',
    withUser({ max_tokens: 4, max_completion_tokens: 5 }),
    'max_tokens',
    'invalid_value',
    'give one',
  ],
  ['n', withUser({ n: 0 }), 'n', 'integer_below_min_value', ''],
  ['n too large', withUser({ n: 129 }), 'n', 'integer_above_max_value', '128'],
  ['five stops', withUser({ stop: ['1', '2', '3', '4', '5'] }), 'stop', 'array_above_max_length', 'up to 4'],
  ['empty stop', withUser({ stop: '' }), 'stop', 'invalid_value', 'empty'],
  ['stop with a number', withUser({ stop: ['a', 1] }), 'stop[1]', 'invalid_type', 'string'],
  ['stream', withUser({ stream: 1 }), 'stream', 'invalid_type', 'true or false'],
  [
    'stream_options alone',
    withUser({ stream_options: { include_usage: true } }),
    'stream_options',
    'invalid_value',
    'stream: true',
  ],
  [
    'unknown stream option',
    withUser({ stream: true, stream_options: { include_obfuscation: true } }),
    'stream_options.include_obfuscation',
    'unsupported_parameter',
    'remove it',
  ],
  [
    'template arguments',
    withUser({ chat_template_kwargs: [] }),
    'chat_template_kwargs',
    'invalid_type',
    'an object',
  ],
  [
    'template arguments that are no JSON',
    withUser({ chat_template_kwargs: { big: 1n } }),
    'chat_template_kwargs',
    'invalid_value',
    'JSON',
  ],
  ['effort', withUser({ reasoning_effort: 'huge' }), 'reasoning_effort', 'invalid_value', 'minimal'],
  ['include_reasoning', withUser({ include_reasoning: 'no' }), 'include_reasoning', 'invalid_type', ''],
  ['unsupported field', withUser({ functions: [] }), 'functions', 'unsupported_parameter', 'tools'],
  ['another modality', withUser({ modalities: ['audio'] }), 'modalities', 'unsupported_value', '["audio"]'],
  [
    'two modalities',
    withUser({ modalities: ['text', 'audio'] }),
    'modalities',
    'unsupported_value',
    '["text"], or absent',
  ],
  ['a modality that is no JSON', withUser({ modalities: 1n }), 'modalities', 'unsupported_value', 'a bigint'],
  ['a user that is no text', withUser({ user: 5 }), 'user', 'invalid_type', 'a string'],
  ['metadata that are none', withUser({ metadata: 'a' }), 'metadata', 'invalid_type', 'an object'],
  ['store that is no boolean', withUser({ store: 'yes' }), 'store', 'invalid_type', 'true or false'],
  [
    'a safety identifier',
    withUser({ safety_identifier: 5 }),
    'safety_identifier',
    'invalid_type',
    'a string',
  ],
  ['a cache key', withUser({ prompt_cache_key: {} }), 'prompt_cache_key', 'invalid_type', 'a string'],
  [
    'a schema beside json_object',
    withUser({ response_format: { type: 'json_object', schema: { type: 'object' } } }),
    'response_format.schema',
    'unknown_parameter',
    'json_schema',
  ],
  [
    'json_schema beside json_object',
    withUser({ response_format: { type: 'json_object', json_schema: { name: 'a', schema: {} } } }),
    'response_format.json_schema',
    'unknown_parameter',
    '"json_object"',
  ],
  [
    'an unknown field beside json_schema',
    withUser({
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {} }, strict: true },
    }),
    'response_format.strict',
    'unknown_parameter',
    '"json_schema"',
  ],
  [
    'a name of a schema',
    withUser({ response_format: { type: 'json_schema', json_schema: { name: 5, schema: {} } } }),
    'response_format.json_schema.name',
    'invalid_type',
    'a string',
  ],
  [
    'strictness of a schema',
    withUser({
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {}, strict: 'yes' } },
    }),
    'response_format.json_schema.strict',
    'invalid_type',
    'true or false',
  ],
  [
    'echo before a form',
    withUser({
      messages: [user, { role: 'assistant', content: 'Sun.' }],
      echo: true,
      response_format: { type: 'json_object' },
    }),
    'echo',
    'invalid_value',
    'response_format',
  ],
  ['audio', withUser({ audio: { voice: 'a' } }), 'audio', 'unsupported_parameter', 'text only'],
  [
    'service tier',
    withUser({ service_tier: 'flex' }),
    'service_tier',
    'unsupported_value',
    '"auto" or "default"',
  ],
  [
    'older names of vLLM',
    withUser({ guided_json: {} }),
    'guided_json',
    'unsupported_parameter',
    'structured_outputs',
  ],
  ['an unknown field that is no JSON', withUser({ big: 1n }), 'big', 'unsupported_parameter', 'remove it'],
  [
    'reasoning twice in what is gone on with',
    withUser({
      messages: [user, { role: 'assistant', reasoning: 'Hm', content: '<think>' }],
      continue_final_message: true,
    }),
    'continue_final_message',
    'invalid_value',
    'put both into one',
  ],
  ['misspelt field', withUser({ max_token: 5 }), 'max_token', 'unsupported_parameter', "'max_token'"],
];

describe('prepareRequest', () => {
  it.each(rejected)('rejects %s', (_name, body, param, code, text) => {
    const error = failure(body);
    expect(error).toMatchObject({ param, code });
    expect(error.message).toContain(text);
    expect(error.status).toBe(code === 'model_not_found' ? 404 : 400);
    expect(error.toJSON().error.type).toBe('invalid_request_error');
  });

  it('rejects tools where the model has no known tool format', () => {
    const error = failure(withUser({ tools: [tool] }), { toolsUnavailable: 'No tool format.' });
    expect(error).toMatchObject({ param: 'tools', message: 'No tool format.' });
  });

  it('takes tools without offering them where tool calling is off', () => {
    const off = { ...context, toolCalling: false, toolsUnavailable: 'No tool format.' };
    expect(prepareRequest(withUser({ tools: [tool] }), off).job.tools).toBeNull();
  });

  it('takes the values by which clients say that they do not want what is not there', () => {
    const body = {
      logprobs: false,
      top_logprobs: 0,
      logit_bias: {},
      modalities: ['text'],
      service_tier: 'auto',
    };
    expect(prepareRequest({ messages: [user], ...body }, context)).toEqual(
      prepareRequest({ messages: [user] }, context),
    );
  });

  it('fills in what is unset', () => {
    expect(prepareRequest({ messages: [user] }, context)).toEqual({
      job: {
        messages: [user],
        tools: null,
        templateArguments: {},
        promptEnd: 'turn',
        sampling: {},
        maxTokens: null,
        choices: 1,
        constraint: null,
        logprobs: null,
        logitBias: new Map(),
        stopTokenIds: [],
        minTokens: 0,
        ignoreEos: false,
      },
      stream: false,
      includeUsage: false,
      includeDetails: false,
      stop: [],
      parallelToolCalls: true,
      deliverCalls: true,
      deliverReasoning: true,
      returnTokenIds: false,
      skipSpecialTokens: true,
      echo: null,
      placement: null,
      declaredTools: [],
      callsInHistory: 0,
    });
  });

  it('passes every honoured field on', () => {
    const prepared = prepareRequest(
      withUser({
        model: 'tiny',
        tools: [tool],
        tool_choice: 'auto',
        parallel_tool_calls: false,
        max_completion_tokens: 7,
        max_tokens: 7,
        temperature: 0.5,
        top_p: 0.9,
        top_k: 5,
        min_p: 0.1,
        repetition_penalty: 1.1,
        presence_penalty: 1,
        frequency_penalty: -1,
        seed: -3,
        stop: 'END',
        n: 2,
        stream: true,
        stream_options: { include_usage: true },
        chat_template_kwargs: { enable_thinking: false },
        include_reasoning: false,
        include_details: true,
        user: 'me',
        metadata: {},
        store: false,
      }),
      context,
    );
    expect(prepared).toMatchObject({
      job: {
        tools: [tool],
        templateArguments: { enable_thinking: false },
        sampling: {
          temperature: 0.5,
          topP: 0.9,
          topK: 5,
          minP: 0.1,
          repetitionPenalty: 1.1,
          presencePenalty: 1,
          frequencyPenalty: -1,
          seed: -3,
        },
        maxTokens: 7,
        choices: 2,
      },
      stream: true,
      includeUsage: true,
      includeDetails: true,
      stop: ['END'],
      parallelToolCalls: false,
      deliverReasoning: false,
      declaredTools: [{ name: 'f', parameters: { type: 'object' } }],
    });
  });

  it('treats null as unset', () => {
    const nulls = withUser({
      temperature: null,
      tools: null,
      stop: null,
      logprobs: null,
      reasoning_effort: null,
    });
    expect(prepareRequest(nulls, context).job.sampling).toEqual({});
  });

  it('does not offer tools with tool_choice none, but knows them', () => {
    const prepared = prepareRequest(withUser({ tools: [tool], tool_choice: 'none' }), context);
    expect(prepared.job.tools).toBeNull();
    expect(prepared).toMatchObject({ deliverCalls: false, declaredTools: [{ name: 'f' }] });
  });

  it.each([
    [{ reasoning_effort: 'none' }, { enable_thinking: false, reasoning_effort: 'none' }],
    [{ reasoning_effort: 'high' }, { enable_thinking: true, reasoning_effort: 'high' }],
    [
      { reasoning_effort: 'none', chat_template_kwargs: { enable_thinking: true } },
      { enable_thinking: true, reasoning_effort: 'none' },
    ],
  ])('maps %j to template arguments', (fields, expected) => {
    expect(prepareRequest(withUser(fields), context).job.templateArguments).toEqual(expected);
  });

  it('keeps what it was given apart from later changes of the caller', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const prepared = prepareRequest(
      withUser({ tools: [{ type: 'function', function: { name: 'f', parameters: schema } }] }),
      context,
    );
    schema.properties.a.type = 'number';
    expect(JSON.stringify(prepared.job.tools)).toContain('"string"');
    expect(JSON.stringify(prepared.declaredTools)).toContain('"string"');
  });
});
