/** An engine whose worker runs in this process, on the unmodified package over a runtime that is made up. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createEngine } from '../../src/engine/engine.ts';
import type { EngineOptions } from '../../src/engine/options.ts';
import { loadModel } from '../../worker/load.ts';
import { InProcessWorker } from '../unit/engine/in-process-worker.ts';
import { promptOf, tinyFiles, tinyFolder } from '../unit/worker/models.ts';
import { createFakeRuntime, type FakeLog, type FakeModel } from './fake-runtime.mjs';
import { packageForNode } from './package.ts';

/** Of the embedded model, whose tokenizer the made-up one has. */
export const vocabularySize = 2048;
export const eosTokenId = 2041;
export const { tokenizer } = promptOf(tinyFiles());

const folder = 'http://models.test/tiny-MLC/';

export const chatConfig = {
  model_type: 'qwen3',
  quantization: 'q4f32_1',
  vocab_size: vocabularySize + 30,
  context_window_size: 512,
  sliding_window_size: -1,
  attention_sink_size: -1,
  prefill_chunk_size: 64,
  temperature: 0,
  top_p: 0.95,
  tokenizer_files: ['tokenizer.json', 'tokenizer_config.json'],
  tokenizer_info: { token_postproc_method: 'byte_level' },
  conv_template: {
    name: 'chatml',
    system_template: '{system_message}',
    system_message: '',
    roles: { user: 'user', assistant: 'assistant' },
    seps: ['\n'],
    stop_str: [],
    stop_token_ids: [eosTokenId],
  },
};

const bytesOf = (value: object) => new TextEncoder().encode(JSON.stringify(value));

/** The files of the model as a server has them. */
export function modelFiles(config: object = chatConfig): Record<string, Uint8Array | Error> {
  const read = (name: string) => Uint8Array.from(readFileSync(new URL(name, tinyFolder)));
  return {
    'mlc-chat-config.json': bytesOf(config),
    'tensor-cache.json': bytesOf({ records: [{ dataPath: 'params_shard_0.bin', nbytes: 1000 }] }),
    'model.wasm': new Uint8Array(8),
    'tokenizer.json': read('tokenizer.json'),
    'tokenizer_config.json': read('tokenizer_config.json'),
  };
}

/** GPU devices that can be lost. */
class FakeAdapter {
  readonly features = new Set(['shader-f16']);
  readonly info = { vendor: 'none', architecture: '', device: '', description: 'made up' };
  readonly limits = {};
  async requestDevice() {
    let lose: (info: { reason: string; message: string }) => void = () => {};
    const lost = new Promise((resolve) => {
      lose = resolve;
    });
    const destroy = () => lose({ reason: 'unknown', message: 'pulled out' });
    return { features: this.features, limits: this.limits, lost, destroy, createBuffer: () => ({}) };
  }
}

export interface FakeOptions extends Partial<Pick<FakeModel, 'files' | 'prefillChunkSize'>> {
  /** What is done to the package before it is used. */
  change?(library: Record<string, unknown>): void;
  options?: Partial<EngineOptions>;
}

/** Files come anew with each load. */
const nothingKept = { store: null };

let current: object | null = null;
let module: Promise<Record<string, unknown>> | null = null;

/** The package reads its runtime once; it gets one that stands for whichever is the current one. */
function importPackage(): Promise<Record<string, unknown>> {
  const runtime = new Proxy({}, { get: (_, name) => Reflect.get(current!, name) });
  Object.assign(globalThis, { tokenprismFakeRuntime: runtime });
  module ??= (async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'tokenprism-web-llm-')), 'web-llm.mjs');
    writeFileSync(path, packageForNode('globalThis.tokenprismFakeRuntime'));
    return import(/* @vite-ignore */ pathToFileURL(path).href);
  })();
  return module;
}

/** Makes the browser's part of what web-llm needs; gives back how it was. */
export function withFakeBrowser(): () => void {
  const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
  const location = Object.getOwnPropertyDescriptor(globalThis, 'location');
  const gpu = { requestAdapter: async () => new FakeAdapter() };
  Object.defineProperty(globalThis, 'navigator', { value: { gpu, onLine: true }, configurable: true });
  Object.defineProperty(globalThis, 'location', {
    value: { href: 'http://localhost/', origin: 'http://localhost' },
    configurable: true,
  });
  return () => {
    for (const [name, descriptor] of Object.entries({ navigator: before, location })) {
      if (descriptor) Object.defineProperty(globalThis, name, descriptor);
      else Reflect.deleteProperty(globalThis, name);
    }
  };
}

export interface StartedEngine {
  engine: Awaited<ReturnType<typeof createEngine>>;
  log: FakeLog;
  worker: InProcessWorker;
}

/** Starts an engine on a model that answers so. */
export async function startWebLlm(
  answer: FakeModel['answer'],
  given: FakeOptions = {},
): Promise<StartedEngine> {
  const { files = modelFiles(), prefillChunkSize = 64 } = given;
  const { runtime, log } = createFakeRuntime({
    vocabularySize: chatConfig.vocab_size,
    prefillChunkSize,
    files,
    answer,
  });
  current = runtime;
  const library = { ...(await importPackage()) };
  given.change?.(library);
  const startWorker = () =>
    new InProcessWorker((message, onProgress, signal) =>
      loadModel(message, onProgress, signal, {
        fetch: async (url) => {
          const bytes = files[new URL(String(url)).pathname.split('/').pop()!];
          if (bytes instanceof Uint8Array) return new Response(Uint8Array.from(bytes));
          return new Response(null, { status: 404 });
        },
        ...nothingKept,
        wasm: { url: 'http://models.test/unused.wasm' },
        importModule: async () => library,
      }),
    );
  const workers: InProcessWorker[] = [];
  const engine = await createEngine({
    backend: 'web-llm',
    model: folder,
    ...given.options,
    webLlm: {
      module: 'http://models.test/web-llm.js',
      modelLib: 'http://models.test/model.wasm',
      ...given.options?.webLlm,
    },
    worker: () => {
      const worker = startWorker();
      workers.push(worker);
      return worker as unknown as Worker;
    },
  });
  return { engine, log, worker: workers[0]! };
}

/** Written answers, one a turn, each ended by an EOS. */
export function answers(...texts: string[]): FakeModel['answer'] {
  const scripts = texts.map((text) => [...tokenizer.encode(text), eosTokenId]);
  let turn = -1;
  return ({ generated }) => {
    if (generated === 0) turn++;
    return scripts[turn % scripts.length]![generated] ?? eosTokenId;
  };
}
