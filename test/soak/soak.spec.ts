/**
 * Mixed load in several tabs with faults, for minutes: each request ends. `npm run soak -- --minutes 30` takes longer
 * than the tests do.
 */
import type { Page } from '@playwright/test';
import { expect, test } from '../browser/harness/fixture.ts';
import type { LoadOptions, LoadReport } from './load.ts';
import { memoryOfChildren } from './process-memory.ts';

const minutes = Number(process.env.TOKENPRISM_SOAK_MINUTES ?? 3);
const duration = minutes * 60_000;
const seed = Number(process.env.TOKENPRISM_SOAK_SEED ?? 1);

const tabs: Pick<LoadOptions, 'device' | 'lanes'>[] = [
  { device: 'wasm', lanes: 3 },
  { device: 'wasm', lanes: 2 },
  // A software adapter has done each task once after minutes.
  ...(minutes >= 10 ? [{ device: 'webgpu', lanes: 1 } as const] : []),
];

test.setTimeout(duration + 10 * 60_000);

test(`every request ends, in ${minutes} minutes of load and faults`, async ({ page, context }) => {
  const pages: Page[] = [page];
  while (pages.length < tabs.length) {
    const another = await context.newPage();
    await another.goto(page.url());
    await another.evaluate(() => window.tokenprismReady);
    pages.push(another);
  }
  const run = (tab: Page, options: LoadOptions) =>
    tab.evaluate(
      async ({ load, options }) => {
        const { runLoad } = (await import(load)) as typeof import('./load.ts');
        return runLoad(options);
      },
      { load: '/test/soak/load.ts', options },
    );
  const running = tabs.map((tab, index) =>
    run(pages[index]!, { ...tab, duration, seed: seed + index, faultEvery: Math.max(8000, duration / 20) }),
  );
  // A tab sleeps now and then, as those do that nobody looks at.
  const cdp = await context.newCDPSession(pages[1]!);
  let isOver = false;
  const sleeping = (async () => {
    while (!isOver) {
      await pages[0]!.waitForTimeout(20_000);
      await cdp.send('Page.setWebLifecycleState', { state: 'frozen' });
      await pages[0]!.waitForTimeout(2000);
      await cdp.send('Page.setWebLifecycleState', { state: 'active' });
    }
  })();
  await pages[0]!.waitForTimeout(duration / 4);
  const before = memoryOfChildren();
  await pages[0]!.waitForTimeout(duration / 2);
  const after = memoryOfChildren();
  const reports = await Promise.all(running);
  isOver = true;
  await sleeping;
  tell(reports, before, after);
  for (const report of reports) {
    expect(report.wrong).toEqual([]);
    expect(report.unsettled).toBe(0);
    expect(report.heap.end, 'bytes of the heap').toBeLessThan(report.heap.start + 40e6);
  }
  // Faults that nothing came of would test nothing.
  expect(reports.reduce((sum, { recoveries }) => sum + recoveries, 0)).toBeGreaterThan(0);
});

function tell(reports: readonly LoadReport[], before: number | null, after: number | null): void {
  const megabytes = (bytes: number) => Number((bytes / 1e6).toFixed(1));
  console.table(
    reports.map((report, index) => ({
      tab: `${index + 1}, ${tabs[index]!.device}`,
      requests: report.requests,
      ...report.ends,
      faults: Object.values(report.faults).reduce((sum, count) => sum + count, 0),
      recoveries: report.recoveries,
      'never ended': report.unsettled,
      'heap at start, MB': megabytes(report.heap.start),
      'at end': megabytes(report.heap.end),
    })),
  );
  if (before === null || after === null) return;
  console.log(
    `Memory of the browser, a quarter of the time in: ${megabytes(before)} MB, and a quarter before the end: ${megabytes(after)} MB.`,
  );
}
