import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonCloser } from '../../../src/chat/json-closer.ts';
import { Vocabulary } from '../../../src/detokenizer/vocabulary.ts';
import { loadFormat } from '../../../src/formats/index.ts';
import { spellings } from '../../../src/parser/format.ts';
import {
  createParser,
  type EndOfStream,
  type MessageFormat,
  type ParserEvent,
} from '../../../src/parser/index.ts';
import { MadeVocabulary } from '../../conformance/vocabulary.ts';

const FORMATS = [
  { reasoning: 'qwen3', tools: 'hermes' },
  { reasoning: 'qwen3', tools: 'qwen3_coder' },
  { reasoning: null, tools: 'hermes' },
  { reasoning: 'qwen3', tools: null },
  { reasoning: null, tools: null },
] as const;

const TOOLS = [
  {
    name: 'note',
    parameters: {
      type: 'object',
      properties: {
        title: { type: 'string' },
        count: { type: 'integer' },
        tags: { type: 'array', items: { type: 'string' } },
      },
    },
  },
];

/** What outputs are made of: markers, halves of them, JSON, quotes, white space, other text. */
const FRAGMENTS = [
  'note',
  'title',
  '\n',
  ' ',
  '\n\n',
  '"',
  "'",
  '`',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '\\',
  '\\u00e',
  'é',
  '😀',
  '1',
  '-2.5',
  'null',
  'True',
  '<',
  '</',
  '>',
  '{"name": "note", "arguments": {"title": "',
  '{"name": "note", "arguments": {"count": 3}}',
  '"title": "x"',
  '"}}',
  '<function=note>',
  '<parameter=title>',
  '\n<parameter=title>',
  '\n<parameter=undeclared>',
  '<parameter=count>',
  '</parameter>',
  '</function>',
  '\n<function=note>\n',
  'Hello.',
  '<think',
  'call>',
];

interface Message {
  reasoning: string;
  content: string;
  calls: { name: string; arguments: string; state: 'open' | 'ended' | 'incomplete' }[];
}

function collect(events: ParserEvent[]): Message {
  const message: Message = { reasoning: '', content: '', calls: [] };
  for (const event of events) {
    if (event.type === 'reasoning' || event.type === 'content') message[event.type] += event.text;
    else if (event.type === 'call-start') {
      expect(event.index).toBe(message.calls.length);
      message.calls.push({ name: event.name, arguments: '', state: 'open' });
    } else {
      const call = message.calls[event.index]!;
      expect(call.state).toBe('open');
      if (event.type === 'call-arguments') call.arguments += event.text;
      else call.state = event.type === 'call-end' ? 'ended' : 'incomplete';
    }
  }
  return message;
}

function isClosable(text: string): boolean {
  const closer = new JsonCloser();
  closer.push(text);
  try {
    JSON.parse(text + closer.closers());
    return true;
  } catch {
    return false;
  }
}

const subsequence = (part: string, whole: string) => {
  let at = 0;
  for (let index = 0; index < whole.length; index++) if (whole[index] === part[at]) at++;
  return at === part.length;
};

