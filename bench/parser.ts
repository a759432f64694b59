/** Cost of the parser per one-token delta, by what the token is part of and by position in the stream. */
import { Vocabulary } from '../src/detokenizer/vocabulary.ts';
import { loadFormat } from '../src/formats/index.ts';
import { createParser, type MessageFormat } from '../src/parser/index.ts';
import { MadeVocabulary } from '../test/conformance/vocabulary.ts';
import { median, type Report } from './report.ts';

const DELTAS = 1_000_000;
const ROUNDS = 3;
const WORDS = [' the', ' model', 'ing', ' word', 's', ' of', ' text', ',', ' and', ' more'];
const TOOLS = [{ name: 'note', parameters: { type: 'object', properties: { title: { type: 'string' } } } }];

/** Microseconds a delta, in the first thousand, around 100,000 and in the last hundredth of the stream. */
interface Cost {
  first: number;
  middle: number;
  last: number;
}

function measure(
  format: MessageFormat,
  vocabulary: Vocabulary,
  opening: number[],
  words: number[],
  isThinking: boolean,
): Cost {
  const parser = createParser({
    format,
    tools: TOOLS,
    vocabulary,
    templateArguments: { enable_thinking: isThinking },
  });
  parser.feed({ ids: opening });
  const times: number[] = [];
  const block = 1000;
  const ids = [0];
  for (let done = 0; done < DELTAS; done += block) {
    const start = performance.now();
    for (let index = 0; index < block; index++) {
      ids[0] = words[index % words.length]!;
      parser.feed({ ids });
    }
    times.push(performance.now() - start);
  }
  const of = (from: number, to: number) => median(times.slice(from, to));
  // A thousand deltas a block: milliseconds a block are microseconds a delta.
  return { first: times[0]!, middle: of(95, 105), last: of(times.length - 10, times.length) };
}

export async function run(): Promise<Report> {
  const hermes = await loadFormat({ reasoning: 'qwen3', tools: 'hermes' });
  const coder = await loadFormat({ reasoning: 'qwen3', tools: 'qwen3_coder' });
  const made = new MadeVocabulary();
  for (const marker of ['<think>', '</think>', '</tool_call>']) made.special(marker);
  const call = made.special('<tool_call>');
  const json = made.text('\n{"name": "note", "arguments": {"title": "');
  const xml = made.text('\n<function=note>\n<parameter=title>\n');
  const words = WORDS.map((word) => made.text(word));
  const vocabulary = new Vocabulary(made.table);
  const subjects: [string, MessageFormat, number[], boolean][] = [
    ['content', hermes, [], false],
    ['reasoning', hermes, [], true],
    ['JSON arguments', hermes, [call, json], false],
    ['XML arguments', coder, [call, xml], false],
  ];
  const rows = subjects.map(([name, format, opening, isThinking]) => {
    const costs = Array.from({ length: ROUNDS }, () =>
      measure(format, vocabulary, opening, words, isThinking),
    );
    const of = (part: keyof Cost) => Number(median(costs.map((cost) => cost[part])).toFixed(2));
    return { 'µs a delta': name, 'at 1k': of('first'), 'at 100k': of('middle'), 'at 1M': of('last') };
  });
  return {
    title: `Parser alone, ${DELTAS.toLocaleString('en')} deltas of one token, medians of ${ROUNDS} rounds`,
    rows,
    notes: ['The first thousand deltas of the first round include compilation by the JavaScript engine.'],
  };
}
