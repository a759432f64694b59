/**
 * Which tokens may be drawn. All steps go down one order, best first: the larger logit, of equal ones the smaller id.
 * What top-k, top-p and min-p keep are beginnings of it, and the token drawn is the one at which the summed
 * probability reaches the random number; so a row and its best tokens alone give the same token. The whole vocabulary
 * is never sorted: top-k keeps a heap of k, the others sort into buckets by distance from the largest logit and order
 * only the bucket in which the mass is reached.
 */

/** Token ids with their logits, in any order. */
export interface Candidates {
  ids: Int32Array;
  logits: Float64Array;
  count: number;
}

/** Whether the first token is the better one. */
export const isBefore = (logit: number, id: number, otherLogit: number, otherId: number) =>
  logit > otherLogit || (logit === otherLogit && id < otherId);

/** The `k` tokens of the largest logits, best first; `-Infinity` is never among them. */
export function topK(logits: Float32Array, k: number): Candidates {
  const capacity = Math.min(k, logits.length);
  const ids = new Int32Array(capacity);
  const kept = new Float64Array(capacity);
  let count = 0;
  const isWorse = (a: number, b: number) => isBefore(kept[b]!, ids[b]!, kept[a]!, ids[a]!);
  const swap = (a: number, b: number) => {
    const id = ids[a]!;
    const logit = kept[a]!;
    ids[a] = ids[b]!;
    kept[a] = kept[b]!;
    ids[b] = id;
    kept[b] = logit;
  };
  // A heap with the worst kept token at its root.
  const siftUp = (from: number) => {
    let child = from;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (!isWorse(child, parent)) return;
      swap(child, parent);
      child = parent;
    }
  };
  const siftDown = (length: number) => {
    let parent = 0;
    for (;;) {
      let worst = parent;
      for (const child of [2 * parent + 1, 2 * parent + 2]) {
        if (child < length && isWorse(child, worst)) worst = child;
      }
      if (worst === parent) return;
      swap(worst, parent);
      parent = worst;
    }
  };
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!;
    if (count < capacity) {
      if (logit === -Infinity) continue;
      ids[count] = id;
      kept[count] = logit;
      siftUp(count++);
    } else if (logit > kept[0]!) {
      // Ids ascend, so a later token of an equal logit never displaces an earlier one.
      ids[0] = id;
      kept[0] = logit;
      siftDown(count);
    }
  }
  // The worst goes behind the rest, again and again.
  for (let length = count - 1; length > 0; length--) {
    swap(0, length);
    siftDown(length);
  }
  return { ids, logits: kept, count };
}

/** Every token with a finite logit. */
export function all(logits: Float32Array): Candidates {
  const ids = new Int32Array(logits.length);
  const kept = new Float64Array(logits.length);
  let count = 0;
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!;
    if (logit === -Infinity) continue;
    ids[count] = id;
    kept[count++] = logit;
  }
  return { ids, logits: kept, count };
}

const bucketCount = 512;
/** Logits of distance; what is further away than 512 / 16 = 32 has a share below 1e-13 and one bucket. */
const bucketsPerLogit = 16;

/**
 * The shortest beginning of the order whose probabilities sum to at least `share`, one token or more. The last token is
 * the one that completes it; the others are in any order.
 *
 * @param max the largest of the candidates' logits
 */
export function topP(candidates: Candidates, share: number, max: number): Candidates {
  const { ids, logits, count } = candidates;
  const mass = new Float64Array(bucketCount);
  const bucketOf = (logit: number) => Math.min(bucketCount - 1, Math.floor((max - logit) * bucketsPerLogit));
  for (let index = 0; index < count; index++) {
    mass[bucketOf(logits[index]!)]! += Math.exp(logits[index]! - max);
  }
  let total = 0;
  for (const weight of mass) total += weight;
  const target = share * total;
  let reached = 0;
  let last = 0;
  while (last < bucketCount - 1 && reached + mass[last]! < target) reached += mass[last++]!;

  const border: { id: number; logit: number }[] = [];
  let kept = 0;
  for (let index = 0; index < count; index++) {
    const id = ids[index]!;
    const logit = logits[index]!;
    const bucket = bucketOf(logit);
    if (bucket === last) border.push({ id, logit });
    if (bucket >= last) continue;
    ids[kept] = id;
    logits[kept++] = logit;
  }
  border.sort((a, b) => (isBefore(a.logit, a.id, b.logit, b.id) ? -1 : 1));
  for (const { id, logit } of border) {
    const weight = Math.exp(logit - max);
    // Rounding may leave a remainder: no token without any weight takes it.
    if (kept > 0 && (reached >= target || weight === 0)) break;
    ids[kept] = id;
    logits[kept++] = logit;
    reached += weight;
  }
  return { ids, logits, count: kept };
}

/** Tokens whose probability is at least `share` of the largest one. */
export function minP(candidates: Candidates, share: number, max: number): Candidates {
  const { ids, logits, count } = candidates;
  const threshold = max + Math.log(share);
  let kept = 0;
  for (let index = 0; index < count; index++) {
    if (logits[index]! < threshold) continue;
    const id = ids[index]!;
    const logit = logits[index]!;
    ids[kept] = id;
    logits[kept++] = logit;
  }
  return { ids, logits, count: kept };
}

/** The largest logit. */
export function largest(candidates: Candidates): number {
  let max = -Infinity;
  for (let index = 0; index < candidates.count; index++) {
    if (candidates.logits[index]! > max) max = candidates.logits[index]!;
  }
  return max;
}

/** Draws one token by its probability; `point` is uniform in [0, 1). The arrays are left in another order. */
export function draw(candidates: Candidates, max: number, point: number): number {
  const reached = topP(candidates, point, max);
  return reached.ids[reached.count - 1]!;
}
