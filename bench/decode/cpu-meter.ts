import type { CDPSession, Page } from 'playwright-core';

/** Processor time of the page's thread so far, in milliseconds; waiting for the device does not count. */
export async function cpuMeter(page: Page): Promise<() => Promise<number>> {
  const session: CDPSession = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')!.value * 1000;
  };
}
