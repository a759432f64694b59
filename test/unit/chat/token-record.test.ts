import { describe, expect, it } from 'vitest';
import { ChoiceAssembly, type ChoiceOptions } from '../../../src/chat/choice.ts';
import { TokenRecord } from '../../../src/chat/token-record.ts';
import type { ChatCompletionChunkChoice } from '../../../src/chat/types.ts';
import type { ParserEvent } from '../../../src/parser/events.ts';
import type { EndReason } from '../../../src/protocol.ts';
import { ScriptedHost, ScriptedParser } from './scripted.ts';

const reasoning = (text: string, tokens: number): ParserEvent => ({ type: 'reasoning', text, tokens });
const content = (text: string, tokens: number): ParserEvent => ({ type: 'content', text, tokens });
const { vocabulary } = new ScriptedHost(() => new ScriptedParser([]));

/** The chunks of a choice whose token `n` brings `script[n]`, with `batch` tokens a message. */
function assemble(
  script: ParserEvent[][],
  {
    batch = 1,
    end = 'eos',
    last = [],
    ...options
  }: Partial<ChoiceOptions> & { batch?: number; end?: EndReason; last?: ParserEvent[] } = {},
) {
  const choice = new ChoiceAssembly({
    choice: 0,
    parser: new ScriptedParser(script, last),
    stop: [],
    parallelToolCalls: true,
    deliverCalls: true,
    deliverReasoning: true,
    incompleteToolCalls: 'separate',
    record: new TokenRecord(vocabulary, true),
    ...options,
  });
  const parts: ChatCompletionChunkChoice[] = [];
  for (let at = 0; at < script.length; at += batch) {
    const ids = script.slice(at, at + batch).map((_, index) => at + index);
    parts.push(
      ...choice.feed(
        { ids },
        ids.map((id) => ({ logprob: -id, top: [] })),
      ),
    );
  }
  return [...parts, ...choice.end(end)];
}

const idsOf = (parts: ChatCompletionChunkChoice[]) => parts.map(({ token_ids }) => token_ids ?? []);

describe('what chunks tell of tokens', () => {
  it('is each token once, in order, with the text that it completes or later', () => {
    const script = [[], [reasoning('a', 2)], [], [content('b', 4)], [content('c', 5)], []];
    const one = assemble(script);
    expect(one.map(({ delta }) => delta)).toEqual([
      { reasoning: 'a' },
      { content: 'b' },
      { content: 'c' },
      {},
    ]);
    expect(idsOf(one)).toEqual([[0, 1], [2, 3], [4], [5]]);
    expect(idsOf(assemble(script, { batch: 6 }))).toEqual([[0, 1], [2, 3, 4], [5]]);
    for (const parts of [one, assemble(script, { batch: 6 })]) {
      const told = parts.flatMap(({ logprobs }) => logprobs?.content ?? []);
      expect(told.map(({ token }) => token).join('')).toBe('abcdef');
      expect(told.map(({ logprob }) => -logprob)).toEqual([0, 1, 2, 3, 4, 5]);
    }
  });

  it('keeps to the tokens of the text, where later ones have been read', () => {
    // The fourth token settles what the second and third have brought.
    const script = [[], [], [], [reasoning('a', 2), content('b', 3)], [content('c', 5)]];
    expect(idsOf(assemble(script))).toEqual([[0, 1], [2], [3, 4], []]);
  });

  it('ends at a cut', () => {
    const script = [[content('a', 1)], [content('EN', 2)], [content('D', 3)], [content('x', 4)]];
    for (const batch of [1, 4]) {
      const parts = assemble(script, { batch, stop: ['END'] });
      expect(parts.map(({ delta }) => delta.content)).toEqual(['a', undefined]);
      expect(idsOf(parts)).toEqual([[0], [1, 2]]);
    }
    // What was held back matches, tokens after those that were read.
    const held = assemble([[], [], [content('a', 1), content('END', 2)]], { stop: ['END'] });
    expect(idsOf(held)).toEqual([[0], [1]]);
  });

  it('comes with the last chunk where there is no text', () => {
    expect(idsOf(assemble([[], [], []], { end: 'length' }))).toEqual([[0, 1, 2]]);
    expect(idsOf(assemble([[]], { last: [content('<', 1)] }))).toEqual([[0], []]);
  });

  it('is nothing that was not asked for', () => {
    for (const part of assemble([[content('a', 1)]], { record: null })) {
      expect(part).not.toHaveProperty('logprobs');
      expect(part).not.toHaveProperty('token_ids');
    }
    const record = new TokenRecord(vocabulary, false);
    record.add([0], [{ logprob: -1, top: [] }]);
    expect(record.take(1)).not.toHaveProperty('token_ids');
    expect(record.take(Infinity)).toEqual({});
  });

  it('has the shape of OpenAI', () => {
    const record = new TokenRecord(vocabulary, true);
    const top = [
      { id: 1, logprob: -0.5 },
      { id: 2, logprob: -Infinity },
    ];
    record.add([3], [{ logprob: -2, top }]);
    expect(record.take(1)).toEqual({
      token_ids: [3],
      logprobs: {
        content: [
          {
            token: 'd',
            logprob: -2,
            bytes: [100],
            top_logprobs: [
              { token: 'b', logprob: -0.5, bytes: [98] },
              { token: 'c', logprob: -9999, bytes: [99] },
            ],
          },
        ],
        refusal: null,
      },
    });
  });
});

describe('stop strings', () => {
  it('count behind the least number of tokens', () => {
    const script = [[content('x', 1)], [content('x', 2)], [content('x', 3)]];
    const parts = assemble(script, { stop: ['x'], minTokens: 2 });
    expect(parts.map(({ delta }) => delta.content ?? '').join('')).toBe('xx');
    expect(parts.at(-1)?.finish_reason).toBe('stop');
    expect(idsOf(parts).flat()).toEqual([0, 1, 2]);
  });
});
