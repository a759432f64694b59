/** Threads of a workgroup; every device allows as many. */
export const lanes = 256;
/** Tokens that one workgroup reads. */
export const chunkSize = 4096;
/** The most candidates that a row can be reduced to: each lane writes one at most. */
export const mostCandidates = lanes;

/** Keys in the order of the logits. 0: the token may not come. */
export const keys = {
  /** Of +Infinity; smaller ones are of finite logits. */
  infinity: 0xff800000,
  notANumber: 0xffffffff,
} as const;

/** Bits of `Params.flags`. */
export const flags = { mask: 1, repetition: 2, offsets: 4 } as const;

/** Bytes of `Params`. */
export const paramBytes = 48;
/** Words of `result` before the candidates. */
export const headWords = 8;
/** Which of them is the id that was drawn. */
export const drawnWord = 7;

/**
 * Logits are compared as unsigned integers ("keys") of the same order, for a shader may compute as if there were no
 * infinities and NaNs. Equal keys go by the smaller id. Half-precision values are widened by hand, so that the device
 * needs no `shader-f16`. Two ways through:
 *
 * - `bestOfChunks`, `best`: the largest logit;
 * - `topOfChunks`, `top`: the `Params.candidates` largest ones, by radix selection within each chunk and then among
 *   what the chunks have kept; and the sums that log-sum-exp and sampling need.
 *
 * Behind `top`, `draw` draws one of the candidates, where the next step can begin with it; what is drawn for good is
 * settled with more precision than a shader has.
 *
 * `result` begins with the best key, its id as a 64-bit integer (which can be the next step's input), the number of
 * tokens that may come, how many candidates follow, two sums of exp(distance from the largest logit), divided by
 * the temperature and not, and the id drawn. Candidates are pairs of key and id, by ascending id.
 */
