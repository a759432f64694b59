import asyncifyWasm from 'onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm?url';
import type { FromWorker } from '../src/protocol.ts';
import { openOpfsStore } from './cache/opfs.ts';
import { loadModel } from './load.ts';
import { Service } from './service.ts';

/** The worker's side of the protocol, with what a worker's global has. */
export function startService(post: (message: FromWorker) => void): Service {
  post({ type: 'alive', lock: null });
  return new Service(post, (message, onProgress, signal) =>
    loadModel(message, onProgress, signal, {
      fetch: (input, init) => fetch(input, init),
      store: openOpfsStore(),
      wasm: { url: message.wasmUrl ?? new URL(asyncifyWasm, import.meta.url).href },
    }),
  );
}
