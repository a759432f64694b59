/**
 * `npm run picture`: the README's picture, docs/demo.png, from the running demo: a thought, a tool call with its
 * result, and the answer of the embedded model.
 */
import { fileURLToPath } from 'node:url';
import { chromiumArguments, ensureChromium } from './chromium.mjs';
import { setup } from './setup.mjs';

const path = (relative) => fileURLToPath(new URL(`../${relative}`, import.meta.url));

async function main() {
  setup();
  const { chromium } = await import('@playwright/test');
  const { build, preview } = await import('vite');
  const shared = { configFile: path('vite.config.ts'), mode: 'demo', logLevel: 'warn' };
  await build(shared);
  const server = await preview({ ...shared, preview: { port: 0, open: false } });
  const browser = await chromium.launch({ executablePath: ensureChromium(), args: chromiumArguments() });
  try {
    const page = await browser.newPage({
      viewport: { width: 1120, height: 700 },
      deviceScaleFactor: 2,
      colorScheme: 'light',
    });
    await page.goto(`http://localhost:${server.httpServer.address().port}/?device=wasm`);
    await page.getByRole('button', { name: 'What is 23 * 19?' }).click();
    await page.locator('article[aria-busy="false"]').waitFor({ timeout: 120_000 });
    await page.getByLabel('Your message').fill("What's the weather in Paris in celsius?");
    await page.keyboard.press('Enter');
    const answer = page.getByRole('article').last();
    await page.locator('article:last-of-type[aria-busy="false"]').nth(1).waitFor({ timeout: 120_000 });
    await answer
      .getByRole('button', { name: /^Thought/ })
      .first()
      .click();
    await page.mouse.move(0, 0);
    await page.evaluate(() => {
      document.activeElement?.blur();
      scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' });
    });
    await page.screenshot({ path: path('docs/demo.png') });
  } finally {
    await browser.close();
    await server.close();
  }
}

try {
  await main();
  console.log('docs/demo.png');
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
process.exit();
