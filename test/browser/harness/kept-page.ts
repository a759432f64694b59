import type { Page } from '@playwright/test';
import { expect, foreignRequests, test as inFreshPage, testOrigin } from './fixture.ts';

/** The page, and the requests to other origins that it and its workers made. */
interface Kept {
  page: Page;
  foreign: string[];
}

/**
 * `keptPage` is one page for all tests that ask for it, in whatever file: what its modules hold is there for the next
 * one. It is the test page without the library; after a failed test there is a new one.
 */
export const test = inFreshPage.extend<{ keptPage: Page }, { kept: Kept }>({
  kept: [
    async ({ browser }, use) => {
      const context = await browser.newContext();
      const foreign = foreignRequests(context, testOrigin());
      const page = await context.newPage();
      await page.goto(`${testOrigin()}/test/browser/harness/index.html?without-library`);
      await use({ page, foreign });
      await context.close();
    },
    { scope: 'worker' },
  ],

  keptPage: async ({ kept }, use) => {
    await use(kept.page);
    expect(kept.foreign, 'requests to other origins').toEqual([]);
  },
});

export { expect };
