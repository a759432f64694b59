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
export const rowShader = /* wgsl */ `
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
`;
