import * as ort from 'onnxruntime-web/webgpu';

/** Where ONNX Runtime's WebAssembly comes from: its address, or its bytes (Node). */
export type WasmSource = { url: string } | { bytes: Uint8Array };

/**
 * Sets ONNX Runtime up, before the first session. transformers.js points it to a CDN when it is imported;
 * nothing here is ever fetched from another origin than the given one.
 */
export function configureRuntime(source: WasmSource): void {
  const { wasm } = ort.env;
  if ('url' in source) {
    // Without `mjs`, the glue that is bundled is used: no second script, no blob import.
    wasm.wasmPaths = { wasm: source.url };
  } else {
    wasm.wasmBinary = source.bytes;
  }
  // Its threads would start this very worker file again; one thread needs no cross-origin isolation either.
  wasm.numThreads = 1;
  wasm.proxy = false;
  ort.env.logLevel = 'error';
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs one call into ONNX Runtime after another. Two calls at once hang the whole worker, so every session's
 * creation, run and release goes through here.
 */
export function exclusive<Result>(call: () => Promise<Result>): Promise<Result> {
  const result = last.then(call);
  last = result.catch(() => {});
  return result;
}
