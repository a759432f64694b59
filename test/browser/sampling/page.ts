import type { TokenLogprobs } from '../../../src/protocol.ts';
import { findAdapter, openDevice } from '../../../worker/backends/onnx/device.ts';
import { widenHalf } from '../../../worker/backends/onnx/half.ts';
import { Adjustments } from '../../../worker/sampling/adjustments.ts';
import { type LogitsType, RowReducer } from '../../../worker/sampling/gpu/reducer.ts';
import type { Top } from '../../../worker/sampling/gpu/results.ts';
import { GpuSampler } from '../../../worker/sampling/gpu/sampler.ts';
import { checkReducer } from '../../../worker/sampling/gpu/selftest.ts';
import { logprobsOfRow, logprobsOnGpu } from '../../../worker/sampling/logprobs.ts';
import { neutralSampling } from '../../../worker/sampling/options.ts';
import { Sampler } from '../../../worker/sampling/sampler.ts';
import { halfBits, modelRow, plainTop, randomMask } from './rows.ts';

/** What the tests in `sampling.spec.ts` call, on a device of the page. Each gives what was found beside what is right. */
let device: GPUDevice | null = null;
/** Never used: as long as they are there, the device has their shaders, which take it seconds to compile. */
const compiled: RowReducer[] = [];

async function openPageDevice(): Promise<GPUDevice> {
  if (device) return device;
  const found = await findAdapter();
  if (!found.adapter) throw new Error(found.missing);
  const opened = (await openDevice(found.adapter, Number.POSITIVE_INFINITY)).device;
  for (const type of ['float32', 'float16'] as const) {
    compiled.push(await RowReducer.create(opened, 2048, type));
  }
  device = opened;
  return device;
}

/** `padding` values of another row stand before this one, which must not count. */
function upload(device: GPUDevice, row: Float32Array, type: LogitsType, padding: number): GPUBuffer {
  const bytes = type === 'float32' ? 4 : 2;
  const buffer = device.createBuffer({
    size: Math.ceil(((row.length + padding) * bytes) / 4) * 4,
    usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST,
    mappedAtCreation: true,
  });
  const range = buffer.getMappedRange();
  if (type === 'float32') {
    const values = new Float32Array(range);
    values.fill(1e30, 0, padding);
    values.set(row, padding);
  } else {
    const values = new Uint16Array(range);
    values.fill(halfBits(60_000), 0, padding);
    values.set(Array.from(row, halfBits), padding);
  }
  buffer.unmap();
  return buffer;
}

/** What half precision keeps of a row. */
function throughHalf(row: Float32Array): Float32Array {
  const widened = new Float32Array(row.length);
  widenHalf(Uint16Array.from(row, halfBits), widened);
  return widened;
}

export interface Reduction {
  size: number;
  type?: LogitsType;
  /** Values before the row. */
  padding?: number;
  count?: number;
  temperature?: number;
  row?: 'model' | 'equal' | 'steps' | 'sparse';
  /** Share of tokens that may come. */
  share?: number;
}

function makeRow({ row: kind, size }: Reduction): Float32Array {
  const row = modelRow(size, size);
  // Few values, with both zeros among them: ties at every border.
  if (kind === 'steps') return row.map((value) => Math.trunc(value / 4));
  if (kind === 'sparse') return row.map((value, id) => (id % 977 === 5 ? value : -Infinity));
  return kind === 'equal' ? row.fill(1.5) : row;
}

const plain = ({ best, candidates: { ids, logits }, ...rest }: Top) => ({
  best,
  ids: [...ids],
  logits: [...logits],
  ...rest,
});

/** A row reduced in both ways, beside the reference. */
export async function reduce(reduction: Reduction) {
  const { size, type = 'float32', padding = 0, count = 256, temperature = 1, share } = reduction;
  const device = await openPageDevice();
  const given = makeRow(reduction);
  const row = type === 'float32' ? given : throughHalf(given);
  const mask = share === undefined ? null : randomMask(size, 3, share);
  const buffer = upload(device, row, type, padding);
  const next = device.createBuffer({ size: 8, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC });
  const reducer = await RowReducer.create(device, size, type);
  const changes = { mask, adjustments: null };
  const gpuRow = { buffer, first: padding };
  const best = await reducer.best(gpuRow, changes, next);
  const top = plain(await reducer.top(gpuRow, changes, count, temperature));
  const written = await readBack(device, next);
  reducer.destroy();
  for (const used of [buffer, next]) used.destroy();
  // A zero's sign says nothing.
  const right = plainTop(
    row.map((value) => value + 0),
    mask,
    count,
    temperature,
  );
  return { best, top, next: written, right };
}

