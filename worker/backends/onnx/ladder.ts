import type { GraphEdits } from './edits.ts';
import type { DecodeWay } from './session.ts';
import { canFeedFromGpu } from './step-feeds.ts';

/** What came of an attempt that is not the last. */
export type Outcome =
  /** The runtime does not make such a session. */
  | 'refused'
  /** The self-test found wrong numbers, on a device with subgroups or on one without. */
  | 'wrong with subgroups'
  | 'wrong';

/** The ways that the graph is made for, from the fastest that is wanted down. */
export function waysDown(edits: GraphEdits, fastest: DecodeWay): DecodeWay[] {
  const ways: DecodeWay[] = ['growing'];
  if (edits.sharesCache && fastest !== 'growing') ways.unshift('static');
  if (canFeedFromGpu(edits) && fastest === 'captured') ways.unshift('captured');
  return ways;
}

/**
 * What to try, one after another, each on a new device. Wrong numbers are first laid to the subgroups, which are left
 * out from then on; then to the way.
 */
export function* attempts(
  ways: readonly DecodeWay[],
): Generator<{ way: DecodeWay; subgroups: boolean }, void, Outcome> {
  let subgroups = true;
  for (const way of ways) {
    while ((yield { way, subgroups }) === 'wrong with subgroups') subgroups = false;
  }
}
