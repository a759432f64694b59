/** Runs the measurement in a page of Chromium, from the sources. */
import { chromium } from 'playwright-core';
import { chromiumArguments, ensureChromium } from '../../scripts/chromium.mjs';
import { serveSources } from '../../scripts/serve-sources.mjs';
import type { MeasuredCosts } from './costs.ts';

export async function measureInPage(
  deltas: number,
  rounds: number,
): Promise<{ version: string; measured: MeasuredCosts[][] }> {
  const server = await serveSources();
  const browser = await chromium.launch({ executablePath: ensureChromium(), args: chromiumArguments() });
  try {
    const page = await browser.newPage();
    const address = `${server.origin}/bench/parser/index.html`;
    // An isolated page has a clock of 5 µs instead of 100.
    await page.route(address, async (route) => {
      const response = await route.fetch();
      const isolation = {
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-embedder-policy': 'require-corp',
      };
      await route.fulfill({ response, headers: { ...response.headers(), ...isolation } });
    });
    await page.goto(address);
    await page.waitForFunction(() => 'measureCosts' in window);
    const measured: MeasuredCosts[][] = [];
    for (let round = 0; round < rounds; round++) {
      measured.push(
        await page.evaluate(
          ([count, warmUp]) => window.measureCosts(count!, warmUp!),
          [deltas, Math.min(deltas, 100_000)],
        ),
      );
    }
    return { version: browser.version(), measured };
  } finally {
    await browser.close();
    await server.close();
  }
}
