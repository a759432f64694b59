import { describe, expect, it } from 'vitest';
import { CompletionCollector, collectCompletion } from '../../../src/chat/collector.ts';
import type { ChatCompletionChunk } from '../../../src/chat/types.ts';

const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk' as const, created: 9, model: 'other' };

async function* stream(...choices: unknown[]): AsyncGenerator<ChatCompletionChunk> {
  for (const choice of choices) yield { ...base, choices: [choice] } as ChatCompletionChunk;
  yield { ...base, choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } };
}

describe('collectCompletion', () => {
  it('collects the chunks of other servers', async () => {
    const completion = await collectCompletion(
      stream(
        { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null },
        { index: 0, delta: { reasoning_content: 'Hm' }, finish_reason: null },
        { index: 0, delta: { reasoning_content: '.', content: null }, finish_reason: null },
        {
          index: 0,
          delta: {
            tool_calls: [{ index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '' } }],
          },
          finish_reason: null,
        },
        {
          index: 0,
          delta: { tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f' } }] },
          finish_reason: null,
        },
        {
          index: 0,
          delta: { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
          finish_reason: null,
        },
        {
          index: 0,
          delta: { tool_calls: [{ index: 1, function: { arguments: '{"x"' } }] },
          finish_reason: null,
        },
        {
          index: 0,
          delta: { tool_calls: [{ index: 1, function: { arguments: ':1}' } }] },
          finish_reason: null,
        },
        { index: 0, delta: {}, finish_reason: 'tool_calls' },
      ),
    );
    expect(completion).toEqual({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 9,
      model: 'other',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: null,
            reasoning: null,
            reasoning_content: 'Hm.',
            refusal: null,
            tool_calls: [
              { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } },
              { id: 'b', type: 'function', function: { name: 'g', arguments: '{"x":1}' } },
            ],
          },
          logprobs: null,
          finish_reason: 'tool_calls',
          stop_reason: null,
        },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    });
  });

  it.each([
    [{ reasoning: 'Hm' }, { reasoning: 'Hm' }],
    [{ reasoning_content: 'Hm' }, { reasoning: null, reasoning_content: 'Hm' }],
    [
      { reasoning: 'Hm', reasoning_content: 'Hm' },
      { reasoning: 'Hm', reasoning_content: 'Hm' },
    ],
    [
      { reasoning: '', reasoning_content: 'Hm' },
      { reasoning: null, reasoning_content: 'Hm' },
    ],
    [{ reasoning_content: null }, { reasoning: null, reasoning_content: null }],
  ])('puts reasoning where the deltas have it: %j', async (delta, expected) => {
    const { choices } = await collectCompletion(
      stream({ index: 0, delta, finish_reason: null }, { index: 0, delta: {}, finish_reason: 'stop' }),
    );
    expect(choices[0]!.message).toEqual({ role: 'assistant', content: null, refusal: null, ...expected });
  });

  it('sorts interleaved choices by index and joins logprobs', async () => {
    const token = (text: string) => ({ token: text, logprob: 0, bytes: null, top_logprobs: [] });
    const completion = await collectCompletion(
      stream(
        { index: 1, delta: { content: 'b' }, finish_reason: null },
        { index: 0, delta: { content: 'a' }, logprobs: { content: [token('a')], refusal: null } },
        { index: 0, delta: { content: 'c' }, logprobs: { content: [token('c')], refusal: null } },
        { index: 1, delta: {}, finish_reason: 'length' },
        { index: 0, delta: {}, finish_reason: 'stop' },
      ),
    );
    expect(completion.choices.map(({ message }) => message.content)).toEqual(['ac', 'b']);
    expect(completion.choices.map(({ finish_reason }) => finish_reason)).toEqual(['stop', 'length']);
    expect(completion.choices[0]?.logprobs?.content?.map(({ token }) => token)).toEqual(['a', 'c']);
  });

  it('refuses a stream that broke off', async () => {
    await expect(
      collectCompletion(stream({ index: 0, delta: { content: 'a' }, finish_reason: null })),
    ).rejects.toMatchObject({ code: 'incomplete_stream', message: expect.stringContaining('choice 0') });
    expect(() => new CompletionCollector().finish()).toThrow('before its first chunk');
  });
});
