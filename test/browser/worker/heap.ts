import type { CDPSession, Page } from '@playwright/test';

export interface Heap {
  /** Bytes of live JavaScript objects after a collection. */
  used: number;
  /** Bytes of array buffers, WebAssembly memory included. */
  backing: number;
}

interface HeapUsage {
  usedSize: number;
  backingStorageSize?: number;
}

const heap = ({ usedSize, backingStorageSize = 0 }: HeapUsage): Heap => ({
  used: usedSize,
  backing: backingStorageSize,
});

/** Measures the page's JavaScript heap through the debugging protocol. */
export async function openPageMeter(page: Page): Promise<() => Promise<Heap>> {
  const session: CDPSession = await page.context().newCDPSession(page);
  return async () => {
    await session.send('HeapProfiler.collectGarbage');
    return heap(await session.send('Runtime.getHeapUsage'));
  };
}

/** Measures the page's and its worker's JavaScript heap through the debugging protocol. */
export async function openHeapMeter(page: Page): Promise<{ page(): Promise<Heap>; worker(): Promise<Heap> }> {
  const session = await page.context().newCDPSession(page);
  const { targetInfos } = await session.send('Target.getTargets');
  const target = targetInfos.find(({ type, url }) => type === 'worker' && url.includes('/worker/main.ts'));
  if (!target)
    throw new Error(`No worker among ${targetInfos.map(({ type, url }) => `${type} ${url}`).join(', ')}`);
  const { sessionId } = await session.send('Target.attachToTarget', { targetId: target.targetId });
  let calls = 0;
  const send = (method: string) =>
    new Promise<unknown>((resolve) => {
      const id = ++calls;
      const listener = ({ message }: { message: string }) => {
        const answer = JSON.parse(message) as { id?: number; result?: unknown };
        if (answer.id !== id) return;
        session.off('Target.receivedMessageFromTarget', listener);
        resolve(answer.result);
      };
      session.on('Target.receivedMessageFromTarget', listener);
      void session.send('Target.sendMessageToTarget', { sessionId, message: JSON.stringify({ id, method }) });
    });
  return {
    page: await openPageMeter(page),
    worker: async () => {
      await send('HeapProfiler.collectGarbage');
      return heap((await send('Runtime.getHeapUsage')) as HeapUsage);
    },
  };
}
