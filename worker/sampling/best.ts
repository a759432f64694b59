import type { SamplingOptions } from '../../src/protocol.ts';
import type { Candidates } from './candidates.ts';
import { drawFrom, scale } from './sampler.ts';

/** A row of logits by its best tokens and a sum, which is what a GPU gives back of it. */
export interface BestOfRow {
  /** Best first, one or more, with finite logits. */
  best: Candidates;
  /** Tokens of the row whose logit is above `-Infinity`. */
  allowed: number;
  /** Sum over all of these of exp((logit - largest) / temperature), within a share of `weightError`. */
  weight: number;
  /** The most that `weight` can be off, as a share; from 1 on, it says nothing. */
  weightError: number;
}

/** Sums of the same numbers in another order differ by less. */
const orderError = 1e-11;

/**
 * The token that is drawn from the whole row at `point`, or `null` where the best tokens do not settle it. What is not
 * known exactly is kept between bounds: the mass that may be drawn grows with the row's whole mass, and the token with
 * the mass, so where both ends give the same token, so does what is between.
 *
 * @param width values of the row, which turns top-k off where it is as large
 * @param point uniform in [0, 1)
 */
export function drawFromBest(
  row: BestOfRow,
  width: number,
  options: SamplingOptions,
  point: number,
): number | null {
  const { best, allowed } = row;
  const { temperature, topK, topP: p, minP } = options;
  const top = best.logits[0]!;
  const k = topK > 0 && topK < width ? Math.min(topK, allowed) : allowed;
  if (k <= best.count) {
    // All there is to draw from is in hand, in the order that a whole row gives it.
    const inHand = { ids: best.ids.slice(0, k), logits: best.logits.slice(0, k), count: k };
    if (topK <= 0 || topK >= width) sortById(inHand);
    return drawFrom(inHand, top, options, point);
  }

  const { ids, count } = best;
  const scaled = { ids, logits: best.logits.slice(0, count), count };
  scale(scaled, top, temperature);
  /** Mass of the first tokens, up to each one. */
  const reached = new Float64Array(count);
  let mass = 0;
  for (let index = 0; index < count; index++) {
    mass += Math.exp(scaled.logits[index]!);
    reached[index] = mass;
  }
  const least = Math.exp(scaled.logits[count - 1]!);

  // The mass of all that top-k leaves: none of the others weighs more than the last one in hand.
  let low = mass;
  let high = mass + (k - count) * least;
  if (row.weightError < 1) {
    if (k === allowed) low = Math.max(low, row.weight * (1 - row.weightError));
    high = Math.min(high, row.weight * (1 + row.weightError));
  }
  low *= 1 - orderError;
  high *= 1 + orderError;

  if (p < 1) {
    const shortest = reachedAt(reached, p * low);
    const longest = reachedAt(reached, p * high);
    // Where the cut is not in hand, the mass before it is still known up to the token that completes it.
    low = shortest < count ? reached[shortest]! : Math.max(mass, p * low);
    high = longest < count ? reached[longest]! : Math.min(high, p * high + least);
  }
  if (minP > 0) {
    let passing = count;
    const threshold = Math.log(minP);
    while (passing > 0 && scaled.logits[passing - 1]! < threshold) passing--;
    if (passing < count) {
      low = Math.min(low, reached[passing - 1]!);
      high = Math.min(high, reached[passing - 1]!);
    } else {
      low = Math.min(low, mass);
    }
  }
  // Also where the device's sum contradicts the tokens in hand.
  if (!(low <= high * (1 + orderError))) return null;
  const from = reachedAt(reached, point * low * (1 - orderError));
  const to = reachedAt(reached, point * high * (1 + orderError));
  return from === to && to < count ? ids[to]! : null;
}

/** The first place at which the mass is at least `target`; behind the last where it is nowhere. */
function reachedAt(reached: Float64Array, target: number): number {
  let low = 0;
  let high = reached.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (reached[middle]! >= target) high = middle;
    else low = middle + 1;
  }
  return low;
}

function sortById({ ids, logits, count }: Candidates): void {
  const order = Array.from({ length: count }, (_, index) => index).sort((a, b) => ids[a]! - ids[b]!);
  const [ofIds, ofLogits] = [ids.slice(), logits.slice()];
  for (const [to, from] of order.entries()) {
    ids[to] = ofIds[from]!;
    logits[to] = ofLogits[from]!;
  }
}
