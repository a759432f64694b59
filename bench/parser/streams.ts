/** The output that is measured: long runs of one-token deltas, each inside one part of a message. */
import type { FormatNames } from '../../src/formats/index.ts';
import type { TokenTable } from '../../src/protocol.ts';
import { MadeVocabulary } from '../../test/conformance/vocabulary.ts';

export interface MeasuredStream {
  name: string;
  formats: FormatNames;
  isThinking: boolean;
  /** What leads into the part, markers as tokens of their own. */
  opening: { text: string; ids: number[] };
  /** Tokens that come again and again. Each is text of the part, all of which can be said at once. */
  words: { text: string; id: number }[];
}

/** The function that the arguments are for. */
export const TOOL = {
  name: 'note',
  parameters: { type: 'object', properties: { title: { type: 'string' } } },
};

const SENTENCES = `The quick brown fox jumps over 13 lazy dogs (all of them asleep), while nobody - not even the cat -
 looks up; "why should we?" they'd say. Models write text like this: words, signs and numbers such as 3.14 or 42%.`;

const MARKERS = ['<think>', '</think>', '<tool_call>', '</tool_call>'];

/** Words as tokenizers cut them: with the space before, signs by themselves. */
const pieces = (text: string): string[] =>
  text.replaceAll('\n', '').match(/ ?[\p{L}]+| ?\p{N}| ?[^\s\p{L}\p{N}]+/gu) ?? [];

/** The streams and the vocabulary of their tokens. */
export function measuredStreams(): { streams: MeasuredStream[]; table: TokenTable } {
  const made = new MadeVocabulary();
  const markerIds = new Map(MARKERS.map((marker) => [marker, made.special(marker)]));
  const idsOf = (text: string): number[] =>
    text
      .split(new RegExp(`(${MARKERS.join('|')})`))
      .filter((part) => part !== '')
      .map((part) => markerIds.get(part) ?? made.text(part));
  const stream = (
    name: string,
    tools: string,
    opening: string,
    { isThinking = false, inJson = false } = {},
  ): MeasuredStream => ({
    name,
    formats: { reasoning: 'qwen3', tools },
    isThinking,
    opening: { text: opening, ids: idsOf(opening) },
    words: pieces(SENTENCES).map((word) => {
      const text = inJson ? word.replaceAll('"', '\\"') : word;
      return { text, id: made.text(text) };
    }),
  });
  const streams = [
    stream('content', 'hermes', ''),
    stream('reasoning', 'hermes', '<think>\n', { isThinking: true }),
    stream('JSON arguments', 'hermes', '<tool_call>\n{"name": "note", "arguments": {"title": "', {
      inJson: true,
    }),
    stream('XML arguments', 'qwen3_coder', '<tool_call>\n<function=note>\n<parameter=title>\n'),
  ];
  return { streams, table: made.table };
}
