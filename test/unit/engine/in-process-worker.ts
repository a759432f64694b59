import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { WorkerPort } from '../../../src/engine/connection.ts';
import type { ScriptedTurn, ToWorker } from '../../../src/protocol.ts';
import type { Drafts } from '../../../worker/drafts/drafts.ts';
import { loadModel } from '../../../worker/load.ts';
import { type LoadModel, Service } from '../../../worker/service.ts';
import { tinyFolder } from '../worker/models.ts';
import { scriptedModel } from '../worker/scripted.ts';

/** A worker that runs in this process; what crosses is cloned as between threads. */
export class InProcessWorker extends EventTarget implements WorkerPort {
  readonly received: ToWorker[] = [];
  readonly #service: Service;

  constructor(load: LoadModel) {
    super();
    this.#service = new Service((message) => {
      const data = structuredClone(message);
      setImmediate(() => this.dispatchEvent(new MessageEvent('message', { data })));
    }, load);
  }

  postMessage(message: ToWorker): void {
    const copy = structuredClone(message);
    this.received.push(copy);
    setImmediate(() => this.#service.receive(copy));
  }
}

/** With a model whose answers are written down. */
export const scriptedWorker = (turns: ScriptedTurn[]) =>
  new InProcessWorker(async () => {
    const model = scriptedModel(turns);
    return { model, backend: await model.createBackend() };
  });

/**
 * With the embedded model on WASM.
 *
 * @param drafts in place of the engine's own; `null` for none
 */
export function liveWorker(drafts?: Drafts | null): InProcessWorker {
  const wasmFile = createRequire(import.meta.url).resolve(
    'onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm',
  );
  return new InProcessWorker(async (message, onProgress, signal) => {
    const loaded = await loadModel(
      {
        ...message,
        model: { kind: 'folder', url: tinyFolder.href },
        backend: { kind: 'onnx', device: 'wasm', dtype: 'auto' },
      },
      onProgress,
      signal,
      {
        fetch: async (url) => {
          try {
            return new Response(readFileSync(new URL(String(url))));
          } catch {
            return new Response(null, { status: 404 });
          }
        },
        store: null,
        wasm: { bytes: readFileSync(wasmFile) },
      },
    );
    return drafts === undefined ? loaded : { ...loaded, model: { ...loaded.model, drafts } };
  });
}
