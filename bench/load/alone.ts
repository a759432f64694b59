/**
 * A worker that starts a model whose files are in memory already: WebAssembly, device, session and self-test, and
 * nothing else. This is what a load is compared with.
 */
import type { DeviceChoice, Dtype, ModelSource } from '../../src/protocol.ts';
import { createOnnxBackend } from '../../worker/backends/onnx/backend.ts';
import { configureRuntime } from '../../worker/backends/onnx/runtime.ts';
import { type ModelFiles, openModelFiles } from '../../worker/cache/files.ts';
import { openOpfsStore } from '../../worker/cache/opfs.ts';

export interface AloneJob {
  model: ModelSource;
  device: DeviceChoice;
  dtype: Exclude<Dtype, 'auto'>;
  wasmUrl: string;
}

const scope = self as unknown as {
  onmessage: (event: MessageEvent<AloneJob>) => void;
  postMessage(milliseconds: number): void;
};

scope.onmessage = async ({ data: { model, device, dtype, wasmUrl } }) => {
  const files = openModelFiles(model, {
    fetch: (url, init) => fetch(url, init),
    store: openOpfsStore(),
    onProgress: () => {},
    signal: new AbortController().signal,
  });
  const config = await files.json('config.json');
  const name = dtype === 'fp32' ? 'onnx/model.onnx' : `onnx/model_${dtype}.onnx`;
  const bytes = await files.bytes(name);
  const inMemory: ModelFiles = {
    origin: files.origin,
    bytes: (name) => files.bytes(name),
    optionalBytes: (name) => files.optionalBytes(name),
    firstOf: async () => ({ name, bytes }),
    json: (name) => files.json(name),
    optionalJson: (name) => files.optionalJson(name),
    optionalText: (name) => files.optionalText(name),
    sizes: () => files.sizes(),
    kept: () => files.kept(),
  };
  const start = performance.now();
  configureRuntime({ url: wasmUrl });
  const backend = await createOnnxBackend({
    files: inMemory,
    config,
    device,
    dtype,
    contextLength: Number(config.max_position_embeddings),
    onProgress: () => {},
  });
  scope.postMessage(performance.now() - start);
  await backend.close();
};
