/** Both samplers on the page itself, on rows of logits that lie on the GPU as after a forward pass. */
import type { SamplingOptions } from '../../src/protocol.ts';
import { modelRow, randomMask } from '../../test/browser/sampling/rows.ts';
import { findAdapter, openDevice } from '../../worker/backends/onnx/device.ts';
import { RowReader } from '../../worker/backends/onnx/reader.ts';
import { RowReducer } from '../../worker/sampling/gpu/reducer.ts';
import { GpuSampler } from '../../worker/sampling/gpu/sampler.ts';
import { neutralSampling } from '../../worker/sampling/options.ts';
import { Sampler } from '../../worker/sampling/sampler.ts';
import { type Calls, callsSoFar, countCalls } from '../decode/counters.ts';

export interface Task {
  vocabulary: number;
  options: Partial<SamplingOptions>;
  /** Whether a mask lets half of the tokens come. */
  isMasked: boolean;
}

export interface SamplingRun {
  ids: number[];
  calls: Calls;
  /** Milliseconds a token, waiting for the device included. */
  wall: number;
  /** Rows that the GPU's result did not settle. */
  readRows: number;
}

countCalls();
let device: GPUDevice | null = null;
const parts = new Map<number, { rows: GPUBuffer[]; reducer: RowReducer; reader: RowReader }>();

async function partsFor(vocabulary: number) {
  const known = parts.get(vocabulary);
  if (known) return known;
  if (!device) {
    const found = await findAdapter();
    if (!found.adapter) throw new Error(found.missing);
    device = (await openDevice(found.adapter, Number.POSITIVE_INFINITY)).device;
  }
  const rows = [1, 2].map((seed) => {
    const buffer = device!.createBuffer({
      size: vocabulary * 4,
      usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC,
      mappedAtCreation: true,
    });
    new Float32Array(buffer.getMappedRange()).set(modelRow(vocabulary, seed));
    buffer.unmap();
    return buffer;
  });
  const reducer = await RowReducer.create(device, vocabulary, 'float32');
  const made = { rows, reducer, reader: new RowReader(device, vocabulary, 'float32') };
  parts.set(vocabulary, made);
  return made;
}

/** Chooses so many tokens from two rows in turn. */
async function sample(
  place: 'gpu' | 'cpu',
  { vocabulary, options, isMasked }: Task,
  tokens: number,
): Promise<SamplingRun> {
  const { rows, reducer, reader } = await partsFor(vocabulary);
  const sampling = { ...neutralSampling, ...options };
  const prompt = Array.from({ length: 500 }, (_, index) => (index * 7919) % vocabulary);
  const mask = isMasked ? randomMask(vocabulary, 3, 0.5) : null;
  const gpu = new GpuSampler(reducer, sampling, 1, 0, prompt);
  const cpu = new Sampler(sampling, 1, 0, prompt);
  const ids: number[] = [];
  const before = callsSoFar();
  const start = performance.now();
  for (let token = 0; token < tokens; token++) {
    const buffer = rows[token % 2]!;
    const read = () => reader.read(buffer, 0);
    ids.push(
      place === 'gpu' ? await gpu.next({ buffer, first: 0 }, mask, read) : cpu.next(await read(), mask),
    );
  }
  const wall = (performance.now() - start) / tokens;
  const now = callsSoFar();
  const calls = Object.fromEntries(
    Object.entries(now).map(([name, count]) => [name, (count - before[name as keyof Calls]) / tokens]),
  ) as unknown as Calls;
  return { ids, calls, wall, readRows: gpu.readRows };
}

declare global {
  interface Window {
    sample: typeof sample;
  }
}

window.sample = sample;
