/**
 * Tokens for each pass of the embedded model on WASM, through the public interface: ten conversations with strict
 * tools and thinking, sampled at temperature 1, and answers in which nothing can be copied. Every way has to write the
 * same tokens.
 */
import { type Asking, conversations, type Reading, Talk } from '../test/unit/engine/conversations.ts';
import { Drafts } from '../worker/drafts/drafts.ts';
import { costsOf, costsOfReplay, OfPrompt } from './drafts/replay.ts';
import { numberOption, type Report, rounded } from './report.ts';

/** As on a device where a pass waits for the weights: tokens more cost little. On WASM they cost what they compute. */
const cheapTokens = costsOf(0.02);

const ways: Record<string, () => Drafts | null> = {
  'no drafts': () => null,
  'drafts by the costs measured here': () => new Drafts(),
  'as if a token more cost 2 %': () => new Drafts(cheapTokens),
  'the same, from the prompt alone': () => new OfPrompt(cheapTokens),
};

/** Asked at a temperature at which the model rambles. */
const rambling = ['Tell me something new.', 'Describe a garden.', 'Invent a word.', 'Write about the sea.'];

/** Options: `--conversations N` (default 10), `--tokens N` (default 64) of each answer without copies. */
export async function run(options: readonly string[] = []): Promise<Report[]> {
  const count = numberOption(options, '--conversations', conversations.length);
  const maxTokens = numberOption(options, '--tokens', 64);
  const talks = await everyWay('parameter', conversations.slice(0, count), {});
  const asked = rambling.map((question) => [question]);
  const ramblings = await everyWay('auto', asked, { temperature: 2, topK: 0, maxTokens, tools: false });
  return [
    {
      title: `${count} conversations with strict tools and thinking`,
      rows: rowsOf(talks),
      notes: ['forced: tokens that the grammar left no choice about.'],
    },
    costsOfReplay([...talks.values()][0]!),
    { title: `${asked.length} answers in which nothing can be copied`, rows: rowsOf(ramblings), notes: [] },
  ];
}

/** Holds conversations in all ways, in turns. */
async function everyWay(
  toolStrictness: 'auto' | 'parameter',
  held: readonly string[][],
  asking: Omit<Asking, 'seed'>,
): Promise<Map<string, Reading[]>> {
  const talks = new Map<string, Talk>();
  for (const [way, drafts] of Object.entries(ways)) {
    talks.set(way, await Talk.start({ drafts: drafts(), toolStrictness }));
  }
  for (const [seed, questions] of held.entries()) {
    for (const talk of talks.values()) await talk.hold(questions, { ...asking, seed });
  }
  for (const talk of talks.values()) await talk.close();
  return new Map([...talks].map(([way, { readings }]) => [way, readings]));
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