for (const names of FORMATS) {
  const format: MessageFormat = await loadFormat(names);
  describe(`reasoning ${names.reasoning}, tools ${names.tools}`, () => {
    const markers = Object.values(format.terminals).flatMap((terminal) =>
      terminal.token === 'never' ? [] : spellings(terminal),
    );
    const made = new MadeVocabulary();
    const byPiece = new Map<string, number>();
    for (const marker of markers) byPiece.set(marker, made.special(marker));
    for (const fragment of FRAGMENTS) byPiece.set(fragment, made.text(fragment));
    for (const marker of markers) byPiece.set(`spelled ${marker}`, made.text(marker));
    for (const byte of [0xf0, 0x9f, 0x98, 0x80, 0xe2])
      byPiece.set(`byte ${byte}`, made.bytes(Uint8Array.of(byte)));
    made.special('<|im_end|>');
    const vocabulary = new Vocabulary(made.table);

    const ids = fc.array(fc.constantFrom(...byPiece.values(), ...byPiece.values()), { maxLength: 40 });
    const ends = fc.constantFrom<EndOfStream>('stop', 'length', 'abort', 'cut');
    const cuts = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 40 });
    const thinking = fc.constantFrom(undefined, true, false);
    const parser = (enable_thinking: boolean | undefined, withIds: boolean) =>
      createParser({
        format,
        tools: TOOLS,
        vocabulary: withIds ? vocabulary : null,
        templateArguments: { enable_thinking },
      });

    it('gives one result for every way to cut a stream of ids, and arguments that can be closed at every step', () => {
      fc.assert(
        fc.property(ids, cuts, ends, thinking, (stream, sizes, end, enable) => {
          const whole = parser(enable, true);
          const expected = collect([...whole.feed({ ids: stream }), ...whole.finish(end)]);
          const pieces = parser(enable, true);
          const events: ParserEvent[] = [];
          for (let at = 0, turn = 0; at < stream.length; turn++) {
            const size = sizes[turn % sizes.length]!;
            events.push(...pieces.feed({ ids: stream.slice(at, at + size) }));
            at += size;
            for (const call of collect(events).calls)
              expect(isClosable(call.arguments), call.arguments).toBe(true);
          }
          events.push(...pieces.finish(end));
          expect(collect(events)).toEqual(expected);
          expect(pieces.reasoningTokens).toBe(whole.reasoningTokens);
          for (const call of expected.calls) {
            expect(call.state).not.toBe('open');
            if (call.state === 'ended') JSON.parse(call.arguments);
          }
        }),
        { numRuns: 400 },
      );
    });

    it('gives one result for every way to cut a text', () => {
      fc.assert(
        fc.property(ids, fc.nat(), ends, thinking, (stream, at, end, enable) => {
          const text = stream.map((id) => vocabulary.text(id)).join('');
          const whole = parser(enable, false);
          const expected = collect([...whole.feed({ text }), ...whole.finish(end)]);
          const cut = text.length === 0 ? 0 : at % text.length;
          const halves = parser(enable, false);
          const events = [
            ...halves.feed({ text: text.slice(0, cut) }),
            ...halves.feed({ text: text.slice(cut) }),
          ];
          expect(collect([...events, ...halves.finish(end)])).toEqual(expected);
          const characters = parser(enable, false);
          const single = [...text].flatMap((character) => characters.feed({ text: character }));
          expect(collect([...single, ...characters.finish(end)])).toEqual(expected);
        }),
        { numRuns: 400 },
      );
    });

    it('loses nothing but markup and says nothing twice', () => {
      fc.assert(
        fc.property(ids, thinking, (stream, enable) => {
          const text = stream.map((id) => vocabulary.text(id)).join('');
          const whole = parser(enable, false);
          const message = collect([...whole.feed({ text }), ...whole.finish('stop')]);
          if (message.calls.length > 0) return;
          // Without calls, what was not delivered is reasoning markers and the layout around them.
          const delivered = message.reasoning.length + message.content.length;
          expect(subsequence(message.content, text)).toBe(true);
          expect(subsequence(message.reasoning, text)).toBe(true);
          const visible = text.replaceAll('<think>', '').replaceAll('</think>', '').replace(/\s/g, '');
          expect(
            (message.reasoning + message.content)
              .replaceAll('<think>', '')
              .replaceAll('</think>', '')
              .replace(/\s/g, '').length,
          ).toBe(visible.length);
          expect(delivered).toBeLessThanOrEqual(text.length);
        }),
        { numRuns: 400 },
      );
    });

    it('leaves a marker spelled in ordinary tokens as text', () => {
      for (const marker of markers) {
        const spelled = parser(false, true);
        const stream = [byPiece.get('Hello.')!, byPiece.get(`spelled ${marker}`)!, byPiece.get('Hello.')!];
        expect(collect([...spelled.feed({ ids: stream }), ...spelled.finish('stop')]).content).toBe(
          `Hello.${marker}Hello.`,
        );
      }
    });
  });
}
