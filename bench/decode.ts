/**
 * What a decoded token costs in Chromium: ours in each way that the model runs in, and `generate()` of transformers.js,
 * on the same files, in turns in the same run. The calls of WebGPU carry over to other machines; times are of this one.
 *
 * `--tokens N` (default 24) and `--rounds N` (default 3); `--context N` (default 75) tokens of prompt; `--top-k N`
 * (default 0: greedy); `--ways captured,static,growing`; `--model DIR` a model folder with `--dtype` (default q4);
 * `--synthetic` a model of Qwen3's shape and vocabulary with random weights; `--gpu-sampling` has ours choose tokens on
 * the GPU, as on a real one; `--adapter any` takes a real GPU.
 */
import { resolve } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { chromiumArguments, ensureChromium } from '../scripts/chromium.mjs';
import { serveSources } from '../scripts/serve-sources.mjs';
import { cpuMeter } from './decode/cpu-meter.ts';
import type { Contender, DecodeModel, DecodeRun } from './decode/page.ts';
import { syntheticConfig, syntheticModel } from './decode/synthetic.ts';
import { median, numberOption, type Report, rounded } from './report.ts';

interface Measured extends DecodeRun {
  /** Milliseconds of processor time of the page's thread. */
  cpu: number;
}

/** Tokens of the short runs, which are subtracted from the long ones: the prompt and what comes once. */
const SHORT = 2;

export async function run(options: readonly string[] = []): Promise<Report[]> {
  const value = (name: string) => (options.includes(name) ? options[options.indexOf(name) + 1] : undefined);
  const tokens = numberOption(options, '--tokens', 24);
  const rounds = numberOption(options, '--rounds', 3);
  const context = numberOption(options, '--context', 75);
  const topK = options.includes('--top-k') ? numberOption(options, '--top-k', 20) : 0;
  const ways = (value('--ways') ?? 'captured,static,growing').split(',') as Contender[];
  const contenders: Contender[] = ['generate', ...ways];
  const folder = value('--model');
  const adapter = value('--adapter') === 'any' ? 'any' : 'software';

  const server = await serveSources({ folders: folder ? [resolve(folder)] : [] });
  const browser = await chromium.launch({
    executablePath: ensureChromium(),
    args: chromiumArguments({ adapter }),
  });
  try {
    const page = await browser.newPage();
    const isSynthetic = options.includes('--synthetic');
    if (isSynthetic) await serveSynthetic(page);
    const model: DecodeModel = {
      folder: isSynthetic ? SYNTHETIC : folder ? `/@fs${resolve(folder)}/` : '/models/tiny/',
      dtype: (value('--dtype') ?? (isSynthetic ? 'fp32' : 'q4')) as DecodeModel['dtype'],
      gpuSampling: options.includes('--gpu-sampling'),
      contextLength: Math.max(2048, context + tokens + SHORT),
    };
    await page.goto(`${server.origin}/bench/decode/index.html`);
    await page.waitForFunction(() => 'decode' in window);
    for (const contender of contenders) {
      await page.evaluate(([m, c]) => window.decode.load(m, c), [model, contender] as const);
    }
    const config = await page.evaluate(
      async (url) => (await fetch(url)).json(),
      `${model.folder}config.json`,
    );
    const vocabulary = Number((config as { vocab_size: number }).vocab_size);
    const prompt = Array.from({ length: context }, (_, index) => (index * 7919 + 13) % (vocabulary - 64));
    const meter = await cpuMeter(page);
    const runs = new Map<Contender, { long: Measured; short: Measured }[]>(
      contenders.map((contender) => [contender, []]),
    );
    // The first round compiles shaders and code, and does not count.
    for (let round = 0; round <= rounds; round++) {
      for (const contender of contenders) {
        const measure = async (count: number): Promise<Measured> => {
          const before = await meter();
          const result = await page.evaluate(([c, p, n, k]) => window.decode.run(c, p, n, k), [
            contender,
            prompt,
            count,
            topK,
          ] as const);
          return { ...result, cpu: (await meter()) - before };
        };
        const short = await measure(SHORT);
        if (round > 0) runs.get(contender)!.push({ short, long: await measure(tokens + SHORT) });
      }
    }
    await page.evaluate(() => window.decode.close());
    assertSameTokens(runs, topK);
    return [report(runs, { tokens, rounds, context, topK, vocabulary, version: browser.version() })];
  } finally {
    await browser.close();
    await server.close();
  }
}

const SYNTHETIC = '/models/synthetic/';

/** Answers requests for a folder that is nowhere. */
async function serveSynthetic(page: Page): Promise<void> {
  const model = Buffer.from(syntheticModel());
  await page.route(`**${SYNTHETIC}**`, async (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname.endsWith('/config.json')) await route.fulfill({ json: syntheticConfig });
    else if (pathname.endsWith('/model.onnx')) await route.fulfill({ body: model });
    else await route.fulfill({ status: 404 });
  });
}

/** Wrong numbers would be fast too. */
function assertSameTokens(runs: Map<Contender, { long: Measured }[]>, topK: number): void {
  if (topK > 0) return;
  const expected = runs.get('generate')![0]!.long.ids.join();
  for (const [contender, rounds] of runs) {
    for (const { long } of rounds) {
      const ids = long.ids.join();
      if (ids !== expected)
        throw new Error(`${contender} writes other tokens than generate():\n${ids}\n${expected}`);
    }
  }
}

interface Setting {
  tokens: number;
  rounds: number;
  context: number;
  topK: number;
  vocabulary: number;
  version: string;
}

function report(
  runs: Map<Contender, { long: Measured; short: Measured }[]>,
  { tokens, rounds, context, topK, vocabulary, version }: Setting,
): Report {
  const of = (contender: Contender, value: (measured: Measured) => number) =>
    median(runs.get(contender)!.map(({ long, short }) => (value(long) - value(short)) / tokens));
  const cpuOfGenerate = of('generate', ({ cpu }) => cpu);
  const rows = [...runs.keys()].map((contender) => {
    const calls = (name: keyof DecodeRun['calls']) =>
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
      'ms a token': rounded(median(pairs.flatMap(({ long }) => long.waits))),
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
