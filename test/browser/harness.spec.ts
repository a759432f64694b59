import { expect, test } from './harness/fixture.ts';

test.use({ needsLibrary: false });

test('the browser has WebGPU and gives out an adapter and a device', async ({ page }) => {
  const adapter = await page.evaluate(async () => {
    const adapter = await navigator.gpu?.requestAdapter();
    if (!adapter) return null;
    const device = await adapter.requestDevice();
    device.destroy();
    return { vendor: adapter.info.vendor, architecture: adapter.info.architecture };
  });
  expect(adapter, 'a WebGPU adapter').not.toBeNull();
  expect(adapter?.architecture).not.toBe('');
});

test('a worker has WebGPU too', async ({ page }) => {
  const vendor = await page.evaluate(async () => {
    const source = `navigator.gpu.requestAdapter().then((adapter) => postMessage(adapter.info.vendor))`;
    const worker = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })));
    const vendor = await new Promise<string>((resolve, reject) => {
      worker.onmessage = (event) => resolve(event.data);
      worker.onerror = (event) => reject(new Error(event.message));
    });
    worker.terminate();
    return vendor;
  });
  expect(vendor).not.toBe('');
});

test('the collector can be called', async ({ page }) => {
  expect(await page.evaluate(() => typeof window.gc)).toBe('function');
});

test.describe('requests to another origin', () => {
  test('are seen and blocked when the page makes them', async ({ page }) => {
    test.fail(true, 'the fixture has to fail this test');
    await page.evaluate(() => fetch('http://elsewhere.test/a').catch(() => null));
  });

  test('are seen and blocked when a worker makes them', async ({ page }) => {
    test.fail(true, 'the fixture has to fail this test');
    await page.evaluate(async () => {
      const source = `fetch('http://elsewhere.test/b').catch(() => null).then(() => postMessage('done'))`;
      const worker = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })));
      await new Promise((resolve) => {
        worker.onmessage = resolve;
      });
      worker.terminate();
    });
  });
});
