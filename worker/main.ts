import asyncifyWasm from 'onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm?url';
import { serializeError, WorkerError } from '../src/errors.ts';
import type { FromWorker, ToWorker } from '../src/protocol.ts';
import { loadModel } from './load.ts';
import { Service } from './service.ts';

/** What a dedicated worker's global has, without the DOM library's idea that it is a window. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
  onmessageerror: (() => void) | null;
  postMessage(message: FromWorker): void;
}

const scope = self as unknown as WorkerScope;

const service = new Service(
  (message) => scope.postMessage(message),
  (message, onProgress, signal) =>
    loadModel(message, onProgress, signal, {
      fetch: (input, init) => fetch(input, init),
      // Not there outside of secure contexts.
      caches: typeof caches === 'undefined' ? null : caches,
      wasm: { url: message.wasmUrl ?? new URL(asyncifyWasm, import.meta.url).href },
    }),
);

scope.onmessage = (event) => service.receive(event.data);
scope.onmessageerror = () => {
  const error = serializeError(new WorkerError('A message to the worker could not be read.'));
  scope.postMessage({ type: 'failed', request: null, error });
};
