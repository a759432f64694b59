/**
 * Tokens for each pass of the embedded model on WASM, through the public interface: ten conversations with strict
 * tools and thinking, sampled at temperature 1, and answers in which nothing can be copied. Every way has to write the
 * same tokens.
 */
import { conversations, type Reading, Talk } from '../test/unit/engine/conversations.ts';
import { Drafts } from '../worker/drafts/drafts.ts';
import { numberOption, type Report, rounded } from './report.ts';

/** As on a device where a pass waits for the weights: tokens more cost little. On WASM they cost what they compute. */
const cheapRows = () => new Drafts({ pass: () => {}, chosen: () => {}, of: (tokens) => 1 + 0.02 * tokens });

const ways: Record<string, () => Drafts | null> = {
  'no drafts': () => null,
  'drafts by the costs measured here': () => new Drafts(),
  'drafts as if tokens more cost 2 %': cheapRows,
};
const alone = 'the same, each conversation alone';

/** Asked at a temperature at which the model rambles. */
const rambling = [
  'Tell me something new.',
  'Describe a garden.',
  'What is on your mind?',
  'Invent a word.',
  'Write about the sea.',
  'Count your blessings.',
];

/** Options: `--conversations N` (default 10), `--tokens N` (default 96) of each answer without copies. */
export async function run(options: readonly string[] = []): Promise<Report[]> {
  const count = numberOption(options, '--conversations', conversations.length);
  return [await talks(count), await ramblings(numberOption(options, '--tokens', 96))];
}

async function talks(count: number): Promise<Report> {
  const held = new Map<string, Reading[]>();
  const shared = new Map<string, Talk>();
  for (const [way, drafts] of Object.entries(ways)) {
    shared.set(way, await Talk.start({ drafts: drafts(), toolStrictness: 'parameter' }));
    held.set(way, shared.get(way)!.readings);
  }
  held.set(alone, []);
  for (const [seed, questions] of conversations.slice(0, count).entries()) {
    for (const talk of shared.values()) await talk.hold(questions, { seed });
    const talk = await Talk.start({ drafts: cheapRows(), toolStrictness: 'parameter' });
    await talk.hold(questions, { seed });
    await talk.close();
    held.get(alone)!.push(...talk.readings);
  }
  for (const talk of shared.values()) await talk.close();
  return {
    title: `${count} conversations with strict tools and thinking`,
    rows: rowsOf(held),
    notes: ['forced: tokens that the grammar left no choice about. alone: no earlier answers to copy from.'],
  };
}

async function ramblings(tokens: number): Promise<Report> {
  const held = new Map<string, Reading[]>();
  const talks = new Map<string, Talk>();
  for (const [way, drafts] of Object.entries(ways)) {
    talks.set(way, await Talk.start({ drafts: drafts() }));
    held.set(way, talks.get(way)!.readings);
  }
  for (const [seed, question] of rambling.entries()) {
    for (const talk of talks.values())
      await talk.hold([question], { seed, temperature: 2, topK: 0, maxTokens: tokens, tools: false });
  }
  for (const talk of talks.values()) await talk.close();
  return {
    title: `${rambling.length} answers in which nothing can be copied`,
    rows: rowsOf(held),
    notes: [],
  };
}

/** @throws Error where two ways did not write the same */
function rowsOf(held: ReadonlyMap<string, readonly Reading[]>): Report['rows'] {
  const all = [...held];
  const written = all.map(([, readings]) => JSON.stringify(readings.map(({ written }) => written)));
  if (new Set(written).size > 1) throw new Error('With drafts the model wrote other tokens.');
  const sum = (readings: readonly Reading[], of: (reading: Reading) => number) =>
    readings.reduce((total, reading) => total + of(reading), 0);
  const cpu = (readings: readonly Reading[]) => sum(readings, ({ decodeCpu }) => decodeCpu);
  const [[, without]] = all as [[string, readonly Reading[]]];
  return all.map(([way, readings]) => {
    const tokens = sum(readings, ({ written }) => written.length);
    const forwards = sum(readings, ({ timings }) => timings.forwards);
    return {
      way,
      answers: readings.length,
      tokens,
      forced: sum(readings, ({ timings }) => timings.forcedTokens),
      drafted: sum(readings, ({ timings }) => timings.draftedTokens),
      accepted: sum(readings, ({ timings }) => timings.acceptedTokens),
      forwards,
      'tokens a forward': rounded(tokens / forwards),
      'ms of CPU a token': rounded(cpu(readings) / tokens),
      'of no drafts': rounded(cpu(readings) / cpu(without)),
    };
  });
}
