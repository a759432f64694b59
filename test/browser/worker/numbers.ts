import type { SerializedError } from '../../../src/errors.ts';
import type { FromWorker } from '../../../src/protocol.ts';
import type { Sequence } from '../../../worker/backends/backend.ts';
import { OnnxBackend } from '../../../worker/backends/onnx/backend.ts';
import { findAdapter, openDevice } from '../../../worker/backends/onnx/device.ts';
import { roomFor } from '../../../worker/backends/onnx/room.ts';
import { configureRuntime } from '../../../worker/backends/onnx/runtime.ts';
import { checkNumbers } from '../../../worker/backends/onnx/selftest.ts';
import { createSession, type DecodeWay } from '../../../worker/backends/onnx/session.ts';
import { loadWeights } from '../../../worker/backends/onnx/weights.ts';
import { PrefixCache } from '../../../worker/cache/prefix.ts';
import { loadModel } from '../../../worker/load.ts';
import { GenerateRequest } from '../../../worker/request.ts';
import { Service } from '../../../worker/service.ts';
import { largestDifference, referenceLogits } from '../../fixtures/reference-logits.ts';
import { dropKept, files, folder, keptModel, wasm } from './kept-models.ts';

/**
 * The worker's parts on the page itself, where a test can reach the device. Each function is called by a test in
 * `worker.spec.ts`.
 */
async function lastRow(sequence: Sequence, ids: number[]): Promise<Float32Array> {
  const logits = await sequence.forward(ids);
  const row = (await logits.read(0)).slice();
  logits.release();
  return row;
}

/** Largest differences to the reference logits from the CPU. */
export async function compareWithReference(way: DecodeWay) {
  const { backend } = await keptModel(way);
  const { promptTokenIds, decodeTokenIds, rows } = referenceLogits;
  const sequence = await backend.open();
  const whole = [largestDifference(await lastRow(sequence, promptTokenIds), rows[0]!)];
  for (const [index, id] of decodeTokenIds.entries()) {
    whole.push(largestDifference(await lastRow(sequence, [id]), rows[index + 1]!));
  }
  await sequence.truncate(40);
  const lengthAfterTruncation = sequence.length;
  const truncated = [
    largestDifference(await lastRow(sequence, promptTokenIds.slice(40)), rows[0]!),
    largestDifference(await lastRow(sequence, [decodeTokenIds[0]!]), rows[1]!),
  ];
  sequence.close();
  return {
    report: backend.report,
    tokens: promptTokenIds.length,
    whole,
    truncated,
    lengthAfterTruncation,
  };
}

/** The logits after 300 tokens that were read at once, beside those after caches that grew and were copied. */
export async function growAndCopy() {
  const { backend } = await keptModel('static');
  const ids = Array.from({ length: 300 }, (_, index) => (index * 7919 + 13) % 2000);
  const whole = await backend.open();
  const expected = await lastRow(whole, ids);
  const bytes = [whole.bytes];
  whole.close();
  const differences: Record<string, number> = {};
  const grown = await backend.open();
  const read = async (name: string, sequence: Sequence) => {
    while (sequence.length < ids.length - 40) {
      (await sequence.forward(ids.slice(sequence.length, sequence.length + 52), 0)).release();
    }
    differences[name] = largestDifference(await lastRow(sequence, ids.slice(sequence.length)), expected);
    bytes.push(sequence.bytes);
  };
  await read('grown', grown);
  const copy = await backend.copy(grown, 280);
  grown.close();
  await read('copied', copy);
  const smaller = await backend.copy(copy, 208);
  bytes.push(smaller.bytes);
  await read('copied, then grown', smaller);
  const overflow = await smaller.forward(new Array<number>(1749).fill(5)).catch((error: Error) => error);
  const after = smaller.length;
  for (const sequence of [copy, smaller]) sequence.close();
  return { differences, bytes, overflow: overflow instanceof Error ? overflow.message : null, after };
}

