/** Files of the Hub stay with the browser: the second load needs no network, until the cache is deleted. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { testOrigin } from './harness/fixture.ts';
import type {} from './harness/page.ts';

const folder = fileURLToPath(new URL('../../models/tiny/', import.meta.url));

test('a model of the Hub is loaded once, and again after its files were deleted', async ({ page }) => {
  const requested: string[] = [];
  await page.route('https://huggingface.co/someone/tiny/resolve/main/**', async (route) => {
    const name = new URL(route.request().url()).pathname.split('/resolve/main/')[1]!;
    requested.push(name);
    const headers = { 'access-control-allow-origin': '*' };
    try {
      await route.fulfill({ body: readFileSync(folder + name), headers });
    } catch {
      await route.fulfill({ status: 404, headers });
    }
  });
  await page.goto(`${testOrigin()}/test/browser/harness/index.html`);
  await page.evaluate(() => window.tokenprismReady);
  const load = () =>
    page.evaluate(async () => {
      const engine = await window.tokenprism.createEngine({ model: 'someone/tiny', device: 'wasm' });
      const { load } = engine.state;
      await engine.close();
      return load;
    });

  const times = await load();
  expect(requested).toEqual(expect.arrayContaining(['config.json', 'tokenizer.json', 'onnx/model_q4.onnx']));
  for (const part of [times.download, times.session]) {
    expect(part).toBeGreaterThan(0);
    expect(part).toBeLessThanOrEqual(times.total);
  }
  expect(times.ready).toBeGreaterThanOrEqual(times.total);
  expect(times.warmup).toBe(0);

  const first = requested.length;
  await load();
  expect(requested).toHaveLength(first);

  expect(await page.evaluate(() => window.tokenprism.deleteCachedModels())).toBe(true);
  expect(await page.evaluate(() => window.tokenprism.deleteCachedModels())).toBe(false);
  await load();
  expect(requested).toHaveLength(2 * first);
});
