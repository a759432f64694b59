import { describe, expect, it } from 'vitest';
import { createOutputParser } from '../../../src/chat/output-parser.ts';

const tools = [
  {
    type: 'function' as const,
    function: { name: 'f', parameters: { type: 'object', properties: { a: {} } } },
  },
];

async function choiceOf(toolParser: string, pieces: Iterable<string>) {
  const parser = await createOutputParser({ reasoningParser: null, toolParser, tools });
  for (const text of pieces) parser.feed({ text });
  parser.finish('stop');
  return parser.choice;
}

const inPieces = (text: string) => text.match(/[\s\S]{1,1000}/g) ?? [];
const times = (count: number, piece: string) => Array.from({ length: count }, () => piece);

describe('an output', () => {
  const depth = 100_000;
  const brackets = '['.repeat(depth) + ']'.repeat(depth);
  it.each([
    ['hermes', '<tool_call>\n{"name":"f","arguments":{"a":', '}}\n</tool_call>'],
    ['llama3_json', '{"name":"f","parameters":{"a":', '}}'],
    ['gemma4', '<|tool_call>call:f{a:', '}<tool_call|>'],
    [
      'qwen3_coder',
      '<tool_call>\n<function=f>\n<parameter=a>\n',
      '\n</parameter>\n</function>\n</tool_call>',
    ],
    ['mistral', '[TOOL_CALLS]f[ARGS]{"a":', '}'],
  ])('of %s may nest 100,000 levels', async (name, before, behind) => {
    const { message } = await choiceOf(name, inPieces(before + brackets + behind));
    const written = message.tool_calls![0]!.function.arguments;
    expect(written.replace(/\s/g, '')).toContain(brackets.slice(0, 1000));
    expect(written.length).toBeGreaterThanOrEqual(2 * depth);
  });

  it('may have 20,000 calls', async () => {
    const one = '<tool_call>\n{"name":"f","arguments":{"a":1}}\n</tool_call>';
    expect((await choiceOf('hermes', times(20_000, one))).message.tool_calls).toHaveLength(20_000);
  });

  it.each([
    ['hermes', '<tool_call>', 20_000],
    ['hermes', '<tool_call></tool_call>', 20_000],
    ['llama3_json', '{"a":\n', 40_000],
    ['pythonic', '[\n', 100_000],
    ['xlam', '[\n', 100_000],
  ])('of %s may have nothing but %j', async (name, piece, count) => {
    const { message, finish_reason } = await choiceOf(name, times(count, piece));
    expect(finish_reason).toBe('stop');
    expect(message.tool_calls).toBeUndefined();
    expect((message.content ?? '').length).toBeGreaterThan(count);
  });

  it.each([
    ['hermes', '<tool_call>', 20_000],
    ['llama3_json', '{"a":\n', 20_000],
  ])('of %s, all of it %j, is the same however it is cut', async (name, piece, count) => {
    const text = piece.repeat(count);
    expect((await choiceOf(name, [text])).message).toEqual((await choiceOf(name, inPieces(text))).message);
  });

  it('that was endless is read on behind it', async () => {
    const call = '\n<tool_call>\n{"name":"f","arguments":{"a":1}}\n</tool_call>';
    const { message } = await choiceOf('hermes', [...times(20_000, '<tool_call>'), 'x'.repeat(70_000), call]);
    expect(message.tool_calls).toHaveLength(1);
  });

  it('may have names that objects have anyway', async () => {
    const argument = '{"__proto__":{"x":1},"constructor":1,"toString":2}';
    const { message } = await choiceOf('hermes', [
      `<tool_call>{"name":"__proto__","arguments":${argument}}</tool_call>`,
    ]);
    expect(message.tool_calls![0]!.function).toEqual({ name: '__proto__', arguments: argument });
    expect(({} as { x?: number }).x).toBeUndefined();
  });
});