export const shader = /* wgsl */ `
override isHalf: bool;

const lanes = ${lanes}u;
const chunkSize = ${chunkSize}u;
const notANumberKey = ${keys.notANumber}u;
const noId = 0xffffffffu;

struct Params {
  /** Index of the row's first value. */
  first: u32,
  size: u32,
  flags: u32,
  candidates: u32,
  shrink: f32,
  grow: f32,
  inverseTemperature: f32,
  topP: f32,
  minP: f32,
  /** Where in the mass a token is drawn, from 0 to 1. */
  point: f32,
}

struct Chunk {
  key: u32,
  id: u32,
  allowed: u32,
  scaledSum: f32,
  plainSum: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> logits: array<u32>;
@group(0) @binding(2) var<storage, read> mask: array<u32>;
/** One bit a token. */
@group(0) @binding(3) var<storage, read> repeated: array<u32>;
@group(0) @binding(4) var<storage, read> offsets: array<f32>;
/** Keys of the row, then those of the candidates of each chunk. */
@group(0) @binding(5) var<storage, read_write> keys: array<u32>;
/** Ids of the candidates of each chunk. */
@group(0) @binding(6) var<storage, read_write> ids: array<u32>;
@group(0) @binding(7) var<storage, read_write> chunks: array<Chunk>;
@group(0) @binding(8) var<storage, read_write> result: array<u32>;

fn has(flag: u32) -> bool {
  return (params.flags & flag) != 0u;
}

fn isSet(word: u32, id: u32) -> bool {
  return ((word >> (id & 31u)) & 1u) != 0u;
}

/** The bits of a half-precision value, widened to single precision. */
fn widened(half: u32) -> u32 {
  let sign = (half & 0x8000u) << 16u;
  let exponent = (half >> 10u) & 0x1fu;
  let fraction = half & 0x3ffu;
  if (exponent == 0u) {
    return sign | bitcast<u32>(f32(fraction) * 0x1p-24f);
  }
  let wide = select(exponent + 112u, 255u, exponent == 31u);
  return sign | (wide << 23u) | (fraction << 13u);
}

fn bitsAt(id: u32) -> u32 {
  let at = params.first + id;
  if (isHalf) {
    return widened((logits[at >> 1u] >> ((at & 1u) * 16u)) & 0xffffu);
  }
  return logits[at];
}

fn keyOfBits(bits: u32) -> u32 {
  let magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return notANumberKey;
  }
  if (bits == 0xff800000u) {
    return 0u;
  }
  // Both zeros are equal.
  if (magnitude == 0u) {
    return 0x80000000u;
  }
  return select(bits | 0x80000000u, ~bits, bits >= 0x80000000u);
}

fn logitOf(key: u32) -> f32 {
  return bitcast<f32>(select(~key, key & 0x7fffffffu, key >= 0x80000000u));
}

fn keyAt(id: u32) -> u32 {
  if (has(${flags.mask}u) && !isSet(mask[id >> 5u], id)) {
    return 0u;
  }
  let bits = bitsAt(id);
  if ((bits & 0x7f800000u) == 0x7f800000u) {
    return keyOfBits(bits);
  }
  var adjusted = bits;
  if (has(${flags.repetition}u) && isSet(repeated[id >> 5u], id)) {
    let logit = bitcast<f32>(adjusted);
    adjusted = bitcast<u32>(logit * select(params.grow, params.shrink, logit > 0.0));
  }
  if (has(${flags.offsets}u)) {
    let offset = offsets[id];
    if (offset != 0.0) {
      adjusted = bitcast<u32>(bitcast<f32>(adjusted) + offset);
    }
  }
  return keyOfBits(adjusted);
}

fn isBefore(key: u32, id: u32, otherKey: u32, otherId: u32) -> bool {
  return key > otherKey || (key == otherKey && id < otherId);
}

/** What lanes have found, reduced to the first element. */
var<workgroup> bestKeys: array<u32, lanes>;
var<workgroup> bestIds: array<u32, lanes>;

fn reduceBest(lane: u32, key: u32, id: u32) {
  bestKeys[lane] = key;
  bestIds[lane] = id;
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half && isBefore(bestKeys[lane + half], bestIds[lane + half], bestKeys[lane], bestIds[lane])) {
      bestKeys[lane] = bestKeys[lane + half];
      bestIds[lane] = bestIds[lane + half];
    }
  }
  workgroupBarrier();
}

fn chunkCount() -> u32 {
  return (params.size + chunkSize - 1u) / chunkSize;
}

@compute @workgroup_size(lanes)
fn bestOfChunks(@builtin(workgroup_id) chunk: vec3u, @builtin(local_invocation_index) lane: u32) {
  let start = chunk.x * chunkSize;
  let end = min(start + chunkSize, params.size);
  var key = 0u;
  var id = noId;
  for (var at = start + lane; at < end; at += lanes) {
    let other = keyAt(at);
    if (other > key) {
      key = other;
      id = at;
    }
  }
  reduceBest(lane, key, id);
  if (lane == 0u) {
    chunks[chunk.x] = Chunk(bestKeys[0], bestIds[0], 0u, 0.0, 0.0);
  }
}

fn reduceChunks(lane: u32) {
  var key = 0u;
  var id = noId;
  for (var chunk = lane; chunk < chunkCount(); chunk += lanes) {
    if (isBefore(chunks[chunk].key, chunks[chunk].id, key, id)) {
      key = chunks[chunk].key;
      id = chunks[chunk].id;
    }
  }
  reduceBest(lane, key, id);
  if (lane == 0u) {
    result[0] = bestKeys[0];
    result[1] = bestIds[0];
    result[2] = 0u;
  }
}

@compute @workgroup_size(lanes)
fn best(@builtin(local_invocation_index) lane: u32) {
  reduceChunks(lane);
}

var<workgroup> sums: array<vec2f, lanes>;
var<workgroup> counts: array<vec2u, lanes>;

fn reduceSum(lane: u32, sum: vec2f) {
  sums[lane] = sum;
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      sums[lane] += sums[lane + half];
    }
  }
  workgroupBarrier();
}

/** Sums of the lanes up to each one, the lane itself included. */
fn scan(lane: u32, count: vec2u) {
  counts[lane] = count;
  for (var step = 1u; step < lanes; step *= 2u) {
    workgroupBarrier();
    var before = vec2u(0u);
    if (lane >= step) {
      before = counts[lane - step];
    }
    workgroupBarrier();
    counts[lane] += before;
  }
  workgroupBarrier();
}

var<workgroup> bins: array<atomic<u32>, lanes>;
/** Keys above this one are taken, */
var<workgroup> threshold: u32;
/** and so many of those that are equal to it, the first ones. */
var<workgroup> quota: u32;

/**
 * Finds which of the keys from \`start\` to \`end\` are the \`wanted\` largest ones, \`wanted\` being at most the number of
 * those above 0: a byte of the threshold at a time, the highest first.
 */
fn selectTop(lane: u32, start: u32, end: u32, wanted: u32) {
  var prefix = 0u;
  var known = 0u;
  var rest = wanted;
  for (var shift = 24i; shift >= 0; shift -= 8) {
    atomicStore(&bins[lane], 0u);
    workgroupBarrier();
    for (var at = start + lane; at < end; at += lanes) {
      let key = keys[at];
      if (key != 0u && (key & known) == prefix) {
        atomicAdd(&bins[(key >> u32(shift)) & 255u], 1u);
      }
    }
    workgroupBarrier();
    // Bins are scanned from the largest byte down.
    let byte = lanes - 1u - lane;
    let own = atomicLoad(&bins[byte]);
    scan(lane, vec2u(own, 0u));
    let upTo = counts[lane].x;
    if (rest > 0u && upTo >= rest && upTo - own < rest) {
      threshold = prefix | (byte << u32(shift));
      quota = rest - (upTo - own);
    }
    workgroupBarrier();
    prefix = workgroupUniformLoad(&threshold);
    rest = workgroupUniformLoad(&quota);
    known |= 255u << u32(shift);
  }
}

/** Where the candidates of this lane's part go: counts of those above the threshold and of those equal to it. */
fn place(lane: u32, start: u32, end: u32) -> vec2u {
  var found = vec2u(0u);
  for (var at = start; at < end; at++) {
    found.x += u32(keys[at] > threshold);
    found.y += u32(keys[at] == threshold);
  }
  scan(lane, found);
  return counts[lane] - found;
}

fn weightsOf(key: u32, largest: f32) -> vec2f {
  let distance = logitOf(key) - largest;
  return exp(vec2f(distance * params.inverseTemperature, distance));
}

@compute @workgroup_size(lanes)
fn topOfChunks(@builtin(workgroup_id) chunk: vec3u, @builtin(local_invocation_index) lane: u32) {
  let start = chunk.x * chunkSize;
  let end = min(start + chunkSize, params.size);
  var key = 0u;
  var id = noId;
  var found = 0u;
  for (var at = start + lane; at < end; at += lanes) {
    let other = keyAt(at);
    keys[at] = other;
    found += u32(other != 0u);
    if (other > key) {
      key = other;
      id = at;
    }
  }
  reduceBest(lane, key, id);
  scan(lane, vec2u(found, 0u));
  storageBarrier();
  let allowed = workgroupUniformLoad(&counts[lanes - 1u]).x;
  let largest = logitOf(bestKeys[0]);
  var sum = vec2f(0.0);
  for (var at = start + lane; at < end; at += lanes) {
    if (keys[at] != 0u) {
      sum += weightsOf(keys[at], largest);
    }
  }
  reduceSum(lane, sum);
  if (lane == 0u) {
    chunks[chunk.x] = Chunk(bestKeys[0], bestIds[0], allowed, sums[0].x, sums[0].y);
  }

  let wanted = min(params.candidates, allowed);
  let firstSlot = chunk.x * params.candidates;
  if (lane >= wanted && lane < params.candidates) {
    keys[params.size + firstSlot + lane] = 0u;
  }
  if (wanted == 0u) {
    return;
  }
  selectTop(lane, start, end, wanted);
  let part = chunkSize / lanes;
  let partStart = min(start + lane * part, end);
  let partEnd = min(partStart + part, end);
  var before = place(lane, partStart, partEnd);
  for (var at = partStart; at < partEnd; at++) {
    let other = keys[at];
    if (other < threshold || (other == threshold && before.y >= quota)) {
      continue;
    }
    let slot = firstSlot + before.x + min(before.y, quota);
    keys[params.size + slot] = other;
    ids[slot] = at;
    before += select(vec2u(1u, 0u), vec2u(0u, 1u), other == threshold);
  }
}

@compute @workgroup_size(lanes)
fn top(@builtin(local_invocation_index) lane: u32) {
  reduceChunks(lane);
  let largest = logitOf(bestKeys[0]);
  var found = 0u;
  var sum = vec2f(0.0);
  for (var chunk = lane; chunk < chunkCount(); chunk += lanes) {
    found += chunks[chunk].allowed;
    if (chunks[chunk].key != 0u) {
      sum += vec2f(chunks[chunk].scaledSum, chunks[chunk].plainSum) * weightsOf(chunks[chunk].key, largest);
    }
  }
  reduceSum(lane, sum);
  scan(lane, vec2u(found, 0u));
  let allowed = workgroupUniformLoad(&counts[lanes - 1u]).x;
  let wanted = min(params.candidates, allowed);
  if (lane == 0u) {
    result[3] = allowed;
    result[4] = wanted;
    result[5] = bitcast<u32>(sums[0].x);
    result[6] = bitcast<u32>(sums[0].y);
  }
  if (wanted == 0u) {
    return;
  }
  let end = params.size + chunkCount() * params.candidates;
  selectTop(lane, params.size, end, wanted);
  let part = (end - params.size + lanes - 1u) / lanes;
  let partStart = min(params.size + lane * part, end);
  let partEnd = min(partStart + part, end);
  var before = place(lane, partStart, partEnd);
  for (var at = partStart; at < partEnd; at++) {
    let key = keys[at];
    if (key < threshold || (key == threshold && before.y >= quota)) {
      continue;
    }
    let slot = ${headWords}u + 2u * (before.x + min(before.y, quota));
    result[slot] = key;
    result[slot + 1u] = ids[at - params.size];
    before += select(vec2u(1u, 0u), vec2u(0u, 1u), key == threshold);
  }
}

/** Summed weights of the candidates up to each one, best first. */
var<workgroup> masses: array<f32, lanes>;
/** How many of them top-p and min-p keep. */
var<workgroup> kept: u32;

/** Each lane has the candidate of its index, then the one of its rank. */
@compute @workgroup_size(lanes)
fn draw(@builtin(local_invocation_index) lane: u32) {
  let count = result[4];
  let isCandidate = lane < count;
  let slot = ${headWords}u + 2u * lane;
  let key = select(0u, result[slot], isCandidate);
  let id = select(noId, result[slot + 1u], isCandidate);
  bestKeys[lane] = key;
  bestIds[lane] = id;
  masses[lane] = 0.0;
  workgroupBarrier();
  var rank = 0u;
  for (var other = 0u; other < count; other++) {
    rank += u32(isBefore(bestKeys[other], bestIds[other], key, id));
  }
  workgroupBarrier();
  if (isCandidate) {
    masses[rank] = weightsOf(key, logitOf(result[0])).x;
    bestIds[rank] = id;
  }
  workgroupBarrier();
  let weight = masses[lane];
  for (var step = 1u; step < lanes; step *= 2u) {
    var before = 0.0;
    if (lane >= step) {
      before = masses[lane - step];
    }
    workgroupBarrier();
    masses[lane] += before;
    workgroupBarrier();
  }
  let before = select(masses[max(lane, 1u) - 1u], 0.0, lane == 0u);
  let isKept = isCandidate && (lane == 0u || (before < params.topP * masses[lanes - 1u] && weight >= params.minP));
  counts[lane] = vec2u(u32(isKept), 0u);
  workgroupBarrier();
  // What is kept is a beginning.
  if (isKept && (lane == lanes - 1u || counts[lane + 1u].x == 0u)) {
    kept = lane + 1u;
  }
  if (count == 0u && lane == 0u) {
    kept = 0u;
    result[${drawnWord}u] = 0u;
  }
  workgroupBarrier();
  let reachedAt = params.point * masses[max(kept, 1u) - 1u];
  let isReached = masses[lane] >= reachedAt || lane + 1u == kept;
  if (lane < kept && isReached && (lane == 0u || before < reachedAt)) {
    result[${drawnWord}u] = bestIds[lane];
  }
}
`;
