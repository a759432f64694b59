import { headWords } from './shader.ts';

/** The largest logits and the sums, behind {@link rowShader}: radix selection within each chunk, then among what is left. */
export const topShader = /* wgsl */ `
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
`;
