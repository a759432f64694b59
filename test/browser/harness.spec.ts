import { test as plainTest } from '@playwright/test';
import { expect, foreignRequests, test, testOrigin } from './harness/fixture.ts';

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

/** Outside of the fixture, which would fail these tests as it should. */
plainTest.describe('requests to another origin are seen and blocked', () => {
  plainTest('when the page makes them', async ({ page, context }) => {
    const foreign = foreignRequests(context, testOrigin());
    await page.goto(`${testOrigin()}/test/browser/harness/index.html?without-library`);
    const outcome = await page.evaluate(() => fetch('http://elsewhere.test/a').catch(() => 'blocked'));
    expect(outcome).toBe('blocked');
    expect(foreign).toEqual(['http://elsewhere.test/a']);
  });

  plainTest('when a worker makes them', async ({ page, context }) => {
    const foreign = foreignRequests(context, testOrigin());
    await page.goto(`${testOrigin()}/test/browser/harness/index.html?without-library`);
    const outcome = await page.evaluate(async () => {
      const source = `fetch('http://elsewhere.test/b').catch(() => 'blocked').then(postMessage)`;
      const worker = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })));
      const outcome = await new Promise((resolve) => {
        worker.onmessage = (event) => resolve(event.data);
      });
      worker.terminate();
      return outcome;
    });
    expect(outcome).toBe('blocked');
    expect(foreign).toEqual(['http://elsewhere.test/b']);
  });
});
