import { createOnnxBackend, type OnnxBackend } from '../../../worker/backends/onnx/backend.ts';
import { configureRuntime } from '../../../worker/backends/onnx/runtime.ts';
import type { DecodeWay } from '../../../worker/backends/onnx/session.ts';
import { openModelFiles } from '../../../worker/cache/files.ts';
import { loadModel } from '../../../worker/load.ts';
import type { Model } from '../../../worker/model.ts';

/** The runtime's file, and the embedded model's folder, as they are served. */
export const wasm = {
  url: new URL('/node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.asyncify.wasm', location.href).href,
};
export const folder = { kind: 'folder' as const, url: new URL('/models/tiny/', location.href).href };

export function files() {
  return openModelFiles(folder, {
    fetch: (url, init) => fetch(url, init),
    store: null,
    onProgress: () => {},
    signal: new AbortController().signal,
  });
}

/** The embedded model on a GPU of the page. */
export interface ModelOnPage {
  model: Model;
  backend: OnnxBackend;
  device: GPUDevice;
}

let withoutBackend: Promise<Model> | null = null;
/** Models that are open. On a software adapter opening one takes longer than most of what is tested with it. */
const kept = new Map<DecodeWay, Promise<ModelOnPage>>();

/** The embedded model, running in the given way, its tokens chosen on the GPU; without drafts. The next test has it, too. */
export function keptModel(way: DecodeWay): Promise<ModelOnPage> {
  const open = kept.get(way) ?? openModel(way);
  kept.set(way, open);
  return open;
}

/** The same for a test that spoils it: the next one gets another. */
export async function dropKept(way: DecodeWay): Promise<ModelOnPage> {
  const model = await keptModel(way);
  kept.delete(way);
  return model;
}

/** Closes the models that are kept. Bytes and buffers that each one leaves on its GPU. */
export async function closeKept() {
  const left: Partial<Record<DecodeWay, ReturnType<OnnxBackend['memory']>>> = {};
  for (const [way, opened] of kept) {
    const { backend } = await opened;
    await backend.close();
    left[way] = backend.memory();
  }
  kept.clear();
  return left;
}

async function openModel(way: DecodeWay): Promise<ModelOnPage> {
  withoutBackend ??= loadWithoutBackend();
  const model = await withoutBackend;
  configureRuntime(wasm);
  let device: GPUDevice | null = null;
  const { requestDevice } = GPUAdapter.prototype;
  GPUAdapter.prototype.requestDevice = async function (this: GPUAdapter, descriptor) {
    device = await requestDevice.call(this, descriptor);
    return device;
  };
  try {
    const found = files();
    const backend = (await createOnnxBackend({
      files: found,
      config: await found.json('config.json'),
      device: 'webgpu',
      dtype: 'auto',
      contextLength: 2048,
      fastest: way,
      onProgress: () => {},
    })) as OnnxBackend;
    await backend.sampleOnGpu(model.report.vocabularySize);
    return { model, backend, device: device! };
  } finally {
    GPUAdapter.prototype.requestDevice = requestDevice;
  }
}

/** Tokenizer, template and grammars. A load takes no way to decode, so the backend that comes with them is closed. */
async function loadWithoutBackend(): Promise<Model> {
  const { model, backend } = await loadModel(
    {
      type: 'load',
      model: folder,
      backend: { kind: 'onnx', device: 'wasm', dtype: 'auto' },
      wasmUrl: null,
      drafts: false,
    },
    () => {},
    new AbortController().signal,
    { fetch: fetch.bind(window), store: null, wasm },
  );
  await backend.close();
  return model;
}
