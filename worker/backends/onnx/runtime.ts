import * as ort from 'onnxruntime-web/webgpu';
import { ModelLoadError } from '../../../src/errors.ts';
import { contentField, integerField, join } from './protobuf.ts';

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

let started: Promise<void> | null = null;

/**
 * Starts the runtime, which otherwise its first session does: its WebAssembly is fetched and compiled while other files
 * come. It starts once in a worker's life.
 *
 * @throws ModelLoadError when it does not start; then no session of this worker ever will
 */
export function startRuntime(): Promise<void> {
  started ??= exclusive(async () => {
    try {
      const session = await ort.InferenceSession.create(identityModel(), { executionProviders: ['wasm'] });
      await session.release();
    } catch (cause) {
      throw new ModelLoadError(
        `ONNX Runtime does not start: ${cause instanceof Error ? cause.message : cause}. Check that its WebAssembly file can be fetched, and that the page's content security policy allows it ('wasm-unsafe-eval').`,
        { cause, code: 'runtime_failed' },
      );
    }
  });
  return started;
}

/** The smallest model: one value that comes out as it goes in. */
function identityModel(): Uint8Array {
  const float = 1;
  const value = (name: string) => [
    contentField(1, name),
    contentField(2, [
      contentField(1, [integerField(1, float), contentField(2, [contentField(1, [integerField(1, 1)])])]),
    ]),
  ];
  const node = [contentField(1, 'in'), contentField(2, 'out'), contentField(4, 'Identity')];
  const graph = [
    contentField(1, node),
    contentField(2, 'identity'),
    contentField(11, value('in')),
    contentField(12, value('out')),
  ];
  const operators = [contentField(1, ''), integerField(2, 17)];
  return join([integerField(1, 8), contentField(7, graph), contentField(8, operators)]);
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
