/**
 * The contenders, on the page itself: what `transformers.js` offers, and ours in each way of running a decode step. All
 * take the same files, on devices of the same features.
 */
import { AutoModelForCausalLM, env, Tensor } from '@huggingface/transformers';
import type { Dtype, SamplingOptions } from '../../src/protocol.ts';
import type { Backend, Logits, Sequence } from '../../worker/backends/backend.ts';
import { createOnnxBackend } from '../../worker/backends/onnx/backend.ts';
import { findAdapter, minimumSubgroupSize, openDevice } from '../../worker/backends/onnx/device.ts';
import { configureRuntime, exclusive } from '../../worker/backends/onnx/runtime.ts';
import type { DecodeWay } from '../../worker/backends/onnx/session.ts';
import { openModelFiles } from '../../worker/cache/files.ts';
import { GpuSampler } from '../../worker/sampling/gpu/sampler.ts';
import { Sampler } from '../../worker/sampling/sampler.ts';
import { type Calls, callsSoFar, countCalls } from './counters.ts';

export type Contender = 'generate' | DecodeWay;

export interface DecodeModel {
  /** Address of the model's folder on this server, with a slash at the end. */
  folder: string;
  dtype: Exclude<Dtype, 'auto'>;
  contextLength: number;
  /** Whether ours choose tokens on the GPU. */
  gpuSampling: boolean;
}

export interface DecodeRun {
  ids: number[];
  /** Milliseconds between tokens, the first one left out. */
  waits: number[];
  calls: Calls;
  /** Milliseconds in `forward` beside waiting for the device: only ours. */
  encode: number[];
}

interface Loaded {
  /** Reads the prompt and writes so many tokens. */
  run(prompt: number[], tokens: number, topK: number): Promise<DecodeRun>;
  close(): Promise<void>;
}

const wasm = {
  url: new URL('/node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.asyncify.wasm', location.href).href,
};

countCalls();
configureRuntime(wasm);
env.allowRemoteModels = false;
env.allowLocalModels = true;
env.useBrowserCache = false;

const difference = (before: Calls): Calls => {
  const now = callsSoFar();
  const changed = Object.entries(now).map(([name, value]) => [name, value - before[name as keyof Calls]]);
  return Object.fromEntries(changed) as unknown as Calls;
};

const intervals = (times: readonly number[]) => times.slice(1).map((time, index) => time - times[index]!);

async function loadGenerate({ folder, dtype }: DecodeModel): Promise<Loaded> {
  const found = await findAdapter();
  if (!found.adapter) throw new Error(found.missing);
  const own = await openDevice(found.adapter, minimumSubgroupSize);
  const { pathname } = new URL(folder, location.href);
  const name = pathname.split('/').at(-2)!;
  env.localModelPath = pathname.slice(0, -name.length - 1);
  const model = await AutoModelForCausalLM.from_pretrained(name, {
    device: 'webgpu',
    dtype,
    session_options: { executionProviders: [{ name: 'webgpu', device: own.device as never }] },
  });
  return {
    run: async (prompt, tokens, topK) => {
      const times: number[] = [];
      const before = callsSoFar();
      const inputs = new Tensor('int64', BigInt64Array.from(prompt, BigInt), [1, prompt.length]);
      const streamer = { put: () => void times.push(performance.now()), end: () => {} };
      const output = (await exclusive(async () =>
        model.generate({
          inputs,
          attention_mask: new Tensor('int64', new BigInt64Array(prompt.length).fill(1n), [1, prompt.length]),
          max_new_tokens: tokens,
          min_new_tokens: tokens,
          do_sample: topK > 0,
          top_k: topK > 0 ? topK : 50,
          temperature: 1,
          repetition_penalty: 1,
          eos_token_id: [-1],
          streamer: streamer as never,
        } as never),
      )) as Tensor;
      const ids = Array.from(output.data as BigInt64Array, Number).slice(prompt.length);
      // The streamer gets the prompt first.
      return { ids, waits: intervals(times.slice(1)), calls: difference(before), encode: [] };
    },
    close: async () => {
      await exclusive(() => model.dispose());
      own.destroy();
    },
  };
}

const neutral: SamplingOptions = {
  temperature: 0,
  topK: 0,
  topP: 1,
  minP: 0,
  repetitionPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  seed: null,
};

/** Chooses tokens as a request does: on the GPU where the backend has a reducer. */
function chooser(
  backend: Backend,
  options: SamplingOptions,
  prompt: number[],
): (logits: Logits) => Promise<number> {
  const { reducer } = backend;
  if (!reducer) {
    const sampler = new Sampler(options, 1, 0, prompt);
    return async (logits) => sampler.next(await logits.read(0));
  }
  const sampler = new GpuSampler(reducer, options, 1, 0, prompt);
  return (logits) => sampler.next(logits.onGpu(0)!, null, () => logits.read(0));
}

async function loadOurs(
  { folder, dtype, contextLength, gpuSampling }: DecodeModel,
  way: DecodeWay,
): Promise<Loaded> {
  const files = openModelFiles(
    { kind: 'folder', url: new URL(folder, location.href).href },
    {
      fetch: (url, init) => fetch(url, init),
      caches: null,
      onProgress: () => {},
      signal: new AbortController().signal,
    },
  );
  const config = await files.json('config.json');
  const backend: Backend = await createOnnxBackend({
    files,
    config,
    device: 'webgpu',
    dtype,
    contextLength,
    fastest: way,
    sampling: gpuSampling ? 'gpu' : 'cpu',
    onProgress: () => {},
  });
  if (backend.report.decode !== way) {
    throw new Error(`This model does not run ${way}: ${backend.report.limits.join('; ')}`);
  }
  // Kept from run to run, as a conversation's would be.
  const sequence: Sequence = await backend.open();
  return {
    run: async (prompt, tokens, topK) => {
      const [ids, times, encode]: number[][] = [[], [], []];
      const before = callsSoFar();
      const options = topK > 0 ? { ...neutral, temperature: 1, topK } : neutral;
      const choose = chooser(backend, options, prompt);
      await sequence.truncate(0);
      for (let from = 0; from < prompt.length; from += backend.prefillPiece) {
        const piece = prompt.slice(from, from + backend.prefillPiece);
        const isLast = from + piece.length === prompt.length;
        const logits = await sequence.forward(piece, isLast ? 1 : 0);
        if (isLast) ids!.push(await choose(logits));
        logits.release();
      }
      times!.push(performance.now());
      while (ids!.length < tokens) {
        const start = performance.now();
        const logits = await sequence.forward([ids!.at(-1)!], 1);
        encode!.push(performance.now() - start);
        ids!.push(await choose(logits));
        logits.release();
        times!.push(performance.now());
      }
      return { ids: ids!, waits: intervals(times!), calls: difference(before), encode: encode! };
    },
    close: async () => {
      sequence.close();
      await backend.close();
    },
  };
}

const loaded = new Map<Contender, Loaded>();

const decode = {
  load: async (model: DecodeModel, contender: Contender) => {
    loaded.set(
      contender,
      contender === 'generate' ? await loadGenerate(model) : await loadOurs(model, contender),
    );
  },
  run: (contender: Contender, prompt: number[], tokens: number, topK: number) =>
    loaded.get(contender)!.run(prompt, tokens, topK),
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
