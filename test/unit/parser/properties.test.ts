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
  { reasoning: 'deepseek_r1', tools: 'deepseek_v3' },
  { reasoning: 'deepseek_v3', tools: 'deepseek_v31' },
  { reasoning: 'deepseek_v3', tools: 'deepseek_v32' },
  { reasoning: 'deepseek_v4', tools: 'deepseek_v4' },
  { reasoning: 'deepseek_v41', tools: 'deepseek_v41' },
  { reasoning: 'kimi_k2', tools: 'kimi_k2' },
  { reasoning: 'minimax_m2', tools: 'minimax_m2' },
  { reasoning: 'glm45', tools: 'glm45' },
  { reasoning: 'mistral', tools: 'mistral' },
  { reasoning: null, tools: 'llama3_json' },
  { reasoning: null, tools: 'pythonic' },
  { reasoning: 'gptoss', tools: 'gptoss' },
  { reasoning: 'granite', tools: 'granite' },
  { reasoning: 'granite_thinking', tools: 'qwen3_coder' },
  { reasoning: 'minimax_m2_append_think', tools: 'minimax_m2' },
  { reasoning: null, tools: 'llama4_json' },
  { reasoning: null, tools: 'llama4_pythonic' },
  { reasoning: 'nemotron_v3', tools: 'qwen3_coder' },
  { reasoning: 'seed_oss', tools: 'seed_oss' },
  { reasoning: 'step3', tools: 'step3' },
  { reasoning: 'step3p5', tools: 'step3p5' },
  { reasoning: 'ernie45', tools: 'ernie45' },
  { reasoning: 'hunyuan_a13b', tools: 'hunyuan_a13b' },
  { reasoning: 'hy_v3', tools: 'hy_v3' },
  { reasoning: 'olmo3', tools: 'olmo3' },
  { reasoning: 'gemma4', tools: 'gemma4' },
  { reasoning: null, tools: 'functiongemma' },
  { reasoning: 'holo2', tools: 'hermes' },
  { reasoning: 'think_tags', tools: 'hermes' },
  { reasoning: null, tools: 'phi4_mini' },
  { reasoning: 'ling3', tools: 'ling3' },
  { reasoning: 'poolside_v1', tools: 'poolside_v1' },
  { reasoning: 'kimi_k3', tools: 'kimi_k3' },
  { reasoning: 'minimax_m3', tools: 'minimax_m3' },
  { reasoning: null, tools: 'longcat' },
  { reasoning: 'qwen3', tools: 'granite4' },
  { reasoning: null, tools: 'granite-20b-fc' },
  { reasoning: 'qwen3', tools: 'lfm2' },
  { reasoning: null, tools: 'internlm' },
  { reasoning: null, tools: 'jamba' },
  { reasoning: null, tools: 'phi4_mini_json' },
  { reasoning: null, tools: 'xlam' },
  { reasoning: null, tools: 'gigachat3' },
  { reasoning: 'gigachat35', tools: 'gigachat35' },
  { reasoning: 'think_tags', tools: 'minimax' },
  { reasoning: 'solar_open2', tools: 'solar_open2' },
  { reasoning: 'k2_horizon', tools: 'k2_horizon' },
  { reasoning: null, tools: 'dots' },
  { reasoning: 'plamo3', tools: 'plamo3' },
  { reasoning: 'apriel', tools: 'apriel' },
  { reasoning: 'qwen3', tools: 'mirothinker' },
  { reasoning: 'apertus', tools: 'apertus' },
  { reasoning: 'qwen3', tools: 'minicpm5' },
  { reasoning: 'cohere_command3', tools: 'cohere_command3' },
  { reasoning: 'inkling', tools: 'inkling' },
] as const;