async function readBack(device: GPUDevice, buffer: GPUBuffer): Promise<number> {
  const staging = device.createBuffer({ size: 8, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, staging, 0, 8);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(GPUMapMode.READ);
  const value = Number(new BigInt64Array(staging.getMappedRange())[0]);
  staging.destroy();
  return value;
}

/** What comes of rows that no token can be chosen from, greedily and drawn; and the names of two overlapping calls. */
export async function faults() {
  const size = 2048;
  const device = await openPageDevice();
  const reducer = await RowReducer.create(device, size, 'float32');
  const nowhere = new Uint32Array(size / 32);
  const only = (id: number) => nowhere.map((_, word) => (word === id >> 5 ? 1 << (id & 31) : 0));
  const filled = (...changes: [number, number][]) => {
    const row = modelRow(size, 1);
    for (const [id, value] of changes) row[id] = value;
    return row;
  };
  const rows: Record<string, [Float32Array, Uint32Array | null]> = {
    'a NaN': [filled([700, Number.NaN], [900, Number.NaN]), null],
    'a NaN of negative sign': [
      new Float32Array(new Uint32Array(filled().buffer).fill(0xffc00000, 9, 10).buffer),
      null,
    ],
    'a NaN that may not come': [filled([700, Number.NaN]), only(3)],
    Infinity: [filled([700, Number.POSITIVE_INFINITY]), null],
    'nothing but -Infinity': [new Float32Array(size).fill(-Infinity), null],
    'an empty mask': [filled(), nowhere],
    'a short mask': [filled(), new Uint32Array(1)],
    'one token may come': [filled(), only(2047)],
  };
  const outcomes: Record<string, { gpu: (string | number)[]; cpu: (string | number)[] }> = {};
  const outcome = async (choose: () => Promise<number> | number) => {
    try {
      return await choose();
    } catch (error) {
      return `${(error as Error).name}: ${(error as Error).message}`;
    }
  };
  for (const [name, [row, mask]] of Object.entries(rows)) {
    const buffer = upload(device, row, 'float32', 0);
    const gpu: (string | number)[] = [];
    const cpu: (string | number)[] = [];
    for (const temperature of [0, 1]) {
      const options = { ...neutralSampling, temperature };
      const sampler = new GpuSampler(reducer, options, 1, 0, []);
      gpu.push(await outcome(() => sampler.next({ buffer, first: 0 }, mask, async () => row)));
      cpu.push(await outcome(() => new Sampler(options, 1, 0, []).next(row, mask)));
    }
    outcomes[name] = { gpu, cpu };
    buffer.destroy();
  }
  const buffer = upload(device, filled(), 'float32', 0);
  const row = { buffer, first: 0 };
  const changes = { mask: null, adjustments: null };
  const first = reducer.best(row, changes);
  const overlap = await outcome(async () => (await reducer.best(row, changes)).id);
  await first;
  const count = await outcome(async () => (await reducer.top(row, changes, 257, 1)).allowed);
  reducer.destroy();
  return { outcomes, overlap, count };
}

/** What the self-test says of this device, and of devices that compute one thing wrong. */
export async function selfTests() {
  const device = await openPageDevice();
  const found: Record<string, string | null> = {};
  for (const type of ['float32', 'float16'] as const) {
    const reducer = await RowReducer.create(device, 2001, type);
    found[type] = await checkReducer(device, reducer, type);
    reducer.destroy();
  }
  const reducer = await RowReducer.create(device, 2001, 'float32');
  const wrong = (changed: Partial<RowReducer>) =>
    checkReducer(
      device,
      {
        size: 2001,
        best: (...given: Parameters<RowReducer['best']>) => reducer.best(...given),
        top: (...given: Parameters<RowReducer['top']>) => reducer.top(...given),
        ...changed,
      } as RowReducer,
      'float32',
    );
  found.mask = await wrong({ best: (row, changes) => reducer.best(row, { ...changes, mask: null }) });
  found.penalties = await wrong({
    top: (row, changes, ...rest) => reducer.top(row, { ...changes, adjustments: null }, ...rest),
  });
  found.sum = await wrong({
    top: async (...given) => ({ ...(await reducer.top(...given)), weight: 1.01 }),
  });
  reducer.destroy();
  return found;
}

/** Adjusted logits of every token of a small row, on the GPU and on the CPU, while an answer grows. */
export async function adjusted(penalties: Partial<typeof neutralSampling>, bias: [number, number][]) {
  const size = 250;
  const device = await openPageDevice();
  const reducer = await RowReducer.create(device, size, 'float32');
  const row = modelRow(size, 4);
  const buffer = upload(device, row, 'float32', 0);
  const adjustments = new Adjustments(
    { ...neutralSampling, ...penalties },
    [0, 5, 6, 249, 400],
    new Map(bias),
  );
  const other = new Adjustments({ ...neutralSampling, repetitionPenalty: 3 }, [1, 2, 3]);
  const steps: { gpu: number[]; cpu: number[] }[] = [];
  const measure = async (changes: Adjustments) => {
    const { candidates } = await reducer.top(
      { buffer, first: 0 },
      { mask: null, adjustments: changes },
      size,
      1,
    );
    const gpu = new Array<number>(size);
    for (const [index, id] of candidates.ids.entries()) gpu[id] = candidates.logits[index]!;
    steps.push({ gpu, cpu: [...changes.apply(row)] });
  };
  await measure(adjustments);
  for (const taken of [[7], [7, 8], [], [33, 249, 7]]) {
    for (const id of taken) adjustments.take(id);
    await measure(adjustments);
  }
  // Another choice has its turn in between.
  await measure(other);
  adjustments.take(100);
  await measure(adjustments);
  reducer.destroy();
  buffer.destroy();
  return steps;
}

/** Tokens chosen by both samplers from a few rows in turn, and how many rows were read for it. */
export async function compareSamplers(
  size: number,
  limits: Partial<typeof neutralSampling>,
  tokens: number,
  share: number | null = null,
) {
  const device = await openPageDevice();
  const reducer = await RowReducer.create(device, size, 'float32');
  const rows = [modelRow(size, 11), modelRow(size, 12)];
  const buffers = rows.map((row) => upload(device, row, 'float32', 0));
  const options = { ...neutralSampling, ...limits };
  const gpu = new GpuSampler(reducer, options, 77, 2, [1, 2, 3]);
  const cpu = new Sampler(options, 77, 2, [1, 2, 3]);
  const next = device.createBuffer({ size: 8, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC });
  const ids: { gpu: number[]; cpu: number[]; written: number[] } = { gpu: [], cpu: [], written: [] };
  for (let token = 0; token < tokens; token++) {
    const row = rows[token % 2]!;
    const mask = share === null ? null : randomMask(size, token, share);
    const target = gpu.choosesAlone ? next : null;
    ids.gpu.push(await gpu.next({ buffer: buffers[token % 2]!, first: 0 }, mask, async () => row, target));
    ids.cpu.push(cpu.next(row, mask));
    if (!target) continue;
    ids.written.push(await readBack(device, next));
    if (gpu.written !== ids.written.at(-1)) throw new Error(`The sampler says ${gpu.written} was written.`);
  }
  reducer.destroy();
  for (const buffer of [...buffers, next]) buffer.destroy();
  return { ...ids, readRows: gpu.readRows };
}

/**
 * Logprobs of tokens from the best to one that may not come, from a row on the GPU and from the same row in memory, and
 * how often the row was read.
 */
export async function compareLogprobs(size: number, type: LogitsType, share: number | null) {
  const device = await openPageDevice();
  const reducer = await RowReducer.create(device, size, type);
  const row = type === 'float32' ? modelRow(size, 31) : throughHalf(modelRow(size, 31));
  const buffer = upload(device, row, type, 0);
  const mask = share === null ? null : randomMask(size, 9, share);
  const { ids } = plainTop(row, mask, size, 1);
  const may = new Set(ids);
  const forbidden = [...row.keys()].find((id) => !may.has(id)) ?? [];
  const asked = [ids[0]!, ids[19]!, ids[255]!, ids[1000]!].concat(forbidden);
  let reads = 0;
  const read = async () => {
    reads++;
    return row;
  };
  const found: { gpu: TokenLogprobs; cpu: TokenLogprobs }[] = [];
  for (const [index, id] of asked.entries()) {
    const count = [20, 0, 1][index % 3]!;
    const gpu = await logprobsOnGpu(reducer, { buffer, first: 0 }, mask, id, count, read);
    found.push({ gpu, cpu: logprobsOfRow(row, mask, id, count) });
  }
  reducer.destroy();
  buffer.destroy();
  return { found, reads };
}

/**
 * Pearson's statistic of tokens drawn at a temperature from one row; its 15 most probable tokens are a bin each, all
 * others one more. The row is reduced once, for the GPU gives the same each time.
 */
export async function chiSquare(size: number, temperature: number, draws: number) {
  const device = await openPageDevice();
  const reducer = await RowReducer.create(device, size, 'float32');
  const row = modelRow(size, 21);
  const buffer = upload(device, row, 'float32', 0);
  const gpuRow = { buffer, first: 0 };
  const top = await reducer.top(gpuRow, { mask: null, adjustments: null }, 256, temperature);
  reducer.destroy();
  buffer.destroy();
  const reduced = { size, top: async () => top } as unknown as RowReducer;
  const sampler = new GpuSampler(reduced, { ...neutralSampling, temperature }, 5, 0, []);
  const counts = new Map<number, number>();
  for (let draw = 0; draw < draws; draw++) {
    const id = await sampler.next(gpuRow, null, async () => row);
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  const { ids, logits, weight } = plainTop(row, null, 15, temperature);
  const shares = logits.map((logit) => Math.exp((logit - logits[0]!) / temperature) / weight);
  const seen = ids.map((id) => counts.get(id) ?? 0);
  const rest = (values: number[], whole: number) => whole - values.reduce((sum, value) => sum + value, 0);
  shares.push(rest(shares, 1));
  seen.push(rest(seen, draws));
  const expected = shares.map((share) => share * draws);
  return {
    statistic: seen.reduce((sum, count, bin) => sum + (count - expected[bin]!) ** 2 / expected[bin]!, 0),
    leastExpected: Math.min(...expected),
    readRows: sampler.readRows,
  };
}
