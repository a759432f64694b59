/**
 * What a decoded token costs in Chromium: ours in each way that the model runs in, and `generate()` of transformers.js,
 * on the same files, in turns in the same run. The calls of WebGPU carry over to other machines; times are of this one.
 *
 * Three tables: greedy, with top_k, and behind longer and longer contexts. `--only greedy|top-k|curve` is one of them.
 *
 * For the first two `--tokens N` (default 24) and `--rounds N` (default 3); `--context N` (default 75) tokens of prompt;
 * `--top-k N` (default 20); `--ways captured,static,growing`; `--model DIR` a model folder with `--dtype` (default q4);
 * `--synthetic` a model of Qwen3's shape and vocabulary with random weights; `--gpu-sampling` has ours choose tokens on
 * the GPU, as on a real one.
 *
 * For the curve `--contexts 256,1024,2048,4000`, `--curve-ways static` (on a real GPU `captured,static`), and
 * `--curve-rounds N` (default 2) of `--curve-tokens N` (default 6).
 *
 * `--adapter any` takes a real GPU.
 */
import { resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { type BenchPage, type Measured, openBenchPage } from './decode/bench-page.ts';
import type { DecodeModel } from './decode/contender.ts';
import { measureCurve } from './decode/curve.ts';
import type { Contender } from './decode/page.ts';
import { wideSize } from './decode/synthetic.ts';
import { median, numberOption, type Report, rounded } from './report.ts';

/** Tokens of the short runs, which are subtracted from the long ones: the prompt and what comes once. */
const SHORT = 2;

const tables = ['greedy', 'top-k', 'curve'];

export async function run(options: readonly string[] = []): Promise<Report[]> {
  const value = (name: string) => (options.includes(name) ? options[options.indexOf(name) + 1] : undefined);
  const list = (name: string, otherwise: string) => (value(name) ?? otherwise).split(',');
  const tokens = numberOption(options, '--tokens', 24);
  const rounds = numberOption(options, '--rounds', 3);
  const context = numberOption(options, '--context', 75);
  const wanted = options.includes('--only') ? [value('--only')] : tables;
  if (!wanted.every((table) => tables.includes(table!))) {
    throw new Error(`--only has no ${value('--only')}; it has ${tables.join(', ')}.`);
  }
  const folder = value('--model');
  const isSynthetic = options.includes('--synthetic');
  const adapter = value('--adapter') === 'any' ? 'any' : 'software';
  const gpuSampling = options.includes('--gpu-sampling');
  const bench = await openBenchPage(adapter, folder ? [resolve(folder)] : []);
  try {
    const reports: Report[] = [];
    if (wanted.includes('greedy') || wanted.includes('top-k')) {
      const model: DecodeModel = {
        folder: isSynthetic
          ? await bench.serve('wide', wideSize)
          : folder
            ? `/@fs${resolve(folder)}/`
            : '/models/tiny/',
        dtype: (value('--dtype') ?? (isSynthetic ? 'fp32' : 'q4')) as DecodeModel['dtype'],
        gpuSampling,
        contextLength: Math.max(2048, context + tokens + SHORT),
      };
      const contenders = ['generate', ...list('--ways', 'captured,static,growing')] as Contender[];
      for (const contender of contenders) {
        await bench.page.evaluate(([m, c]) => window.decode.load(c, m, c), [model, contender] as const);
      }
      const vocabulary = await vocabularyOf(bench.page, model);
      for (const topK of [0, numberOption(options, '--top-k', 20)]) {
        if (!wanted.includes(topK > 0 ? 'top-k' : 'greedy')) continue;
        const setting = { tokens, rounds, context, topK, vocabulary };
        reports.push(await measureTokens(bench, contenders, setting));
      }
      await bench.page.evaluate(() => window.decode.close());
    }
    if (wanted.includes('curve')) {
      reports.push(
        await measureCurve(bench, {
          contexts: list('--contexts', '256,1024,2048,4000').map(Number),
          ways: list('--curve-ways', adapter === 'any' ? 'captured,static' : 'static') as Contender[],
          gpuSampling,
          tokens: numberOption(options, '--curve-tokens', 6),
          rounds: numberOption(options, '--curve-rounds', 2),
        }),
      );
    }
    return reports;
  } finally {
    await bench.close();
  }
}

async function vocabularyOf(page: Page, { folder }: DecodeModel): Promise<number> {
  const config = await page.evaluate(async (url) => (await fetch(url)).json(), `${folder}config.json`);
  return Number((config as { vocab_size: number }).vocab_size);
}

interface Setting {
  tokens: number;
  rounds: number;
  context: number;
  topK: number;
  vocabulary: number;
}

/** The contenders, loaded under their own names, in turns. */
async function measureTokens(
  { page, measure, version }: BenchPage,
  contenders: readonly Contender[],
  setting: Setting,
): Promise<Report> {
  const { tokens, rounds, context, topK, vocabulary } = setting;
  const prompt = Array.from({ length: context }, (_, index) => (index * 7919 + 13) % (vocabulary - 64));
  const runs = new Map<Contender, { long: Measured; short: Measured }[]>(
    contenders.map((contender) => [contender, []]),
  );
  // The first round compiles shaders and code, and does not count.
  for (let round = 0; round <= rounds; round++) {
    for (const contender of contenders) {
      const write = (count: number) =>
        measure(() =>
          page.evaluate(([c, p, n, k]) => window.decode.run(c, p, n, k), [
            contender,
            prompt,
            count,
            topK,
          ] as const),
        );
      const short = await write(SHORT);
      if (round > 0) runs.get(contender)!.push({ short, long: await write(tokens + SHORT) });
    }
  }
  if (topK === 0) assertSameTokens(runs);
  return report(runs, setting, version);
}

/** Wrong numbers would be fast too. */
function assertSameTokens(runs: Map<Contender, { long: Measured }[]>): void {
  const expected = runs.get('generate')![0]!.long.ids.join();
  for (const [contender, rounds] of runs) {
    for (const { long } of rounds) {
      const ids = long.ids.join();
      if (ids !== expected)
        throw new Error(`${contender} writes other tokens than generate():\n${ids}\n${expected}`);
    }
  }
}

function report(
  runs: Map<Contender, { long: Measured; short: Measured }[]>,
  { tokens, rounds, context, topK, vocabulary }: Setting,
  version: string,
): Report {
  const of = (contender: Contender, value: (measured: Measured) => number) =>
    median(runs.get(contender)!.map(({ long, short }) => (value(long) - value(short)) / tokens));
  const cpuOfGenerate = of('generate', ({ cpu }) => cpu);
  const waitOf = (contender: Contender) => median(runs.get(contender)!.flatMap(({ long }) => long.waits));
  const rows = [...runs.keys()].map((contender) => {
    const calls = (name: keyof Measured['calls']) =>
      rounded(of(contender, (measured) => measured.calls[name]));
    const pairs = runs.get(contender)!;
    const cpu = of(contender, (measured) => measured.cpu);
    return {
      contender: contender === 'generate' ? 'generate()' : contender,
      dispatches: calls('dispatches'),
      'bind groups': calls('bindGroups'),
      'buffers made': calls('buffers'),
      writes: calls('writes'),
      submits: calls('submits'),
      maps: calls('maps'),
      'bytes read': calls('bytesRead'),
      'ms of CPU': rounded(cpu),
      'CPU, of generate()': rounded(cpu / cpuOfGenerate),
      'ms of encoding': pairs[0]!.long.encode.length
        ? rounded(median(pairs.flatMap(({ long }) => long.encode)))
        : '',
      'ms a token': rounded(waitOf(contender)),
      'time, of generate()': rounded(waitOf(contender) / waitOf('generate')),
    };
  });
  const sampling = topK > 0 ? `top_k ${topK} at temperature 1` : 'greedy';
  return {
    title: `Per decoded token, ${sampling}, vocabulary of ${vocabulary.toLocaleString('en')}, ${context} tokens of prompt; Chromium ${version}, medians of ${rounds} rounds of ${tokens} tokens`,
    rows,
    notes: [
      topK > 0 ? 'Each draws its own tokens.' : 'All write the same tokens; the run fails where they do not.',
      'CPU: processor time of the page, which runs everything here: encoding and JavaScript, not the device.',
    ],
  };
}
