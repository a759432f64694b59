import { Adjustments } from '../adjustments.ts';
import { topK } from '../candidates.ts';
import { neutralSampling } from '../options.ts';
import { createRandomSource } from '../random.ts';
import { drawFrom, greedy, Masking } from '../sampler.ts';
import { type LogitsType, type RowReducer, weightError } from './reducer.ts';

const count = 100;
const temperature = 0.7;
const cuts = { topP: 0.9, minP: 0.01 };
/** Where a token is drawn: at the first one that is not near the border of two tokens, where rounding would decide. */
const points = [0.4, 0.5, 0.6, 0.7];
const near = 1e-4;

/**
 * What is wrong with what a device makes of a row, or `null`: a row of random values, some of them repeated, masked and
 * adjusted, reduced there and here.
 *
 * @param device of the reducer
 */
export async function checkReducer(
  device: GPUDevice,
  reducer: RowReducer,
  type: LogitsType,
): Promise<string | null> {
  const { size } = reducer;
  const { next } = createRandomSource(1);
  // Multiples of 1/64 below 16: half precision holds them all.
  const row = Float32Array.from({ length: size }, () => Math.floor(next() * 2048) / 64 - 16);
  const mask = Uint32Array.from({ length: Math.ceil(size / 32) }, () => Math.floor(next() * 2 ** 32));
  const penalties = { repetitionPenalty: 1.5, presencePenalty: 0, frequencyPenalty: 0 };
  const adjustments = new Adjustments(
    penalties,
    [...row.keys()].filter((id) => id % 7 === 0),
  );
  const right = adjustments.apply(new Masking().apply(row, mask));
  const best = greedy(right);
  const drawnAt = (point: number, topP = cuts.topP) =>
    drawFrom(topK(right, count), right[best]!, { ...neutralSampling, ...cuts, topP, temperature }, point);
  const isClear = (point: number) => {
    const drawn = [-near, near].flatMap((off) => [drawnAt(point + off), drawnAt(point, cuts.topP + off)]);
    return new Set(drawn).size === 1;
  };
  const point = points.find(isClear) ?? points[0]!;

  const buffer = device.createBuffer({
    label: 'sampling: self-test',
    size: Math.ceil(size / 2) * (type === 'float32' ? 8 : 4),
    usage: GPUBufferUsage.STORAGE,
    mappedAtCreation: true,
  });
  if (type === 'float32') new Float32Array(buffer.getMappedRange()).set(row);
  else new Uint16Array(buffer.getMappedRange()).set(Array.from(row, halfOf));
  buffer.unmap();
  const written = device.createBuffer({
    label: 'sampling: self-test',
    size: 8,
    usage: GPUBufferUsage.COPY_DST,
  });
  try {
    const gpuRow = { buffer, first: 0 };
    const changes = { mask, adjustments };
    const found = await reducer.best(gpuRow, changes);
    if (found.id !== best || found.fault) return `the largest logit is of token ${found.id}, not ${best}`;
    const { candidates, weight, drawn } = await reducer.top(
      gpuRow,
      changes,
      Math.min(count, size),
      temperature,
      { ...cuts, point, next: written },
    );
    const expected = topK(right, count);
    for (const [index, id] of expected.ids.subarray(0, expected.count).entries()) {
      if (candidates.ids[index] !== id || candidates.logits[index] !== expected.logits[index]) {
        return `candidate ${index} is token ${candidates.ids[index]} with ${candidates.logits[index]}, not ${id} with ${expected.logits[index]}`;
      }
    }
    const sum = right.reduce((total, logit) => total + Math.exp((logit - right[best]!) / temperature), 0);
    if (!(Math.abs(weight / sum - 1) < weightError)) return `the sum of the row is ${weight}, not ${sum}`;
    const token = drawnAt(point);
    if (drawn !== token) return `the token drawn is ${drawn}, not ${token}`;
    return null;
  } finally {
    buffer.destroy();
    written.destroy();
  }
}

/** Bits in half precision of a multiple of 1/64 that is below 16. */
function halfOf(value: number): number {
  if (value === 0) return 0;
  const magnitude = Math.abs(value);
  const exponent = Math.floor(Math.log2(magnitude));
  const fraction = (magnitude / 2 ** exponent - 1) * 1024;
  return (value < 0 ? 0x8000 : 0) | ((exponent + 15) << 10) | fraction;
}