/** What the self-test says of a device whose narrow subgroups make ONNX Runtime's prefill wrong. */
export async function selfTestOnNarrowSubgroups() {
  configureRuntime(wasm);
  const found = await findAdapter();
  if (!found.adapter) throw new Error(found.missing);
  const model = files();
  const config = await model.json('config.json');
  const own = await openDevice(found.adapter, 1);
  const weights = await loadWeights(model, 'q4', false, roomFor(found.adapter));
  const session = await createSession(weights, config, 2048, own, 'static');
  const backend = new OnnxBackend(session, {
    device: 'webgpu',
    reason: '',
    adapter: found.report,
    dtype: 'q4',
    decode: 'static',
    limits: [],
  });
  const fault = await checkNumbers(backend);
  await backend.close();
  return { lanes: found.adapter.info.subgroupMinSize, hasSubgroups: own.hasSubgroups, fault };
}

/** Destroys the device in the middle of an answer; then asks again. */
export async function loseDevice() {
  const devices: GPUDevice[] = [];
  const requestDevice = GPUAdapter.prototype.requestDevice;
  GPUAdapter.prototype.requestDevice = async function (this: GPUAdapter, descriptor) {
    const device = await requestDevice.call(this, descriptor);
    devices.push(device);
    return device;
  };
  try {
    const messages: FromWorker[] = [];
    let wake = () => {};
    const until = async (test: (message: FromWorker) => boolean) => {
      for (;;) {
        const found = messages.find(test);
        if (found) return found;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    };
    const service = new Service(
      (message) => {
        messages.push(message);
        wake();
      },
      (message, onProgress, signal) =>
        loadModel(message, onProgress, signal, { fetch: fetch.bind(window), store: null, wasm }),
    );
    const backend = { kind: 'onnx' as const, device: 'webgpu' as const, dtype: 'auto' as const };
    service.receive({ type: 'load', model: folder, backend, wasmUrl: null });
    const loaded = await until((message) => message.type === 'loaded' || message.type === 'failed');
    if (loaded.type === 'failed') throw new Error(loaded.error.message);
    const job = {
      messages: [{ role: 'user', content: 'Hello!' }],
      tools: null,
      templateArguments: {},
      sampling: {},
      choices: 1,
    };
    service.receive({ type: 'generate', request: 1, job: { ...job, maxTokens: 50 } });
    service.receive({ type: 'generate', request: 2, job: { ...job, maxTokens: 2 } });
    await until((message) => message.type === 'tokens' && message.from === 1);
    devices[0]!.destroy();
    const isEnd = (request: number) => (message: FromWorker) =>
      (message.type === 'failed' || message.type === 'done') && message.request === request;
    const first = await until(isEnd(1));
    const second = await until(isEnd(2));
    service.receive({ type: 'close' });
    await until((message) => message.type === 'closed');
    return {
      first,
      second,
      devices: devices.length,
      reports: messages.filter(({ type }) => type === 'device').length,
    };
  } finally {
    GPUAdapter.prototype.requestDevice = requestDevice;
  }
}

/** The error of a request whose tokens are chosen on the GPU, and whose device goes. The model is of no more use. */
export async function loseKeptDevice(way: DecodeWay): Promise<SerializedError> {
  const { model, backend, device } = await dropKept(way);
  const messages: FromWorker[] = [];
  const job = {
    messages: [{ role: 'user', content: 'Hello!' }],
    tools: null,
    templateArguments: {},
    sampling: {},
  };
  const request = new GenerateRequest(1, { ...job, maxTokens: 50, choices: 1 }, (message) => {
    messages.push(message);
    if (message.type === 'tokens' && message.from === 1) device.destroy();
  });
  const prefixes = new PrefixCache(backend);
  await request.run(model, async () => prefixes);
  await backend.close();
  const end = messages.at(-1);
  if (end?.type !== 'failed') throw new Error('The answer ended without its device.');
  return end.error;
}