/** What begins the content where channels are told apart. */
const CONTENT_OPENERS: Readonly<Record<string, readonly string[]>> = {
  gptoss: ['<|channel|>', 'final', '<|message|>'],
  inkling: ['<|content_text|>'],
};

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
  '[note(title="',
  'note(count=3)',
  ')]',
  '(',
  ')',
  '=',
  ';',
  '```',
  'functions.note:0',
  ' to=functions.note',
  'final',
  'analysis',
  'commentary',
  'call:note{',
  'title:',
  '{"note": {"count": 3}}',
  '[{"name": "note", "arguments": {',
  'key="title" type="string"',
  '<b>',
  '&lt;',
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

const endsInPart = (text: string, marker: string) =>
  Array.from(marker, (_, length) => marker.slice(0, length)).some(
    (part) => part !== '' && text.endsWith(part),
  );

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
    const spelledOut = Object.values(format.terminals).flatMap((terminal) =>
      terminal.token === 'never' ? spellings(terminal) : [],
    );
    for (const fragment of [...FRAGMENTS, ...spelledOut]) byPiece.set(fragment, made.text(fragment));
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
        { numRuns: 250 },
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
        { numRuns: 250 },
      );
    });

    it('gives one result for ids and for their text, where ids spell no marker that they are not', () => {
      const marks = new Set(markers.map((marker) => byPiece.get(marker)!));
      const count = (text: string) => markers.reduce((sum, marker) => sum + text.split(marker).length - 1, 0);
      fc.assert(
        fc.property(ids, ends, (stream, end) => {
          const text = stream.map((id) => vocabulary.text(id)).join('');
          const meant = stream.reduce((sum, id) => sum + (marks.has(id) ? count(vocabulary.text(id)) : 0), 0);
          fc.pre(count(text) === meant && !text.includes('\ufffd') && !text.includes('<|im_end|>'));
          // Half a marker at the end may still become one in text, not in ids.
          fc.pre(end === 'stop' || !markers.some((marker) => endsInPart(text, marker)));
          const read = parser(undefined, true);
          const expected = collect([...read.feed({ ids: stream }), ...read.finish(end)]);
          const plain = parser(undefined, false);
          expect(collect([...plain.feed({ text }), ...plain.finish(end)])).toEqual(expected);
        }),
        { numRuns: 250 },
      );
    });

    it('gives every character one owner, and delivers what reasoning and content own', () => {
      fc.assert(
        fc.property(ids, thinking, ends, fc.boolean(), (stream, enable, end, withIds) => {
          const text = stream.map((id) => vocabulary.text(id)).join('');
          const whole = parser(enable, withIds);
          const message = collect([
            ...whole.feed(withIds ? { ids: stream } : { text }),
            ...whole.finish(end),
          ]);
          const { owners } = whole;
          const isChannelled = format.channels !== null;
          if (!withIds)
            expect(owners.reasoning + owners.content + owners.call + owners.markup).toBe(text.length);
          // Between blocks of a channel stands a line break that is nobody's.
          // Content may begin with what the prompt has of it.
          const preface = format.reasoning?.keptAfter ?? '';
          const content = message.content.slice(message.content.startsWith(preface) ? preface.length : 0);
          const isPrefaced = preface !== '' && enable !== false;
          if (!isChannelled) {
            expect(message.reasoning.length).toBe(owners.reasoning);
            expect((isPrefaced ? content : message.content).length).toBe(owners.content);
          }
          if (message.calls.length === 0 && !withIds && !isChannelled && !isPrefaced) {
            expect(subsequence(message.content, text)).toBe(true);
            expect(subsequence(message.reasoning, text)).toBe(true);
          }
        }),
        { numRuns: 250 },
      );
    });

    it('leaves a marker spelled in ordinary tokens as text', () => {
      for (const marker of markers) {
        const spelled = parser(false, true);
        const opener = (CONTENT_OPENERS[names.tools ?? ''] ?? []).map((piece) => byPiece.get(piece)!);
        const stream = [
          ...opener,
          byPiece.get('Hello.')!,
          byPiece.get(`spelled ${marker}`)!,
          byPiece.get('Hello.')!,
        ];
        expect(collect([...spelled.feed({ ids: stream }), ...spelled.finish('stop')]).content).toBe(
          `Hello.${marker}Hello.`,
        );
      }
    });
  });
}
