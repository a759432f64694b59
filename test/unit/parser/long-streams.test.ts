/**
 * Streams of a million deltas and arguments of megabytes. What the parser keeps bounds what a delta can cost it, so
 * it is what is kept that is measured; work that grows with the stream would not end within the test's time.
 */
import { describe, expect, it } from 'vitest';
import { ChoiceAssembly } from '../../../src/chat/choice.ts';
import type { ChatCompletionChunkChoice, ChatCompletionDelta } from '../../../src/chat/types.ts';
import { Vocabulary } from '../../../src/detokenizer/vocabulary.ts';
import { type FormatNames, loadFormat } from '../../../src/formats/index.ts';
import { spellings } from '../../../src/parser/format.ts';
import { createParser } from '../../../src/parser/index.ts';
import { MadeVocabulary } from '../../conformance/vocabulary.ts';
import { heapBytes } from '../heap.ts';

const MEGABYTE = 1_000_000;
/** Linear work takes seconds, also on a busy machine; work that grows with the stream takes hours. */
const PATIENCE = 180_000;
const WORDS = [' the', ' model', 'ing', ' word', 's', ' of', ' text', ',', ' and', '\n'];

interface Stream {
  names: FormatNames;
  thinking?: boolean;
  parameters?: object;
  stop?: string[];
}

/** One choice of an answer, fed with pieces of text as tokens of their own, markers as theirs. */
async function openStream({ names, thinking = false, parameters, stop = [] }: Stream) {
  const format = await loadFormat(names);
  const made = new MadeVocabulary();
  const markers = Object.values(format.terminals)
    .filter(({ token }) => token !== 'never')
    .flatMap(spellings);
  const ids = new Map(markers.map((text) => [text, made.special(text)]));
  const pieces = (text: string, size: number): number[] => {
    const all: number[] = [];
    for (let at = 0; at < text.length; at += size) all.push(made.text(text.slice(at, at + size)));
    return all;
  };
  /** The markup around a call: markers by id, the rest as tokens of their own. */
  const markup = (text: string): number[] => {
    const split =
      markers.length === 0 ? [text] : text.split(new RegExp(`(${markers.map(escaped).join('|')})`));
    return split.filter((part) => part !== '').map((part) => ids.get(part) ?? made.text(part));
  };
  return {
    markup,
    pieces,
    /** Call it when all tokens were made. */
    start: () => {
      const parser = createParser({
        format,
        tools: [{ name: 'note', parameters }],
        vocabulary: new Vocabulary(made.table),
        templateArguments: { enable_thinking: thinking },
      });
      return new ChoiceAssembly({
        choice: 0,
        parser,
        stop,
        parallelToolCalls: true,
        deliverCalls: true,
        deliverReasoning: true,
        incompleteToolCalls: 'separate',
      });
    },
  };
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

const textOf = ({ content, reasoning, tool_calls }: ChatCompletionDelta): string =>
  (content ?? '') + (reasoning ?? '') + (tool_calls?.[0]?.function?.arguments ?? '');

const hermes = { reasoning: 'qwen3', tools: 'hermes' };
const pythonic = { reasoning: null, tools: 'pythonic' };
const gemma = { reasoning: null, tools: 'gemma4' };
const coder = { reasoning: 'qwen3', tools: 'qwen3_coder' };
const JSON_OPENING = '<tool_call>\n{"name": "note", "arguments": {"title": "';
const XML_OPENING = '<tool_call>\n<function=note>\n<parameter=title>\n';
const title = { type: 'object', properties: { title: { type: 'string' } } };

describe('a million deltas', () => {
  const text = 100_000 * WORDS.join('').length;
  /** Line breaks take two characters in JSON. */
  const escapedText = text + 100_000;
  const streams: [string, Stream, string, number][] = [
    ['content', { names: hermes }, '', text],
    ['content with stop strings', { names: hermes, stop: [' of the end', '\n\n'] }, '', text],
    ['content whose markers are text', { names: pythonic }, 'See', text],
    ['reasoning', { names: hermes, thinking: true }, '', text],
    ['JSON arguments', { names: hermes, parameters: title }, JSON_OPENING, escapedText],
    // The last line break may be the closer's.
    ['XML arguments', { names: coder, parameters: title }, XML_OPENING, escapedText - 2],
  ];

  it.each(streams)(
    '%s: what is kept does not grow',
    async (_name, stream, opening, expected) => {
      const { markup, pieces, start } = await openStream(stream);
      const before = markup(opening);
      const words = WORDS.map((word) => pieces(word, word.length)[0]!);
      const choice = start();
      choice.feed({ ids: before });
      let length = 0;
      const count = (chunks: readonly ChatCompletionChunkChoice[]) => {
        for (const { delta } of chunks) length += textOf(delta).length;
      };
      const feed = (deltas: number) => {
        for (let index = 0; index < deltas; index++)
          count(choice.feed({ ids: [words[index % words.length]!] }));
      };
      feed(100_000);
      const early = heapBytes();
      feed(900_000);
      expect(heapBytes() - early).toBeLessThan(MEGABYTE / 2);
      count(choice.end('length'));
      expect(length).toBe(expected);
    },
    PATIENCE,
  );
});

describe('an argument of five megabytes', () => {
  const sentence = 'The "quick" brown\tfox jumps over the lazy dog; it is <5 km away, isn\'t it?\n';
  const long = sentence.repeat(Math.ceil((5 * MEGABYTE) / sentence.length));
  const numbers = Array.from({ length: 500_000 }, (_, index) => 1_000_000 + (index % 2));
  const quoted = JSON.stringify(long);
  const list = JSON.stringify(numbers);
  const text = { type: 'string' };
  const open = { type: ['string', 'integer'] };
  const integers = { type: 'array', items: { type: 'integer' } };
  const json = (value: string) => [JSON_OPENING.slice(0, -1), value, '}}\n</tool_call>'] as const;
  const xml = (value: string) => [XML_OPENING, value, '\n</parameter>\n</function>\n</tool_call>'] as const;
  const python = (value: string) => ['[note(title=', value, ')]'] as const;
  const calls: [string, FormatNames, object, readonly [string, string, string], unknown][] = [
    ['JSON text', hermes, text, json(quoted), long],
    ['JSON text that may be a number', hermes, open, json(quoted), long],
    ['a JSON list', hermes, integers, json(list), numbers],
    ['XML text', coder, text, xml(long), long],
    ['XML text that may be a number', coder, open, xml(long), long],
    ['Python text', pythonic, text, python(quoted), long],
    ['a Python list of text', pythonic, {}, python(`[${quoted}]`), [long]],
    ['delimited text', gemma, text, ['<|tool_call>call:note{title:<|"|>', long, '<|"|>}<tool_call|>'], long],
  ];

  it.each(calls)(
    '%s',
    async (_name, names, schema, [before, value, after], expected) => {
      const parameters = { type: 'object', properties: { title: schema } };
      const { markup, pieces, start } = await openStream({ names, parameters });
      const ids = [...markup(before), ...pieces(value, 16), ...markup(after)];
      const choice = start();
      const said: string[] = [];
      const startBytes = heapBytes();
      for (const id of ids) for (const { delta } of choice.feed({ ids: [id] })) said.push(textOf(delta));
      expect(heapBytes() - startBytes).toBeLessThan(10 * value.length);
      const last = choice.end('eos').at(-1);
      expect(last?.finish_reason).toBe('tool_calls');
      const got = JSON.parse(said.join('')) as { title: unknown };
      expect(JSON.stringify(got.title) === JSON.stringify(expected)).toBe(true);
    },
    PATIENCE,
  );
});
