/**
 * What a token costs behind a longer and longer context: ours, `generate()`, and attention alone, which is a model of the
 * same heads and layers without anything else. What a step costs more than at the beginning should be attention's.
 */
import { median, type Report, rounded } from '../report.ts';
import type { BenchPage, Measured } from './bench-page.ts';
import type { DecodeModel } from './contender.ts';
import type { Contender } from './page.ts';
import { longSize } from './synthetic.ts';

export interface CurveOptions {
  contexts: readonly number[];
  ways: readonly Contender[];
  /** Whether ours choose tokens on the GPU. */
  gpuSampling: boolean;
  tokens: number;
  rounds: number;
}

const ATTENTION = 'attention alone';

export async function measureCurve(
  { page, serve, measure, version }: BenchPage,
  { contexts, ways, gpuSampling, tokens, rounds }: CurveOptions,
): Promise<Report> {
  const room = rounds * tokens + 3;
  const isRising = contexts.every((context, at) => context > (at === 0 ? 0 : contexts[at - 1]! + room));
  if (!isRising || !(contexts.at(-1)! + room <= longSize.positions)) {
    throw new Error(
      `The contexts must rise by more than ${room} and end ${room} before ${longSize.positions}: ${contexts.join()}.`,
    );
  }
  const model = (folder: string): DecodeModel => ({
    folder,
    dtype: 'fp32',
    contextLength: longSize.positions,
    gpuSampling,
  });
  const load = async (name: string, folder: string, way: Contender) =>
    page.evaluate(([n, m, w]) => window.decode.load(n, m, w), [name, model(folder), way] as const);
  const whole = await serve('long', longSize);
  for (const way of ['generate', ...ways] as const) await load(way, whole, way);
  await load(ATTENTION, await serve('attention', { ...longSize, isAttentionOnly: true }), ways[0]!);

  const writers = ['generate', ...ways];
  const names = [...writers, ATTENTION];
  const goOn = (name: string, prompt: number[], count: number) =>
    measure(() => page.evaluate(([n, p, c]) => window.decode.goOn(n, p, c), [name, prompt, count] as const));
  const found = new Map<string, Measured[][]>(names.map((name) => [name, []]));
  let length = 0;
  for (const context of contexts) {
    // Two tokens more find the way that these steps take, and with it room for what comes: buffers double at powers of 2.
    const prompt = Array.from(
      { length: context - length },
      (_, index) => ((length + index) * 7919 + 13) % (longSize.vocabulary - 64),
    );
    for (const name of names) {
      await goOn(name, prompt, 1);
      await goOn(name, [], 2);
      found.get(name)!.push([]);
    }
    for (let round = 0; round < rounds; round++) {
      for (const name of names)
        found
          .get(name)!
          .at(-1)!
          .push(await goOn(name, [], tokens));
    }
    assertSameTokens(writers.map((name) => found.get(name)!.at(-1)!));
    length = context + rounds * tokens + 3;
  }
  await page.evaluate(() => window.decode.close());

  const wait = (runs: Measured[]) => median(runs.flatMap(({ waits }) => waits));
  const rows = names.flatMap((name) =>
    contexts.map((context, at) => {
      const runs = found.get(name)![at]!;
      const first = found.get(name)![0]!;
      const calls = (kind: keyof Measured['calls']) =>
        rounded(median(runs.map((run) => run.calls[kind] / tokens)));
      return {
        contender: name === 'generate' ? 'generate()' : name,
        context,
        'ms a token': rounded(wait(runs)),
        'of the first': rounded(wait(runs) / wait(first)),
        'more than the first, ms': rounded(wait(runs) - wait(first)),
        'ms of CPU': rounded(median(runs.map(({ cpu }) => cpu / tokens))),
        dispatches: calls('dispatches'),
        'bind groups': calls('bindGroups'),
        'buffers made': calls('buffers'),
      };
    }),
  );
  return {
    title: `Per decoded token behind a context, greedy, ${longSize.layers} layers, vocabulary of ${longSize.vocabulary}; Chromium ${version}, medians of ${rounds} rounds of ${tokens} tokens`,
    rows,
    notes: [
      'All but attention alone write the same tokens; the run fails where they do not.',
      'Each context is read behind what was written at the one before, and nothing is read twice.',
    ],
  };
}

function assertSameTokens(writers: Measured[][]): void {
  const texts = writers.map((runs) => runs.flatMap(({ ids }) => ids).join());
  if (new Set(texts).size > 1) throw new Error(`Other tokens than those of generate():\n${texts.join('\n')}`);
}
