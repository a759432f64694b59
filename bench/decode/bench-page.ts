/** The page of the benchmark in a browser, with models that exist only here. */
import { type Browser, chromium, type Page } from 'playwright-core';
import { chromiumArguments, ensureChromium } from '../../scripts/chromium.mjs';
import { serveSources } from '../../scripts/serve-sources.mjs';
import type { DecodeRun } from './contender.ts';
import { cpuMeter } from './cpu-meter.ts';
import { type SyntheticSize, syntheticConfig, syntheticModel } from './synthetic.ts';

export interface Measured extends DecodeRun {
  /** Milliseconds of processor time of the page's thread. */
  cpu: number;
}

export interface BenchPage {
  page: Page;
  /** Chromium's. */
  version: string;
  /** Serves a model of this size, and gives its folder. */
  serve(name: string, size: SyntheticSize): Promise<string>;
  /** Measures what `work` does on the page. */
  measure(work: () => Promise<DecodeRun>): Promise<Measured>;
  close(): Promise<void>;
}

/** @param folders of this machine, which the page may read below `/@fs/` */
export async function openBenchPage(adapter: 'any' | 'software', folders: string[]): Promise<BenchPage> {
  const server = await serveSources({ folders });
  let browser: Browser | undefined;
  const close = async () => {
    await browser?.close();
    await server.close();
  };
  try {
    browser = await chromium.launch({
      executablePath: ensureChromium(),
      args: chromiumArguments({ adapter }),
    });
    const page = await browser.newPage();
    const broken = new Promise<never>((_, reject) => page.on('pageerror', reject));
    await page.goto(`${server.origin}/bench/decode/index.html`);
    // The sources are transformed while the page asks for them.
    await Promise.race([
      page.waitForFunction(() => 'decode' in window, undefined, { timeout: 120_000 }),
      broken,
    ]);
    broken.catch(() => {});
    const meter = await cpuMeter(page);
    return {
      page,
      version: browser.version(),
      serve: (name, size) => serveModel(page, `/synthetic/${name}/`, size),
      measure: async (work) => {
        const before = await meter();
        const run = await work();
        return { ...run, cpu: (await meter()) - before };
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Answers requests for a folder that is nowhere. */
async function serveModel(page: Page, folder: string, size: SyntheticSize): Promise<string> {
  const model = Buffer.from(syntheticModel(size));
  await page.route(`**${folder}**`, async (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname.endsWith('/config.json')) await route.fulfill({ json: syntheticConfig(size) });
    else if (pathname.endsWith('/model.onnx')) await route.fulfill({ body: model });
    else await route.fulfill({ status: 404 });
  });
  return folder;
}
