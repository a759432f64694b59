import type { SerializedError } from '../../../src/errors.ts';
import type { DeviceReport, FromWorker, GenerateJob, TokenLogprobs } from '../../../src/protocol.ts';
import type { OnnxBackend } from '../../../worker/backends/onnx/backend.ts';
import { loadModel } from '../../../worker/load.ts';
import { Service } from '../../../worker/service.ts';

/** The embedded model on the page, on WebGPU, with the worker's own parts. */
class PageModel {
  readonly service: Service;
  backend: OnnxBackend | null = null;
  readonly #messages: FromWorker[] = [];
  #wake = () => {};

  constructor(sampling: DeviceReport['sampling']) {
    const wasmFile = '/node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.asyncify.wasm';
    const wasm = { url: new URL(wasmFile, location.href).href };
    this.service = new Service(
      (message) => {
        this.#messages.push(message);
        this.#wake();
      },
      async (message, onProgress, signal) => {
        const environment = { fetch: fetch.bind(window), store: null, wasm };
        const loaded = await loadModel(message, onProgress, signal, environment);
        this.backend = loaded.backend as OnnxBackend;
        // A software adapter would not do so by itself.
        if (sampling === 'gpu') await this.backend.sampleOnGpu(loaded.model.report.vocabularySize);
        return loaded;
      },
    );
  }

  async load(): Promise<DeviceReport> {
    this.service.receive({
      type: 'load',
      model: { kind: 'folder', url: new URL('/models/tiny/', location.href).href },
      backend: { kind: 'onnx', device: 'webgpu', dtype: 'auto' },
      wasmUrl: null,
    });
    const loaded = await this.until(({ type }) => type === 'loaded' || type === 'failed');
    if (loaded.type !== 'loaded') throw new Error(JSON.stringify(loaded));
    return loaded.device;
  }

  generate(request: number, job: Partial<GenerateJob>): void {
    const messages = [{ role: 'user', content: 'Hello!' }];
    const plain = { messages, tools: null, templateArguments: {}, sampling: {}, maxTokens: 4, choices: 1 };
    this.service.receive({ type: 'generate', request, job: { ...plain, ...job } });
  }

  async end(request: number): Promise<Extract<FromWorker, { type: 'done' | 'failed' }>> {
    const isEnd = (message: FromWorker) =>
      (message.type === 'done' || message.type === 'failed') && message.request === request;
    return (await this.until(isEnd)) as Extract<FromWorker, { type: 'done' | 'failed' }>;
  }

  ids(request: number): number[] {
    return this.#messages.flatMap((message) =>
      message.type === 'tokens' && message.request === request ? message.ids : [],
    );
  }

  logprobs(request: number): TokenLogprobs[] {
    return this.#messages.flatMap((message) =>
      message.type === 'tokens' && message.request === request ? (message.logprobs ?? []) : [],
    );
  }

  async until(test: (message: FromWorker) => boolean): Promise<FromWorker> {
    for (;;) {
      const found = this.#messages.find(test);
      if (found) return found;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async close(): Promise<void> {
    this.service.receive({ type: 'close' });
    await this.until(({ type }) => type === 'closed');
  }
}

/** The ids of three answers: greedy, drawn from few tokens with penalties and a bias, drawn from all with logprobs. */
export async function answer(sampling: DeviceReport['sampling']) {
  const model = new PageModel(sampling);
  const report = await model.load();
  const ways: Partial<GenerateJob>[] = [
    { sampling: { temperature: 0, repetitionPenalty: 1.2 } },
    {
      sampling: { temperature: 1.5, topK: 20, topP: 0.9, presencePenalty: 0.5, seed: 4 },
      logitBias: new Map([
        [300, 12],
        [301, 11],
      ]),
      minTokens: 4,
    },
    { sampling: { temperature: 2, topK: 0, topP: 1, seed: 5 }, logprobs: 5 },
  ];
  const answers: number[][] = [];
  for (const [request, job] of ways.entries()) {
    model.generate(request, job);
    const end = await model.end(request);
    if (end.type === 'failed') throw new Error(JSON.stringify(end.error));
    answers.push(model.ids(request));
  }
  await model.close();
  const { limits } = report;
  const logprobs = model.logprobs(2);
  const memoryAfterClose = model.backend?.memory() ?? null;
  return { sampling: report.sampling, limits, answers, logprobs, memoryAfterClose };
}

/** The error of a request whose device goes while it answers. */
export async function loseDevice(): Promise<SerializedError> {
  const devices: GPUDevice[] = [];
  const { requestDevice } = GPUAdapter.prototype;
  GPUAdapter.prototype.requestDevice = async function (this: GPUAdapter, descriptor) {
    const device = await requestDevice.call(this, descriptor);
    devices.push(device);
    return device;
  };
  try {
    const model = new PageModel('gpu');
    await model.load();
    model.generate(1, { maxTokens: 50 });
    await model.until((message) => message.type === 'tokens' && message.from === 1);
    devices.at(-1)!.destroy();
    const end = await model.end(1);
    await model.close();
    if (end.type === 'done') throw new Error('The answer ended without its device.');
    return end.error;
  } finally {
    GPUAdapter.prototype.requestDevice = requestDevice;
  }
}
