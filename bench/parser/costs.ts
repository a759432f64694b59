/** Microseconds a one-token delta, of the parser alone and of the whole way over the page. Runs in Node and in pages. */
import { Vocabulary } from '../../src/detokenizer/vocabulary.ts';
import { loadFormat } from '../../src/formats/index.ts';
import { createParser } from '../../src/parser/index.ts';
import type { TokenTable } from '../../src/protocol.ts';
import { openPage } from './page-path.ts';
import { type MeasuredStream, measuredStreams, TOOL } from './streams.ts';

/** Deltas between two looks at the clock: few, so that most blocks are not interrupted by other programs. */
export const BLOCK = 250;

/** Microseconds a delta, block by block. */
export type Costs = number[];

export interface MeasuredCosts {
  stream: string;
  parser: Costs;
  page: Costs;
}

/** Feeds one delta and waits until what it brings is there. @returns the characters that came */
export type Step = (index: number) => number | Promise<number>;

/** Takes `deltas` steps, or what it can in `patience` milliseconds. Checks that all the text came out. */
export async function timed(
  step: Step,
  stream: MeasuredStream,
  deltas: number,
  patience = Number.POSITIVE_INFINITY,
): Promise<Costs> {
  const costs: Costs = [];
  let characters = 0;
  let spent = 0;
  let done = 0;
  while (done < deltas && spent < patience) {
    const start = performance.now();
    const end = done + BLOCK;
    for (; done < end; done++) {
      const came = step(done);
      characters += typeof came === 'number' ? came : await came;
    }
    const milliseconds = performance.now() - start;
    spent += milliseconds;
    costs.push((1000 * milliseconds) / BLOCK);
  }
  const { words } = stream;
  let expected = 0;
  for (let index = 0; index < done; index++) expected += said(words[index % words.length]!.text, stream);
  if (characters !== expected) {
    throw new Error(`${stream.name}: ${characters} characters came out, ${expected} should have.`);
  }
  return costs;
}

/** Characters of a word as its part of the message has them: in arguments it is JSON. */
function said(word: string, { opening }: MeasuredStream): number {
  return opening.text.includes('<parameter') ? JSON.stringify(word).length - 2 : word.length;
}

async function parserStep(stream: MeasuredStream, table: TokenTable): Promise<Step> {
  const parser = createParser({
    format: await loadFormat(stream.formats),
    tools: [TOOL],
    vocabulary: new Vocabulary(table),
    templateArguments: { enable_thinking: stream.isThinking },
  });
  parser.feed({ ids: stream.opening.ids });
  const { words } = stream;
  return (index) => {
    let characters = 0;
    for (const event of parser.feed({ ids: [words[index % words.length]!.id] })) {
      if ('text' in event) characters += event.text.length;
    }
    return characters;
  };
}

/** Measures every stream once. Nothing of the first `warmUp` deltas counts: the engine compiles meanwhile. */
export async function measureCosts(deltas: number, warmUp: number): Promise<MeasuredCosts[]> {
  const { streams, table } = measuredStreams();
  const measured: MeasuredCosts[] = [];
  for (const stream of streams) {
    const run = async (count: number) => {
      const parser = await timed(await parserStep(stream, table), stream, count);
      const page = await openPage(stream, table);
      const costs = { parser, page: await timed(page.step, stream, count) };
      await page.close();
      return costs;
    };
    await run(warmUp);
    measured.push({ stream: stream.name, ...(await run(deltas)) });
  }
  return measured;
}
