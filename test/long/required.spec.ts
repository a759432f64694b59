import { test } from '../browser/harness/fixture.ts';
import { expectValidCalls } from '../browser/required-calls.ts';

test('four hundred required calls at temperature 1.5 are valid calls', async ({ page }) => {
  for (let from = 20; from < 420; from += 50) await expectValidCalls(page, from, 50);
});
