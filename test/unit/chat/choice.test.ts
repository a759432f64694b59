import { describe, expect, it } from 'vitest';
import { ChoiceAssembly, type ChoiceOptions } from '../../../src/chat/choice.ts';
import { CompletionCollector } from '../../../src/chat/collector.ts';
import type { ChatCompletionChunkChoice } from '../../../src/chat/types.ts';
import type { ParserEvent } from '../../../src/parser/events.ts';
import type { EndReason } from '../../../src/protocol.ts';
import { ScriptedParser } from './scripted.ts';

const reasoning = (text: string, tokens: number): ParserEvent => ({ type: 'reasoning', text, tokens });
const content = (text: string, tokens: number): ParserEvent => ({ type: 'content', text, tokens });
const callStart = (index: number, tokens: number): ParserEvent => ({
  type: 'call-start',
  index,
  id: `id${index}`,
  name: `f${index}`,
  tokens,
});
const callArguments = (index: number, text: string, tokens: number): ParserEvent => ({
  type: 'call-arguments',
  index,
  text,
  tokens,
});
const callEnd = (index: number, tokens: number): ParserEvent => ({ type: 'call-end', index, tokens });
const callIncomplete = (index: number, tokens: number): ParserEvent => ({
  type: 'call-incomplete',
  index,
  tokens,
});

const wholeCall = (index: number, token: number): ParserEvent[][] => [
  [callStart(index, token + 1)],
  [callArguments(index, '{"a": 1', token + 2)],
  [callArguments(index, '}', token + 3), callEnd(index, token + 3)],
];

function assemble(
  script: ParserEvent[][],
  options: Partial<ChoiceOptions> = {},
  { end = 'eos', last = [], batch = 1 }: { end?: EndReason; last?: ParserEvent[]; batch?: number } = {},
) {
  const parser = new ScriptedParser(script, last);
  const choice = new ChoiceAssembly({
    choice: 0,
    parser,
    stop: [],
    parallelToolCalls: true,
    deliverCalls: true,
    deliverReasoning: true,
    incompleteToolCalls: 'separate',
    ...options,
  });
  const parts: ChatCompletionChunkChoice[] = [];
  for (let at = 0; at < script.length; at += batch) {
    const ids = script.slice(at, at + batch).map((_, index) => at + index);
    parts.push(...choice.feed({ ids }));
  }
  parts.push(...choice.end(end));
  const collector = new CompletionCollector();
  const base = { id: 'x', object: 'chat.completion.chunk' as const, created: 0, model: 'tiny' };
  for (const part of parts) collector.add({ ...base, choices: [part] });
  return { parts, parser, choice, result: collector.finish().choices[0]! };
}

