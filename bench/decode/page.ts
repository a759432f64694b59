/**
 * The contenders, on the page itself: what `transformers.js` offers, and ours in each way of running a decode step. All
 * take the same files, on devices of the same features.
 */
import { configureRuntime } from '../../worker/backends/onnx/runtime.ts';
import type { DecodeWay } from '../../worker/backends/onnx/session.ts';
import type { DecodeModel, Loaded } from './contender.ts';
import { countCalls } from './counters.ts';
import { loadGenerate } from './generate.ts';
import { loadOurs } from './ours.ts';

export type Contender = 'generate' | DecodeWay;

countCalls();
configureRuntime({
  url: new URL('/node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.asyncify.wasm', location.href).href,
});

const loaded = new Map<string, Loaded>();

const decode = {
  /** Loads a contender under a name. */
  load: async (name: string, model: DecodeModel, contender: Contender) => {
    loaded.set(name, contender === 'generate' ? await loadGenerate(model) : await loadOurs(model, contender));
  },
  run: (name: string, prompt: number[], tokens: number, topK: number) =>
    loaded.get(name)!.run(prompt, tokens, topK),
  goOn: (name: string, prompt: number[], tokens: number) => loaded.get(name)!.goOn(prompt, tokens),
  close: async () => {
    for (const { close } of loaded.values()) await close();
    loaded.clear();
  },
};

declare global {
  interface Window {
    decode: typeof decode;
  }
}
window.decode = decode;
