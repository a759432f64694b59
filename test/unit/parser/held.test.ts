import { describe, expect, it } from 'vitest';
import { createOutputParser } from '../../../src/chat/output-parser.ts';

const tools = [{ type: 'function' as const, function: { name: 'f', parameters: { type: 'object' } } }];

async function read(toolParser: string, text: string, grammar: { calls: boolean } | null) {
  const parser = await createOutputParser({ reasoningParser: null, toolParser, tools, grammar });
  for (const character of text) parser.feed({ text: character });
  parser.finish('stop');
  const { message, finish_reason } = parser.choice;
  return {
    content: message.content,
    calls: (message.tool_calls ?? []).map(({ function: called }) => called.arguments),
    finish_reason,
  };
}

describe('an output that a grammar led', () => {
  it.each([
    ['qwen3_coder', 'See\n<function=f>\n</function>'],
    ['llama3_json', '{ "name": "f", "parameters": {} }'],
    ['llama3_json', 'See\n{"parameters": {}, "name": "f"}'],
    ['minimax_m2', 'The end is </minimax:tool_call>.'],
  ])('keeps what only looks like a call as text: %s', async (format, text) => {
    expect(await read(format, text, { calls: true })).toEqual({
      content: text,
      calls: [],
      finish_reason: 'stop',
    });
    expect(await read(format, text, null)).not.toEqual({ content: text, calls: [], finish_reason: 'stop' });
  });

  it('has a call wherever one is opened as the family writes it', async () => {
    const text = 'See {"name": "f", "parameters": {"a": 1}}; {"name": "f", "parameters": {}}; done';
    expect(await read('llama3_json', text, { calls: true })).toEqual({
      content: 'See; done',
      calls: ['{"a": 1}', '{}'],
      finish_reason: 'tool_calls',
    });
  });

  it('has no calls where the grammar writes content', async () => {
    const text = '{"name": "f", "parameters": {}}';
    expect(await read('llama3_json', text, { calls: false })).toEqual({
      content: text,
      calls: [],
      finish_reason: 'stop',
    });
  });
});
