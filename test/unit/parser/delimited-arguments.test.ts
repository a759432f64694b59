import { describe, expect, it } from 'vitest';
import { createOutputParser } from '../../../src/chat/output-parser.ts';

const D = '<|"|>';

async function read(object: string) {
  const parser = await createOutputParser({ reasoningParser: null, toolParser: 'gemma4', tools: [] });
  for (const character of `<|tool_call>call:f${object}<tool_call|>`) parser.feed({ text: character });
  parser.finish('stop');
  const { tool_calls: calls, content } = parser.choice.message;
  return calls ? calls.map(({ function: { arguments: json } }) => json) : content;
}

describe('keys of delimited arguments', () => {
  it.each([
    [`{ a b :1}`, '{"a b": 1}'],
    [`{${D} a:b,} ${D}:1}`, '{" a:b,} ": 1}'],
    [`{${D}${D} :1}`, '{"": 1}'],
    [`{o:{${D}{k}${D}:[null]},b:2}`, '{"o": {"{k}": [null]}, "b": 2}'],
  ])('are what they say: %s', async (object, json) => {
    expect(await read(object)).toEqual([json]);
  });

  it.each([`{${D}a${D}b:1}`, `{${D}a${D}${D}b${D}:1}`, `{${D}a${D}}`, '{:1}'])(
    'are whole: %s',
    async (object) => {
      expect(await read(object)).not.toEqual([expect.stringContaining('1}')]);
    },
  );
});
