/**
 * What it costs to choose a token from a row of logits on the GPU, in Chromium: reduced there, and read whole and
 * sampled in JavaScript, in turns in the same run. Both must choose the same tokens.
 *
 * `--tokens N` (default 20) and `--rounds N` (default 3); `--vocabulary N` (default 151936); `--adapter any` takes a
 * real GPU.
 */
import { chromium } from 'playwright-core';
import { chromiumArguments, ensureChromium } from '../scripts/chromium.mjs';
import { serveSources } from '../scripts/serve-sources.mjs';
import { cpuMeter } from './decode/cpu-meter.ts';
import { median, numberOption, type Report, rounded } from './report.ts';
import type { SamplingRun, Task } from './sampling/page.ts';

const tasks: Record<string, Pick<Task, 'options' | 'isMasked'>> = {
  greedy: { options: { temperature: 0 }, isMasked: false },
  'greedy, masked, repetition penalty': {
    options: { temperature: 0, repetitionPenalty: 1.1 },
    isMasked: true,
  },
  'top-k 20, top-p 0.95': { options: { temperature: 0.6, topK: 20, topP: 0.95 }, isMasked: false },
  'top-p 0.95': { options: { temperature: 0.6, topP: 0.95 }, isMasked: false },
  'temperature 0.6 alone': { options: { temperature: 0.6 }, isMasked: false },
};

type Measured = SamplingRun & { cpu: number };

export async function run(options: readonly string[] = []): Promise<Report[]> {
  const tokens = numberOption(options, '--tokens', 20);
  const rounds = numberOption(options, '--rounds', 3);
  const vocabulary = numberOption(options, '--vocabulary', 151_936);
  const adapter = options[options.indexOf('--adapter') + 1] === 'any' ? 'any' : 'software';
  const server = await serveSources();
  const browser = await chromium.launch({
    executablePath: ensureChromium(),
    args: chromiumArguments({ adapter }),
  });
  try {
    const page = await browser.newPage();
    await page.goto(`${server.origin}/bench/sampling/index.html`);
    await page.waitForFunction(() => 'sample' in window);
    const meter = await cpuMeter(page);
    const rows: Report['rows'] = [];
    for (const [name, task] of Object.entries(tasks)) {
      const runs: Record<'gpu' | 'cpu', Measured[]> = { gpu: [], cpu: [] };
      // The first round compiles shaders and code, and does not count.
      for (let round = 0; round <= rounds; round++) {
        for (const place of ['gpu', 'cpu'] as const) {
          const before = await meter();
          const result = await page.evaluate(([p, t, n]) => window.sample(p, t, n), [
            place,
            { vocabulary, ...task },
            tokens,
          ] as const);
          const cpu = ((await meter()) - before) / tokens;
          if (round > 0) runs[place].push({ ...result, cpu });
        }
      }
      const answers = new Set([...runs.gpu, ...runs.cpu].map(({ ids }) => ids.join()));
      if (answers.size > 1) throw new Error(`${name}: other tokens are chosen:\n${[...answers].join('\n')}`);
      rows.push(rowOf(name, 'on the GPU', runs.gpu), rowOf(name, 'row read', runs.cpu));
    }
    return [
      {
        title: `Choosing a token, vocabulary of ${vocabulary.toLocaleString('en')}; Chromium ${browser.version()}, medians of ${rounds} rounds of ${tokens} tokens`,
        rows,
        notes: [
          'Both choose the same tokens; the run fails where they do not. Bytes read include rows that the GPU did not settle.',
          'CPU: processor time of the page. On a software adapter the shaders run on the same processor, in other threads.',
        ],
      },
    ];
  } finally {
    await browser.close();
    await server.close();
  }
}

function rowOf(task: string, place: string, runs: Measured[]): Report['rows'][number] {
  const of = (value: (run: Measured) => number) => rounded(median(runs.map(value)));
  const { calls } = runs[0]!;
  return {
    task,
    place,
    dispatches: rounded(calls.dispatches),
    'bind groups': rounded(calls.bindGroups),
    'buffers made': rounded(calls.buffers),
    writes: rounded(calls.writes),
    submits: rounded(calls.submits),
    maps: rounded(calls.maps),
    'bytes read': Math.round(calls.bytesRead),
    'rows read': runs[0]!.readRows,
    'ms of CPU': of(({ cpu }) => cpu),
    'ms a token': of(({ wall }) => wall),
  };
}
