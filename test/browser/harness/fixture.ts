import { type BrowserContext, test as base, expect } from '@playwright/test';
import type {} from './page.ts';

/** Where the repository is served while the tests run. */
export function testOrigin(): string {
  const origin = process.env.TOKENPRISM_TEST_ORIGIN;
  if (!origin)
    throw new Error('The test server is not running: start the tests with "npm run test:browser".');
  return origin;
}

/**
 * The list of requests to other origins than `origin` from now on, filled as they are made. Pages and their workers
 * count alike.
 */
export function foreignRequests(context: BrowserContext, origin: string): string[] {
  const foreign: string[] = [];
  context.on('request', (request) => {
    const url = new URL(request.url());
    const isLocal = url.origin === origin || url.protocol === 'data:' || url.protocol === 'blob:';
    if (!isLocal) foreign.push(request.url());
  });
  return foreign;
}

/**
 * `page` is open on the test page, with `window.tokenprism` set; `origin` is the server's address, below which
 * every file of the repository is served, for example `${origin}/demo/`. With `needsLibrary: false`, a test of
 * something below the library does not wait for it. A request to any other origin fails the
 * test, from the page as from its workers.
 */
export const test = base.extend<{ origin: string; needsLibrary: boolean }>({
  needsLibrary: [true, { option: true }],

  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixture's needs from this pattern.
  origin: async ({}, use) => use(testOrigin()),

  page: async ({ page, context, origin, needsLibrary }, use) => {
    const foreign = foreignRequests(context, origin);
    await page.goto(`${origin}/test/browser/harness/index.html${needsLibrary ? '' : '?without-library'}`);
    await page.evaluate(() => window.tokenprismReady);
    await use(page);
    expect(foreign, 'requests to other origins').toEqual([]);
  },
});

export { expect };
