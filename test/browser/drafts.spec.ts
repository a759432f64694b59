import { expect, test } from './harness/kept-page.ts';

test.describe.configure({ timeout: 300_000 });

/** As the page imports it. */
const drafts = '/test/browser/worker/drafts.ts';

test('drafts on WebGPU leave tokens, keys and values as they are, in fewer passes', async ({ keptPage }) => {
  const { decode, plain, drafted } = await keptPage.evaluate(async (drafts) => {
    const { withAndWithoutDrafts } = (await import(drafts)) as typeof import('./worker/drafts.ts');
    // Steps of one token are captured, and drafts are read by passes that are not, in the same session.
    return withAndWithoutDrafts('captured');
  }, drafts);
  expect(decode).toBe('captured');
  for (const [index, { ids, known, row }] of drafted.entries()) {
    const expected = plain[index < 2 ? 0 : 1]!;
    expect(ids, `request ${index}`).toEqual(expected.ids);
    expect(known, `request ${index}`).toBe(expected.known);
    const difference = Math.max(...row.map((value, id) => Math.abs(value - expected.row[id]!)));
    expect(difference, `request ${index}`).toBeLessThan(1e-2);
  }
  const [, again, sampled] = drafted.map(({ timings }) => timings);
  // The answer came before: all of it is drafted with the end of the prompt.
  expect(again).toMatchObject({ forwards: 0, draftedTokens: 3, acceptedTokens: 3 });
  expect(plain[1]!.ids).not.toEqual(plain[0]!.ids);
  expect(sampled!.draftedTokens).toBeGreaterThan(sampled!.acceptedTokens);
});
