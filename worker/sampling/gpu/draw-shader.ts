import { drawnWord, headWords } from './shader.ts';

/** The draw of a candidate, behind {@link topShader}: those of `result` are ranked, cut and summed by one workgroup. */
export const drawShader = /* wgsl */ `
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
