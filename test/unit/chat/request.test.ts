import { describe, expect, it } from 'vitest';
import { prepareRequest } from '../../../src/chat/request.ts';
import { context, failure } from './context.ts';

const user = { role: 'user', content: 'Hi' };
const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };

const withUser = (fields: object) => ({ messages: [user], ...fields });

describe('prepareRequest', () => {
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
