import { describe, expect, it } from 'vitest';
import { prepareRequest } from '../../../src/chat/request.ts';
import { BadRequestError } from '../../../src/errors.ts';
import { context } from './context.ts';

const user = { role: 'user', content: 'Hi' };
const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
const calling = { role: 'assistant', content: null, tool_calls: [call] };
const withMessages = (...messages: unknown[]) => ({ messages });

/** What is wrong, the body, the path that the error names, its code, a part of its message. */
const rejected: [string, unknown, string, string, string][] = [
  ['no messages', {}, 'messages', 'missing_required_parameter', 'array of messages'],
  ['messages not an array', { messages: 'Hi' }, 'messages', 'invalid_type', 'array of messages'],
  ['empty messages', { messages: [] }, 'messages', 'empty_array', 'add at least one'],
  ['message not an object', withMessages('Hi'), 'messages[0]', 'invalid_type', 'message object'],
  ['no role', withMessages({ content: 'Hi' }), 'messages[0].role', 'missing_required_parameter', 'one of'],
  ['unknown role', withMessages({ role: 'bot', content: '' }), 'messages[0].role', 'invalid_value', '"bot"'],
  [
    'function role',
    withMessages({ role: 'function', name: 'f', content: '' }),
    'messages[0].role',
    'invalid_value',
    'tool',
  ],
  [
    'no content',
    withMessages({ role: 'user' }),
    'messages[0].content',
    'missing_required_parameter',
    'string',
  ],
  [
    'null content',
    withMessages({ role: 'user', content: null }),
    'messages[0].content',
    'invalid_type',
    'null',
  ],
  [
    'number as content',
    withMessages({ role: 'user', content: 5 }),
    'messages[0].content',
    'invalid_type',
    '5',
  ],
  [
    'no parts',
    withMessages({ role: 'user', content: [] }),
    'messages[0].content',
    'empty_array',
    'text part',
  ],
  [
    'image part',
    withMessages({ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }),
    'messages[0].content[0].type',
    'unsupported_value',
    'text only',
  ],
  [
    'text part without text',
    withMessages({ role: 'user', content: [{ type: 'text' }] }),
    'messages[0].content[0].text',
    'missing_required_parameter',
    'a string',
  ],
  [
    'unknown message field',
    withMessages({ ...user, timestamp: 1 }),
    'messages[0].timestamp',
    'unknown_parameter',
    'remove it',
  ],
  [
    'empty assistant',
    withMessages(user, { role: 'assistant' }),
    'messages[1].content',
    'missing_required_parameter',
    'tool_calls',
  ],
  [
    'refusal',
    withMessages({ role: 'assistant', content: '', refusal: 'No.' }),
    'messages[0].refusal',
    'unsupported_parameter',
    "'content'",
  ],
  [
    'reasoning not a string',
    withMessages({ role: 'assistant', content: '', reasoning: {} }),
    'messages[0].reasoning',
    'invalid_type',
    'a string',
  ],
  [
    'arguments not a string',
    withMessages({ role: 'assistant', tool_calls: [{ ...call, function: { name: 'f', arguments: {} } }] }),
    'messages[0].tool_calls[0].function.arguments',
    'invalid_type',
    'JSON.stringify',
  ],
  [
    'call without id',
    withMessages({ role: 'assistant', tool_calls: [{ ...call, id: undefined }] }),
    'messages[0].tool_calls[0].id',
    'missing_required_parameter',
    'string',
  ],
  [
    'custom call',
    withMessages({ role: 'assistant', tool_calls: [{ ...call, type: 'custom' }] }),
    'messages[0].tool_calls[0].type',
    'invalid_value',
    'function',
  ],
  [
    'tool message without id',
    withMessages(user, calling, { role: 'tool', content: '1' }),
    'messages[2].tool_call_id',
    'missing_required_parameter',
    'id of the call',
  ],
  [
    'tool message for no call',
    withMessages(user, calling, { role: 'tool', content: '1', tool_call_id: 'b' }),
    'messages[2].tool_call_id',
    'invalid_value',
    'no earlier assistant message',
  ],
  [
    'tool message before its call',
    withMessages(user, { role: 'tool', content: '1', tool_call_id: 'a' }, calling),
    'messages[1].tool_call_id',
    'invalid_value',
    'no earlier',
  ],
];

describe('messages', () => {
  it.each(rejected)('are rejected: %s', (_name, body, param, code, text) => {
    const check = () => prepareRequest(body, context);
    expect(check).toThrow(BadRequestError);
    expect(check).toThrow(expect.objectContaining({ param, code, status: 400 }));
    expect(check).toThrow(text);
  });

  it('are brought into the form of a chat template', () => {
    const { job, callsInHistory } = prepareRequest(
      withMessages(
        { role: 'developer', content: 'Be brief.' },
        {
          role: 'user',
          name: 'Ann',
          content: [
            { type: 'text', text: 'One' },
            { type: 'text', text: 'Two' },
          ],
        },
        {
          role: 'assistant',
          content: null,
          refusal: null,
          reasoning: 'Look it up.',
          tool_calls: [
            { ...call, function: { name: 'f', arguments: '{"a": 1}' } },
            { ...call, id: 'b', function: { name: 'f', arguments: '' } },
            { ...call, id: 'c', function: { name: 'f', arguments: 'not json' } },
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: '5' },
        { role: 'assistant', content: 'Five.', reasoning: null, reasoning_content: 'Done.' },
        { role: 'assistant', content: null, reasoning: 'Only thought.' },
      ),
      context,
    );
    const templateCall = (id: string, args: unknown) => ({
      id,
      type: 'function',
      function: { name: 'f', arguments: args },
    });
    expect(job.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', name: 'Ann', content: 'One\nTwo' },
      {
        role: 'assistant',
        content: null,
        reasoning: 'Look it up.',
        tool_calls: [templateCall('a', { a: 1 }), templateCall('b', {}), templateCall('c', 'not json')],
      },
      { role: 'tool', tool_call_id: 'a', content: '5' },
      { role: 'assistant', content: 'Five.', reasoning: 'Done.' },
      { role: 'assistant', content: '', reasoning: 'Only thought.' },
    ]);
    expect(callsInHistory).toBe(3);
  });

  it.each([
    [{ reasoning: '', reasoning_content: 'Hm' }, 'Hm'],
    [{ reasoning: 'Hm', reasoning_content: '' }, 'Hm'],
    [{ reasoning: 'new', reasoning_content: 'old' }, 'new'],
    [{ reasoning: '', reasoning_content: null }, ''],
    [{ reasoning: null, reasoning_content: '' }, ''],
  ])('reads the reasoning of %j', (fields, reasoning) => {
    const { job } = prepareRequest(
      withMessages(user, { role: 'assistant', content: '', ...fields }),
      context,
    );
    expect(job.messages[1]).toEqual({ role: 'assistant', content: '', reasoning });
  });
});
