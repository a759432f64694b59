import { createRandomSource } from '../../../worker/sampling/random.ts';

/** A row like a language model's: few large values, a wide middle, in no order of ids. */
export function modelRow(size: number, seed: number): Float32Array {
  const { next } = createRandomSource(seed);
  return Float32Array.from({ length: size }, () => {
    const normal = next() + next() + next() + next() - 2;
    return normal * 5 + (next() < 0.001 ? 12 * next() : 0);
  });
}

/** A mask that lets about `share` of the tokens come. */
export function randomMask(size: number, seed: number, share: number): Uint32Array {
  const { next } = createRandomSource(seed);
  const mask = new Uint32Array(Math.ceil(size / 32));
  for (let id = 0; id < size; id++) if (next() < share) mask[id >>> 5]! |= 1 << (id & 31);
  return mask;
}

export interface PlainTop {
  ids: number[];
  logits: number[];
  allowed: number;
  weight: number;
  logSumExp: number;
}

/** The reference: a full sort and sums in double precision. */
export function plainTop(row: Float32Array, mask: Uint32Array | null, count: number, temperature: number) {
  const may = (id: number) => !mask || ((mask[id >>> 5]! >>> (id & 31)) & 1) === 1;
  const ids = [...row.keys()].filter((id) => may(id) && row[id] !== -Infinity);
  ids.sort((a, b) => row[b]! - row[a]! || a - b);
  const largest = row[ids[0]!]!;
  const sum = (divisor: number) =>
    ids.reduce((total, id) => total + Math.exp((row[id]! - largest) / divisor), 0);
  const kept = ids.slice(0, count);
  return {
    ids: kept,
    logits: kept.map((id) => row[id]!),
    allowed: ids.length,
    weight: sum(temperature),
    logSumExp: largest + Math.log(sum(1)),
  } satisfies PlainTop;
}

/** Single precision to the bits of half precision, rounding to nearest, for values that it holds. */
export function halfBits(value: number): number {
  if (Number.isNaN(value)) return 0x7e00;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(value);
  if (magnitude === Infinity) return sign | 0x7c00;
  if (magnitude < 2 ** -14) return sign | Math.round(magnitude * 2 ** 24);
  const exponent = Math.floor(Math.log2(magnitude));
  return sign | (((exponent + 15) << 10) + Math.round((magnitude / 2 ** exponent - 1) * 1024));
}
