import type { Backend, Sequence } from '../backend.ts';

/**
 * A device can compute wrong numbers without any error. Known case: prefill attention that relies on wide
 * subgroups is wrong from 32 tokens on, while shorter runs are right. So the same tokens go through the model
 * once whole and once in pieces that take other kernels, and both have to give the same logits, as must the
 * decode step after each. Warms the kernels up on the way.
 */
const promptLength = 48;
const shortPiece = 16;
/** Of the spread of the logits: rounding of 16-bit floats stays below a tenth of this, faults are above it. */
const tolerance = 0.25;

/** What is wrong with the device's numbers, or `null`. */
export async function checkNumbers(backend: Backend): Promise<string | null> {
  const prompt = Array.from({ length: promptLength }, (_, index) => (index * 7919 + 13) % backend.width);
  const whole = await logitsAfter(backend, [prompt]);
  const pieces: number[][] = [];
  for (let at = 0; at < promptLength; at += shortPiece) pieces.push(prompt.slice(at, at + shortPiece));
  const inPieces = await logitsAfter(backend, pieces);
  for (const [step, name] of ['prefill', 'decode'].entries()) {
    const difference = relativeDifference(whole[step]!, inPieces[step]!);
    if (!(difference < tolerance)) {
      return `a ${name} of ${promptLength} tokens differs from itself in pieces by ${difference.toFixed(2)} of the logits' spread`;
    }
  }
  return null;
}

/** Logits after the prompt, and after one more token. */
async function logitsAfter(backend: Backend, pieces: number[][]): Promise<[Float32Array, Float32Array]> {
  const sequence = await backend.open();
  try {
    const last = pieces.at(-1)!;
    for (const piece of pieces.slice(0, -1)) (await sequence.forward(piece, 0)).release();
    return [await lastRow(sequence, last), await lastRow(sequence, [1])];
  } finally {
    sequence.close();
  }
}

async function lastRow(sequence: Sequence, ids: number[]): Promise<Float32Array> {
  const logits = await sequence.forward(ids);
  try {
    return (await logits.read(0)).slice();
  } finally {
    logits.release();
  }
}

/** Root mean square of the difference, in standard deviations of the first row; NaN when either holds one. */
function relativeDifference(a: Float32Array, b: Float32Array): number {
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