describe('ChoiceAssembly', () => {
  it('sends reasoning, content and calls in their order, each kind in chunks of its own', () => {
    const script = [
      [reasoning('Look ', 1)],
      [reasoning('it up.', 2)],
      [content('Moment.', 3)],
      ...wholeCall(0, 3),
      [content('Sent.', 7)],
    ];
    const { parts, result } = assemble(script, {}, { batch: 100 });
    expect(parts.map(({ delta }) => delta)).toEqual([
      { reasoning: 'Look it up.' },
      { content: 'Moment.' },
      {
        tool_calls: [
          { index: 0, id: 'id0', type: 'function', function: { name: 'f0', arguments: '{"a": 1}' } },
        ],
      },
      { content: 'Sent.' },
      {},
    ]);
    expect(parts.map((part) => part.finish_reason)).toEqual([null, null, null, null, 'tool_calls']);
    expect(result.message).toMatchObject({ reasoning: 'Look it up.', content: 'Moment.Sent.' });
  });

  it('gives id, type and name once and the index always', () => {
    const { parts } = assemble([...wholeCall(0, 0), ...wholeCall(1, 3)]);
    const calls = parts.flatMap(({ delta }) => delta.tool_calls ?? []);
    expect(calls.map(({ index, id, type, function: called }) => [index, id, type, called?.name])).toEqual([
      [0, 'id0', 'function', 'f0'],
      [0, undefined, undefined, undefined],
      [0, undefined, undefined, undefined],
      [1, 'id1', 'function', 'f1'],
      [1, undefined, undefined, undefined],
      [1, undefined, undefined, undefined],
    ]);
    expect(calls[0]?.function?.arguments).toBe('');
  });

  it('never sends an empty delta before the last chunk', () => {
    const { parts } = assemble([[], [content('', 1)], [reasoning('', 2)], [content('a', 3)]]);
    expect(parts.map(({ delta }) => delta)).toEqual([{ content: 'a' }, {}]);
  });

  it.each([
    ['eos', 'stop', 'stop'],
    ['length', 'length', 'length'],
  ] as const)('ends after %s with %s', (end, finish, parserEnd) => {
    const { result, parser } = assemble([[content('Hi', 1)]], {}, { end });
    expect(result.finish_reason).toBe(finish);
    expect(parser.ended).toBe(parserEnd);
  });

  it('keeps length as the reason beside a whole call', () => {
    expect(assemble(wholeCall(0, 0), {}, { end: 'length' }).result.finish_reason).toBe('length');
  });

  it('delivers what the parser settles at the end', () => {
    const { result } = assemble([[content('a', 1)]], {}, { last: [content('<tool', 3)] });
    expect(result.message.content).toBe('a<tool');
  });

  describe('with a call that was cut', () => {
    const script = [
      ...wholeCall(0, 0),
      [callStart(1, 4)],
      [callArguments(1, '{"a": ["x\\"', 5)],
      [callArguments(1, ' y', 6)],
    ];
    const last = [callIncomplete(1, 6)];

    it('names it on the last chunk and keeps it out of tool_calls', () => {
      const { parts, result } = assemble(script, {}, { end: 'length', last });
      expect(parts.at(-1)).toEqual({
        index: 0,
        delta: {},
        finish_reason: 'length',
        stop_reason: null,
        incomplete_tool_calls: [1],
      });
      expect(parts.filter((part) => part.incomplete_tool_calls)).toHaveLength(1);
      expect(result.message.tool_calls?.map(({ id }) => id)).toEqual(['id0']);
      expect(result.incomplete_tool_calls).toEqual([
        { id: 'id1', type: 'function', function: { name: 'f1', arguments: '{"a": ["x\\" y' } },
      ]);
    });

    it('ends with stop where no whole call is left', () => {
      const { result } = assemble(script.slice(3), {}, { last });
      expect(result.finish_reason).toBe('stop');
      expect(result.message.tool_calls).toBeUndefined();
    });

    it('leaves it in tool_calls as it is: raw', () => {
      const { result } = assemble(script, { incompleteToolCalls: 'raw' }, { last });
      expect(result.message.tool_calls?.[1]?.function.arguments).toBe('{"a": ["x\\" y');
      expect(result.incomplete_tool_calls).toBeUndefined();
      expect(result.finish_reason).toBe('tool_calls');
    });

    it('completes its JSON with closers: close', () => {
      const { result } = assemble(script, { incompleteToolCalls: 'close' }, { last, end: 'length' });
      expect(JSON.parse(result.message.tool_calls?.[1]?.function.arguments ?? '')).toEqual({ a: ['x" y'] });
      expect(result.finish_reason).toBe('length');
    });

    it('closes a call without arguments to an empty object', () => {
      const { result } = assemble([[callStart(1, 1)]], { incompleteToolCalls: 'close' }, { last });
      expect(result.message.tool_calls?.[0]?.function.arguments).toBe('{}');
    });
  });

  describe('with stop strings', () => {
    const script = [
      [reasoning('END', 1)],
      [content('all do', 2)],
      [content('ne EN', 3)],
      [content('D more', 4)],
    ];

    it.each([1, 2, 100])('cuts content at the match, with %i tokens a message', (batch) => {
      const { result, choice, parser } = assemble(
        [...script, [content('!', 5)]],
        { stop: ['END'] },
        { batch },
      );
      expect(result.message).toMatchObject({ reasoning: 'END', content: 'all done ' });
      expect(result.finish_reason).toBe('stop');
      expect(choice.cutAt).toBe(4);
      expect(parser.fed).toEqual([0, 1, 2, 3]);
      expect(parser.ended).toBeNull();
    });

    it('delivers a held beginning at the end, and before markup', () => {
      expect(assemble([[content('EN', 1)]], { stop: ['END'] }).result.message.content).toBe('EN');
      const { parts, result } = assemble(
        [[content('EN', 1)], ...wholeCall(0, 1), [content('D', 5)]],
        { stop: ['END'] },
        { batch: 2 },
      );
      expect(parts[0]?.delta).toEqual({ content: 'EN' });
      expect(result.message.content).toBe('END');
    });

    it('does not look into arguments', () => {
      const { result } = assemble(wholeCall(0, 0), { stop: ['{', 'a'] });
      expect(result.finish_reason).toBe('tool_calls');
    });

    it('matches in what the parser settles at the end', () => {
      const { result, choice } = assemble(
        [[content('a E', 1)]],
        { stop: ['END'] },
        { last: [content('ND', 2)] },
      );
      expect(result).toMatchObject({ finish_reason: 'stop', message: { content: 'a ' } });
      expect(choice.cutAt).toBe(2);
    });
  });

  it('ends after the first whole call without parallel calls', () => {
    const script = [...wholeCall(0, 0), ...wholeCall(1, 3)];
    const { result, choice } = assemble(script, { parallelToolCalls: false }, { batch: 100 });
    expect(result.message.tool_calls).toHaveLength(1);
    expect(result.finish_reason).toBe('tool_calls');
    expect(choice.cutAt).toBe(3);
  });

  it('removes calls with tool_choice none', () => {
    const { result } = assemble([[content('a', 1)], ...wholeCall(0, 1)], { deliverCalls: false });
    expect(result.message).not.toHaveProperty('tool_calls');
    expect(result).toMatchObject({ finish_reason: 'stop', message: { content: 'a' } });
  });

  it('withholds reasoning and still counts it', () => {
    const { parts, choice } = assemble([[reasoning('Hm.', 1)], [content('a', 2)]], {
      deliverReasoning: false,
    });
    expect(parts.map(({ delta }) => delta)).toEqual([{ content: 'a' }, {}]);
    expect(choice.reasoningTokens).toBe(1);
  });
});
