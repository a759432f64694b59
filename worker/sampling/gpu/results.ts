import type { Candidates } from '../candidates.ts';
import { drawnWord, headWords, keys } from './shader.ts';

/** The token of the largest logit; where there is none, what is wrong with the row. */
export interface Best {
  /** With `notANumber`, the first token whose logit is a NaN. */
  id: number;
  fault: 'notANumber' | 'notFinite' | null;
}

/** A row's largest logits and sums over all that may come. Without meaning where `best` has a fault. */
export interface Top {
  best: Best;
  /** Best first; logits after the row's changes. */
  candidates: Candidates;
  /** Tokens that may come and whose logit is above `-Infinity`. */
  allowed: number;
  /** Sum over all of these of exp((logit - largest) / temperature). */
  weight: number;
  /** Log of the sum over all of these of exp(logit): at temperature 1, whatever the temperature. */
  logSumExp: number;
  /** The token drawn, where one was asked for: it may be another one than more precise numbers give. */
  drawn: number;
}

/** @param words of `result`, from its first one */
export function readBest(words: Uint32Array): Best {
  const [key, id] = words as unknown as [number, number];
  if (key === keys.notANumber) return { id, fault: 'notANumber' };
  return { id, fault: key === 0 || key >= keys.infinity ? 'notFinite' : null };
}

const keyBits = new Uint32Array(1);
const keyFloat = new Float32Array(keyBits.buffer);

function logitOf(key: number): number {
  keyBits[0] = key & 0x80000000 ? key & 0x7fffffff : ~key;
  return keyFloat[0]!;
}

/** @param words of `result`, from its first one */
export function readTop(words: Uint32Array): Top {
  const best = readBest(words);
  const allowed = words[3]!;
  const count = words[4]!;
  const pairs: [key: number, id: number][] = [];
  for (let at = headWords; pairs.length < count; at += 2) pairs.push([words[at]!, words[at + 1]!]);
  // They come by id, and sorting leaves equal ones as they are.
  pairs.sort(([a], [b]) => b - a);
  const [weight, plain] = new Float32Array(words.buffer, words.byteOffset + 20, 2) as unknown as [
    number,
    number,
  ];
  return {
    best,
    candidates: {
      ids: Int32Array.from(pairs, ([, id]) => id),
      logits: Float64Array.from(pairs, ([key]) => logitOf(key)),
      count,
    },
    allowed,
    weight,
    logSumExp: count === 0 ? -Infinity : logitOf(words[0]!) + Math.log(plain),
    drawn: words[drawnWord]!,
  };
}
