/** A source of random numbers in [0, 1) whose sequence depends on its seed alone. */
export interface RandomSource {
  next(): number;
}

/** Spreads a 32-bit state over 32 well-mixed bits (the finalizer of MurmurHash3). */
function mix(value: number): number {
  let bits = value | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

const rotateLeft = (value: number, by: number) => (value << by) | (value >>> (32 - by));

/**
 * The generator xoshiro128** (Blackman and Vigna, 2018), 53 bits a number. Each choice of a request has its
 * own stream, so that one choice's length does not change what the next one draws.
 *
 * @param seed any integer up to 2^53; both halves count
 */
export function createRandomSource(seed: number, stream = 0): RandomSource {
  const state = new Int32Array(4);
  let counter = mix(seed >>> 0) ^ mix(Math.floor(seed / 2 ** 32) + 0x3c6ef372) ^ mix(stream + 0x1b873593);
  for (let index = 0; index < 4; index++) {
    counter = (counter + 0x9e3779b9) | 0;
    state[index] = mix(counter);
  }
  if (state.every((word) => word === 0)) state[0] = 1;

  const next32 = (): number => {
    const result = Math.imul(rotateLeft(Math.imul(state[1]!, 5), 7), 9) >>> 0;
    const shifted = state[1]! << 9;
    state[2]! ^= state[0]!;
    state[3]! ^= state[1]!;
    state[1]! ^= state[2]!;
    state[0]! ^= state[3]!;
    state[2]! ^= shifted;
    state[3] = rotateLeft(state[3]!, 11);
    return result;
  };
  return { next: () => ((next32() >>> 5) * 2 ** 26 + (next32() >>> 6)) / 2 ** 53 };
}

/** A seed for requests that give none: 32 random bits. */
export function freshSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0]!;
}
