import { openEngine } from '../engine/engine.ts';
import type { CheckedOptions } from '../engine/options.ts';
import { ServiceWorkerError } from '../errors.ts';
import { EngineServer } from '../shared-engine/engine-server.ts';
import { SharedHost } from '../shared-engine/shared-host.ts';
import type { SentRequest } from './messages.ts';
import type { CheckedServiceOptions } from './options.ts';

/** What a tab needs of where its engine runs. */
export interface Host {
  /** Loads the engine: it is this tab's turn to take requests. */
  load(): unknown;
  /** @param lock the service worker's */
  answer(port: MessagePort, request: SentRequest, lock: string): unknown;
  close(): Promise<void>;
}

/**
 * Where the engine of this tab is to run. Rejects with a `ServiceWorkerError` where that must be a shared worker and
 * there is none.
 *
 * @param lock the tab's
 */
export async function chooseHost(options: CheckedServiceOptions, lock: string): Promise<Host> {
  const { engine, host, basePath } = options;
  if (host === 'tab' || typeof engine === 'function') return tabHost(engine);
  if (host === 'auto' && !(await mayBeShared(engine))) return tabHost(engine);
  if (typeof SharedWorker === 'undefined') {
    throw new ServiceWorkerError('This browser has no shared workers: give \'host: "auto"\'.', {
      code: 'unsupported',
    });
  }
  const { createWorker: _, onProgress, signal: __, ...sent } = engine;
  const shared = new SharedHost({ basePath, lock, engine: sent, onProgress });
  if (host === 'shared-worker') {
    await shared.missing();
    return shared;
  }
  const missing = await shared.missing().catch((error) => String(error));
  if (missing === null) return shared;
  await shared.close();
  return tabHost(engine);
}

/** Whether there is a chance that a shared worker runs the model: else its script need not be fetched. */
async function mayBeShared({ job: { backend } }: CheckedOptions): Promise<boolean> {
  if (typeof SharedWorker === 'undefined') return false;
  if (backend.kind !== 'onnx' || backend.device === 'wasm') return false;
  const adapter = await navigator.gpu?.requestAdapter().catch(() => null);
  if (!adapter) return false;
  // On a software adapter, `auto` takes WebAssembly.
  return backend.device === 'webgpu' || !adapter.info.isFallbackAdapter;
}

function tabHost(engine: CheckedServiceOptions['engine']): Host {
  const closing = new AbortController();
  const { signal } = closing;
  const server = new EngineServer(async () => {
    if (typeof engine !== 'function') return openEngine({ ...engine, signal });
    return engine({ signal });
  });
  return {
    load: () => server.load().catch(() => {}),
    answer: (port, request, lock) => server.answer(port, request, lock),
    close: () => {
      closing.abort();
      return server.close();
    },
  };
}
