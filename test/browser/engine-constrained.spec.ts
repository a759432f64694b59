import { test } from './harness/fixture.ts';
import { expectValidCalls } from './required-calls.ts';

test('twenty required calls at temperature 1.5 are valid calls', async ({ page }) => {
  await expectValidCalls(page, 0, 20);
});
