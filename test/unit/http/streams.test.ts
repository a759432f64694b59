/** What lies between chunks and the body, on chunks of the tests' own. */
import { describe, expect, it } from 'vitest';
import type { ChatCompletionChunk, ChatCompletionChunkChoice } from '../../../src/chat/types.ts';
import { eventStream } from '../../../src/http/sse.ts';
import { wholeCalls } from '../../../src/http/whole-calls.ts';

const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk' as const, created: 9, model: 'm' };
const request = new Request('http://engine/');

async function* stream(
  ...choices: Partial<ChatCompletionChunkChoice>[]
): AsyncGenerator<ChatCompletionChunk> {
  for (const choice of choices) {
    yield { ...base, choices: [{ index: 0, delta: {}, finish_reason: null, ...choice }] };
  }
  yield { ...base, choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } };
}

const began = (index: number, name: string) => ({
  index,
  id: `call-${index}`,
  type: 'function' as const,
  function: { name, arguments: '' },
});
const more = (index: number, text: string) => ({ index, function: { arguments: text } });

describe('wholeCalls', () => {
  it('withholds calls and nothing else: logprobs of their tokens and usage pass', async () => {
    const logprobs = {
      content: [{ token: '{', logprob: -1, bytes: [123], top_logprobs: [] }],
      refusal: null,
    };
    const chunks = [];
    const input = stream(
      { delta: { content: 'Now' } },
      { delta: { tool_calls: [began(0, 'f')] } },
      { delta: { tool_calls: [more(0, '{"a"')] }, logprobs },
      { index: 1, delta: { tool_calls: [began(0, 'g')] } },
      { delta: { tool_calls: [began(1, 'h'), more(1, '{}')] } },
      { index: 1, delta: { tool_calls: [more(0, '{}')] }, finish_reason: 'tool_calls' },
      { finish_reason: 'length', incomplete_tool_calls: [0] },
    );
    for await (const chunk of wholeCalls(input)) chunks.push(chunk);
    const call = (id: string, name: string, text: string) => ({
      id,
      type: 'function',
      function: { name, arguments: text },
    });
    expect(chunks.flatMap(({ choices }) => choices)).toEqual([
      { index: 0, delta: { content: 'Now' }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: null, logprobs },
      { index: 1, delta: { tool_calls: [{ index: 0, ...call('call-0', 'g', '{}') }] }, finish_reason: null },
      { index: 1, delta: {}, finish_reason: 'tool_calls' },
      { index: 0, delta: { tool_calls: [{ index: 0, ...call('call-1', 'h', '{}') }] }, finish_reason: null },
      {
        index: 0,
        delta: {},
        finish_reason: 'length',
        incomplete_tool_calls: [call('call-0', 'f', '{"a"')],
      },
    ]);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 3 } });
  });
});

describe('eventStream', () => {
  it('takes a chunk when it is asked for one, and not before', async () => {
    let taken = 0;
    const count = async function* () {
      for (;;) yield { taken: ++taken };
    };
    const reader = eventStream(count(), request, () => {}).getReader();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(taken).toBe(0);
    for (const expected of [1, 2, 3]) {
      const { value } = await reader.read();
      expect(new TextDecoder().decode(value)).toBe(`data: {"taken":${expected}}\n\n`);
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(taken).toBe(expected);
    }
  });

  it('tells of an error that is none of the engine’s too', async () => {
    const broken = async function* () {
      yield { first: true };
      throw new TypeError('It broke.');
    };
    const text = await new Response(eventStream(broken(), request, () => {})).text();
    expect(text).toBe(
      'data: {"first":true}\n\n' +
        'data: {"error":{"message":"It broke.","type":"server_error","param":null,"code":"internal_error"}}\n\n',
    );
  });
});
