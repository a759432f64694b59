/** Files of the Hub stay with the browser: the second load needs no network, until they are deleted. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { hubCommit, hubListing } from '../fixtures/hub-listing.ts';
import { testOrigin } from './harness/fixture.ts';
import type {} from './harness/page.ts';

const folder = fileURLToPath(new URL('../../models/tiny/', import.meta.url));
const weights = 'onnx/model_q4.onnx';

/** The embedded model, as if it were a repository of the Hub. */
const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
  .map((name) => [name, readFileSync(join(folder, name))] as const);
const size = readFileSync(join(folder, weights)).length;

test('a model of the Hub is downloaded once, goes on where a closed tab left it, and is mended where it was damaged', async ({
  page,
}) => {
  const requested: { name: string; range: string | null }[] = [];
  const headers = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'content-range' };
  let described = 0;
  await page.route('https://huggingface.co/api/models/someone/tiny/revision/main?blobs=true', (route) => {
    described++;
    return route.fulfill({ json: hubListing(files), headers });
  });
  await page.route(`https://huggingface.co/someone/tiny/resolve/${hubCommit}/**`, async (route) => {
    const request = route.request();
    if (request.method() === 'OPTIONS') {
      return route.fulfill({ headers: { ...headers, 'access-control-allow-headers': 'range' } });
    }
    const name = new URL(request.url()).pathname.split(`/resolve/${hubCommit}/`)[1]!;
    const range = request.headers().range ?? null;
    requested.push({ name, range });
    const body = readFileSync(join(folder, name));
    if (range === null) return route.fulfill({ body, headers });
    const from = Number(range.slice('bytes='.length, -1));
    const part = { ...headers, 'content-range': `bytes ${from}-${body.length - 1}/${body.length}` };
    return route.fulfill({ status: 206, body: body.subarray(from), headers: part });
  });
  const visit = async () => {
    await page.goto(`${testOrigin()}/test/browser/harness/index.html`);
    await page.evaluate(() => window.tokenprismReady);
  };
  const load = () =>
    page.evaluate(async () => {
      let progress = { loaded: 0, total: 0, received: 0, bytesPerSecond: null as number | null };
      const engine = await window.tokenprism.createEngine({
        model: 'someone/tiny',
        device: 'wasm',
        cache: 'required',
        onProgress: ({ overall }) => {
          progress = overall;
        },
      });
      const { load, model } = engine.state;
      await engine.close();
      return { ...load, storage: model.storage, progress };
    });
  /** Leaves `kept` bytes of the weights in the store, with another one in the middle where `isDamaged`. */
  const harm = (kept: number, isDamaged: boolean) =>
    page.evaluate(
      async ({ kept, isDamaged, size }) => {
        const root = await navigator.storage.getDirectory();
        const own = await root.getDirectoryHandle('tokenprism-models');
        const files = await own.getDirectoryHandle('files');
        const names: string[] = [];
        for await (const name of (files as unknown as { keys(): AsyncIterable<string> }).keys())
          names.push(name);
        for (const name of names) {
          const handle = await files.getFileHandle(name);
          if ((await handle.getFile()).size !== size) continue;
          const writable = await handle.createWritable({ keepExistingData: true });
          if (isDamaged) await writable.write({ type: 'write', position: size >> 1, data: 'damaged' });
          await writable.truncate(kept);
          await writable.close();
          // A tab that is closed leaves no seal.
          if (!isDamaged) await (await own.getDirectoryHandle('records')).removeEntry(name);
        }
      },
      { kept, isDamaged, size },
    );
  await visit();

  const { storage, progress, ...times } = await load();
  expect(progress.total).toBeGreaterThan(size);
  expect(progress).toMatchObject({ loaded: progress.total, received: progress.total });
  // Files that come too fast have no speed.
  expect(progress.bytesPerSecond ?? 1).toBeGreaterThan(0);
  expect(storage).toEqual({ kept: true, reason: null, persistent: expect.any(Boolean) });
  const names = requested.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['config.json', 'tokenizer.json', weights]));
  expect(described).toBe(1);
  for (const part of [times.download, times.session]) {
    expect(part).toBeGreaterThan(0);
    expect(part).toBeLessThanOrEqual(times.total);
  }
  expect(times.ready).toBeGreaterThanOrEqual(times.total);
  expect(times.warmup).toBe(0);

  requested.length = 0;
  await visit();
  const again = (await load()).progress;
  expect(again).toEqual({ ...progress, received: 0, bytesPerSecond: null });
  expect(requested).toEqual([]);

  await harm(100_000, false);
  expect((await load()).progress).toMatchObject({ loaded: progress.total, received: size - 100_000 });
  expect(requested).toEqual([{ name: weights, range: 'bytes=100000-' }]);

  requested.length = 0;
  await harm(size, true);
  await load();
  expect(requested).toEqual([{ name: weights, range: null }]);

  expect(await page.evaluate(() => window.tokenprism.deleteCachedModels())).toBe(true);
  expect(await page.evaluate(() => window.tokenprism.deleteCachedModels())).toBe(false);
  requested.length = 0;
  await load();
  expect(requested.map(({ name }) => name).sort()).toEqual(names.sort());
  expect(described).toBe(2);
});
