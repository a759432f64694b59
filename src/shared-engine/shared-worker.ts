/**
 * The shared worker that has the engine of all tabs. It lives as long as one of them; the engine, as long as one of
 * them takes part.
 */
import { findAdapter } from '../../worker/backends/onnx/device.ts';
import { startService } from '../../worker/start.ts';
import { openEngine } from '../engine/engine.ts';
import { hold, whenReleased } from '../locks.ts';
import { workerLock } from '../service-worker/messages.ts';
import { EngineServer } from './engine-server.ts';
import { InProcessWorker } from './in-process-worker.ts';
import type { FromSharedWorker, SharedOptions, ToSharedWorker } from './messages.ts';

const lock = workerLock();
const held = hold(lock);
/** Tabs that take part, by their locks. One that had to wait may join once more. */
const tabs = new Map<string, MessagePort>();
let server: EngineServer | null = null;

function createServer(options: SharedOptions): EngineServer {
  return new EngineServer(() =>
    openEngine({
      ...options,
      createWorker: () => new InProcessWorker(startService),
      onProgress: (progress) => {
        for (const tab of tabs.values()) tell(tab, { type: 'progress', progress });
      },
      signal: null,
    }),
  );
}

const tell = (tab: MessagePort, message: FromSharedWorker) => tab.postMessage(message);

async function join(tab: MessagePort, tabLock: string, options: SharedOptions): Promise<void> {
  server ??= createServer(options);
  tabs.set(tabLock, tab);
  whenReleased(tabLock, new AbortController().signal).then(() => {
    tabs.delete(tabLock);
    if (tabs.size === 0) void server?.close();
  });
  const [{ report, missing }] = await Promise.all([findAdapter(), held]);
  const { backend } = options.job;
  // On a software adapter, `auto` takes WebAssembly.
  const isTooSlow = report?.isSoftware && backend.kind === 'onnx' && backend.device === 'auto';
  tell(tab, { type: 'welcome', lock, missing: isTooSlow ? 'there is only a software adapter' : missing });
}

function connect(tab: MessagePort): void {
  tab.onmessage = ({ data, ports }: MessageEvent<ToSharedWorker>) => {
    switch (data.type) {
      case 'join':
        void join(tab, data.lock, data.options);
        break;
      case 'load':
        // Requests meet the reason where it fails.
        server?.load().catch(() => {});
        break;
      case 'request':
        server?.answer(ports[0]!, data.request, data.lock);
    }
  };
}

(globalThis as unknown as { onconnect: (event: MessageEvent) => void }).onconnect = ({ ports }) =>
  connect(ports[0]!);
