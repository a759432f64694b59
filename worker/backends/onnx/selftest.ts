import type { Backend } from '../backend.ts';

/**
 * A device can compute wrong numbers without any error. Known case: prefill attention that relies on wide
 * subgroups is wrong from 32 tokens on, while shorter runs are right. So the same tokens go through the model
 * in two ways that take different kernels, and both have to give the same logits:
 *
 * ```
 * a prefill of 40 tokens, then a decode    ├──────────── 40 ────────────┤├1┤
 * two prefills of less than 32 tokens      ├───── 20 ─────┤├───── 21 ──────┤
 * logits compared                                                      ▲  ▲
 * ```
 *
 * The kernels are compiled on the way, so that the first request does not wait for it.
 */
const long = 40;
const short = 20;
/** In spreads of the logits: rounding of 16-bit floats stays well below, the known faults are above. */
const tolerance = 0.25;

/** What is wrong with the device's numbers, or `null`. */
export async function checkNumbers(backend: Backend): Promise<string | null> {
  const ids = Array.from({ length: long + 1 }, (_, index) => (index * 7919 + 13) % backend.width);
  const whole = await lastRows(backend, [
    { ids: ids.slice(0, long), rows: 1 },
    { ids: ids.slice(long), rows: 1 },
  ]);
  const halves = await lastRows(backend, [
    { ids: ids.slice(0, short), rows: 0 },
    { ids: ids.slice(short), rows: 2 },
  ]);
  for (const [index, name] of [`a prefill of ${long} tokens`, 'a decode step'].entries()) {
    const difference = relativeDifference(whole[index]!, halves[index]!);
    if (!(difference < tolerance)) {
      return `${name} differs from the same tokens in shorter pieces by ${difference.toFixed(2)} of the logits' spread`;
    }
  }
  return null;
}

/** Tokens before the steps compared: three steps are of one length bucket, three of the next. */
const beforeSteps = 125;
/** In spreads of the logits. The kernels are the same; only how much of the cache they look at differs. */
const stepTolerance = 0.05;

/**
 * What is wrong with steps run in `way`, beside the same steps without it, or `null`. Each kind of step runs three
 * times: it is captured, replayed by the runtime, and replayed without it.
 */
export async function checkSteps(backend: Backend, way: (isOn: boolean) => void): Promise<string | null> {
  const ids = Array.from({ length: beforeSteps + 6 }, (_, index) => (index * 7919 + 13) % backend.width);
  const { prefillPiece } = backend;
  way(false);
  const plain = await backend.open();
  const prompt = ids.slice(0, beforeSteps);
  for (let from = 0; from < prompt.length; from += prefillPiece) {
    (await plain.forward(prompt.slice(from, from + prefillPiece), 0)).release();
  }
  const other = await backend.copy(plain, beforeSteps);
  try {
    for (const [index, id] of ids.slice(beforeSteps).entries()) {
      const rows: Float32Array[] = [];
      for (const [isOn, sequence] of [
        [false, plain],
        [true, other],
      ] as const) {
        way(isOn);
        const logits = await sequence.forward([id], 1);
        rows.push((await logits.read(0)).slice());
        logits.release();
      }
      const difference = relativeDifference(rows[0]!, rows[1]!);
      if (!(difference < stepTolerance)) {
        return `step ${index + 1} differs by ${difference.toFixed(2)} of the logits' spread`;
      }
    }
    return null;
  } finally {
    plain.close();
    other.close();
  }
}

async function lastRows(
  backend: Backend,
  passes: { ids: number[]; rows: number }[],
): Promise<Float32Array[]> {
  const sequence = await backend.open();
  const found: Float32Array[] = [];
  try {
    for (const { ids, rows } of passes) {
      const logits = await sequence.forward(ids, rows);
      for (let row = 0; row < rows; row++) found.push((await logits.read(row)).slice());
      logits.release();
    }
  } finally {
    sequence.close();
  }
  return found;
}

/** Root mean square of the difference, in standard deviations of the first row; NaN when either holds one. */
export function relativeDifference(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  let squares = 0;
  let difference = 0;
  for (let index = 0; index < a.length; index++) {
    sum += a[index]!;
    squares += a[index]! ** 2;
    difference += (a[index]! - b[index]!) ** 2;
  }
  const variance = squares / a.length - (sum / a.length) ** 2;
  return Math.sqrt(difference / a.length / variance);
}
