import { describe, expect, it } from 'vitest';
import { createOutputParser } from '../../../src/chat/output-parser.ts';
import type { HeldAnswer } from '../../../src/parser/index.ts';

const tools = [{ type: 'function' as const, function: { name: 'f', parameters: { type: 'object' } } }];

async function read(toolParser: string, text: string, grammar: HeldAnswer | null) {
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
    ['minimax_m2', 'See\n<invoke name="f">\n</invoke>'],
    ['pythonic', '[ f(a=1)]'],
    ['pythonic', '[g(a=1)]'],
  ])('keeps what only looks like a call as text: %s', async (format, text) => {
    expect(await read(format, text, { calls: true, content: false })).toEqual({
      content: text,
      calls: [],
      finish_reason: 'stop',
    });
    expect(await read(format, text, null)).not.toEqual({ content: text, calls: [], finish_reason: 'stop' });
  });

  it('has a call wherever one is opened as the family writes it', async () => {
    const text = 'See {"name": "f", "parameters": {"a": 1}}; {"name": "f", "parameters": {}}; done';
    expect(await read('llama3_json', text, { calls: true, content: false })).toEqual({
      content: 'See; done',
      calls: ['{"a": 1}', '{}'],
      finish_reason: 'tool_calls',
    });
  });

  it('has a call where a bracket and a name open one', async () => {
    const text = 'See [f] or [[f(a=[1, "]"], b=None), f()]] and [f(1';
    expect(await read('pythonic', text, { calls: true, content: false })).toEqual({
      content: 'See [f] or [] and [f(1',
      calls: ['{"a": [1, "]"], "b": null}', '{}'],
      finish_reason: 'tool_calls',
    });
  });

  it('has no call inside of content in a form', async () => {
    const call = '{"name": "f", "parameters": {}}';
    const both = { calls: true, content: true };
    expect(await read('llama3_json', `{"a": ${call}}`, both)).toMatchObject({
      content: `{"a": ${call}}`,
      calls: [],
    });
    expect(await read('llama3_json', `${call}; ${call}`, both)).toMatchObject({
      content: null,
      calls: ['{}', '{}'],
    });
  });

  describe('in a form of its own', () => {
    const form = { calls: true, content: true, isVerbatim: true };
    const behindThought = async (text: string, grammar: HeldAnswer, by: (text: string) => string[]) => {
      const parser = await createOutputParser({
        reasoningParser: 'qwen3',
        toolParser: 'hermes',
        tools,
        grammar,
        prompt: { text: '<think>\n' },
      });
      for (const piece of by(text)) parser.feed({ text: piece });
      parser.finish('stop');
      const { message } = parser.choice;
      return [message.reasoning ?? null, message.content, message.tool_calls?.length ?? 0];
    };
    const cuts = [(text: string) => [...text], (text: string) => [text]];

    it.each([
      ['Hm.\n</think>\n\n +x+ *\n', 'Hm.', '\n\n +x+ *\n'],
      ['Hm.\n</think>\n \n', 'Hm.', '\n \n'],
      ['Hm.</think>x', 'Hm.', 'x'],
      ['Hm.</think>', 'Hm.', null],
      ['Hm.\n', 'Hm.\n', null],
    ])('keeps all its white space behind the reasoning: %j', async (text, reasoning, content) => {
      for (const by of cuts) expect(await behindThought(text, form, by)).toEqual([reasoning, content, 0]);
    });

    it('is layout where JSON or a call comes', async () => {
      const call = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>';
      for (const by of cuts) {
        const json = { calls: true, content: true };
        expect(await behindThought('Hm.\n</think>\n\n{}', json, by)).toEqual(['Hm.', '{}', 0]);
        expect(await behindThought(`Hm.</think>\n\n${call}\n`, form, by)).toEqual(['Hm.', null, 1]);
      }
    });
  });

  describe('with tags around the answer', () => {
    const [start, end, messageEnd] = [
      '<|open|>response<|sep|>',
      '<|close|>response<|sep|>',
      '<|close|>message<|sep|>',
    ];
    const call =
      '<|open|>tools<|sep|><|open|>call tool="f" index="1"<|sep|><|close|>call<|sep|><|close|>tools<|sep|>';

    it.each([
      [`${start}Look.\n${end}${call}${messageEnd}`, { calls: true, content: false }, 'Look.', 1],
      [`Look.${end}${messageEnd}`, { calls: true, content: false }, 'Look.', 0],
      [`${start}${end}${call}`, { calls: true, content: true }, null, 1],
      [`${start}{"a": 1}${end}${messageEnd}`, { calls: true, content: true }, '{"a": 1}', 0],
      [`${start}\n x \n${end}${messageEnd}`, { calls: false, content: true, isVerbatim: true }, '\n x \n', 0],
      [`${start} \n${end}`, { calls: false, content: true, isVerbatim: true }, ' \n', 0],
    ])('they are none of it: %j', async (text, grammar, content, count) => {
      const result = await read('kimi_k3', text, grammar);
      expect([result.content, result.calls.length]).toEqual([content, count]);
    });
  });

  it.each([
    ['hunyuan_a13b', '<answer>\nTwelve.\n</answer>'],
    ['ernie45', '</think>\n<response>\nTwelve.\n</response>\n'],
    ['apriel', '[BEGIN FINAL RESPONSE]\nTwelve.\n[END FINAL RESPONSE]'],
  ])('has no tags around its text that are spelled: %s', async (format, text) => {
    const free = { calls: true, content: false };
    const parser = await createOutputParser({
      reasoningParser: format,
      toolParser: format,
      tools,
      grammar: free,
    });
    for (const character of text) parser.feed({ text: character });
    parser.finish('stop');
    expect(parser.choice.message.content).toBe('Twelve.');
  });

  it('has no calls where the grammar writes content', async () => {
    const text = '{"name": "f", "parameters": {}}';
    expect(await read('llama3_json', text, { calls: false, content: true })).toEqual({
      content: text,
      calls: [],
      finish_reason: 'stop',
    });
  });
});
