import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { WorkerPort } from '../../../src/engine/connection.ts';
import type { FromWorker, ScriptedTurn, ToWorker } from '../../../src/protocol.ts';
import type { Drafts } from '../../../worker/drafts/drafts.ts';
import { loadModel } from '../../../worker/load.ts';
import { type LoadModel, Service } from '../../../worker/service.ts';
import { tinyFolder } from '../worker/models.ts';
import { scriptedModel } from '../worker/scripted.ts';

/** A worker that runs in this process; what crosses is cloned as between threads. */
export class InProcessWorker extends EventTarget implements WorkerPort {
  readonly received: ToWorker[] = [];
  /** Sees each message before it arrives at the page. */
  onSend: (message: FromWorker) => void = () => {};
  #isEnded = false;
  readonly #service: Service;

  constructor(load: LoadModel) {
    super();
    this.#service = new Service((message) => {
      const data = structuredClone(message);
      setImmediate(() => {
        if (!this.#isEnded) this.onSend(data);
        if (!this.#isEnded) this.dispatchEvent(new MessageEvent('message', { data }));
      });
    }, load);
  }

  postMessage(message: ToWorker): void {
    const copy = structuredClone(message);
    this.received.push(copy);
    setImmediate(() => this.#service.receive(copy));
  }

  terminate(): void {
    this.#isEnded = true;
    this.#service.receive({ type: 'close' });
  }

  /** As a worker that throws: nothing of it arrives any more. */
  crash(): void {
    this.#isEnded = true;
    this.dispatchEvent(Object.assign(new Event('error'), { message: 'boom' }));
  }
}

/** With a model whose answers are written down. */
export const scriptedWorker = (turns: ScriptedTurn[]) =>
  new InProcessWorker(async ({ answered }) => {
    const model = scriptedModel(turns, answered);
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
