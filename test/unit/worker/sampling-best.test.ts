import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SamplingOptions } from '../../../src/protocol.ts';
import { Adjustments } from '../../../worker/sampling/adjustments.ts';
import { drawFromBest } from '../../../worker/sampling/best.ts';
import { all, draw, topK } from '../../../worker/sampling/candidates.ts';
import { neutralSampling } from '../../../worker/sampling/options.ts';
import { createRandomSource } from '../../../worker/sampling/random.ts';
import { drawFromRow, greedy } from '../../../worker/sampling/sampler.ts';

/** A row as a GPU gives it back: its `count` best tokens, and the sum off by `error`, a share within `weightError`. */
function reduced(row: Float32Array, count: number, temperature: number, error: number, weightError: number) {
  const best = topK(row, count);
  const top = best.logits[0]!;
  const allowed = row.filter((logit) => logit !== -Infinity);
  const weight = allowed.reduce((sum, logit) => sum + Math.exp((logit - top) / temperature), 0);
  return { best, allowed: allowed.length, weight: weight * (1 + error * weightError), weightError };
}

/** Values with many ties, as half precision has them, and tokens that may not come. */
const rows = fc
  .tuple(
    fc.array(fc.oneof(fc.integer({ min: -40, max: 40 }), fc.constant(Number.NEGATIVE_INFINITY)), {
      minLength: 1,
      maxLength: 120,
    }),
    fc.constantFrom(0.01, 0.1, 1),
  )
  .map(([values, unit]) => Float32Array.from(values, (value) => value * unit))
  .filter((row) => row.some((value) => value !== -Infinity));

const options = fc.record({
  temperature: fc.constantFrom(1e-30, 0.1, 0.7, 1, 2, 100),
  topK: fc.constantFrom(0, 0, 1, 5, 30, 1000),
  topP: fc.constantFrom(1, 1, 0.95, 0.5, 0.1),
  minP: fc.constantFrom(0, 0, 0.05, 0.5, 1),
});

describe('drawing from the best tokens of a row', () => {
  it('gives the token of the whole row, or null', () => {
    let settled = 0;
    let open = 0;
    fc.assert(
      fc.property(
        rows,
        options,
        fc.integer({ min: 1, max: 20 }),
        fc.double({ min: -1, max: 1, noNaN: true }),
        fc.constantFrom(2 ** -15, 1),
        fc.integer({ min: 0, max: 2 ** 20 - 1 }).map((value) => value / 2 ** 20),
        (row, limits, count, error, weightError, point) => {
          const sampling: SamplingOptions = { ...neutralSampling, ...limits };
          const summary = reduced(row, count, sampling.temperature, error, weightError);
          const id = drawFromBest(summary, row.length, sampling, point);
          if (id === null) open++;
          else settled++;
          if (id !== null) expect(id).toBe(drawFromRow(row, row[greedy(row)]!, sampling, point));
        },
      ),
      { numRuns: 4000 },
    );
    expect(settled).toBeGreaterThan(1000);
    // About 110, give or take 12.
    expect(open).toBeGreaterThan(30);
  });

  it('settles nearly all draws of a row like that of a language model, at each way to cut it', () => {
    const noise = createRandomSource(5);
    const row = Float32Array.from({ length: 20_000 }, (_, id) => -2 * Math.log(id + 1) + noise.next());
    for (const limits of [{}, { topP: 0.95 }, { minP: 0.02 }, { topK: 20 }, { topK: 1000, topP: 0.9 }]) {
      const sampling = { ...neutralSampling, temperature: 0.8, ...limits };
      const points = createRandomSource(6);
      const summary = reduced(row, 256, 0.8, 0.5, 2 ** -15);
      let settled = 0;
      for (let draw = 0; draw < 300; draw++) {
        const id = drawFromBest(summary, row.length, sampling, points.next());
        if (id !== null) settled++;
      }
      expect(settled, JSON.stringify(limits)).toBeGreaterThan(290);
    }
  });

  it('leaves a draw open that falls behind the tokens in hand, and one in doubt between two of them', () => {
    const row = Float32Array.from({ length: 100 }, () => 1);
    const at = (point: number, weightError: number) =>
      drawFromBest(reduced(row, 10, 1, 0, weightError), 100, neutralSampling, point);
    expect(at(0.055, 1e-3)).toBe(5);
    expect(at(0.5, 1e-3)).toBeNull();
    expect(at(0.05001, 1e-3)).toBeNull();
    expect(at(0.05001, 1e-6)).toBe(5);
  });

  it('leaves a draw open where the sum contradicts the tokens in hand', () => {
    const row = Float32Array.of(0, 0, 0, 0);
    const summary = { best: topK(row, 3), allowed: 4, weight: 1, weightError: 2 ** -15 };
    expect(drawFromBest(summary, 4, neutralSampling, 0.1)).toBeNull();
  });
});

describe('the order of drawing', () => {
  it('goes down from the best token, the first of equal ones', () => {
    const row = Float32Array.of(0, Math.log(2), 0, Math.log(4));
    const at = (point: number) => draw(all(row), row[3]!, point);
    expect([0, 0.49, 0.51, 0.74, 0.76, 0.87, 0.88, 0.999].map(at)).toEqual([3, 3, 1, 1, 0, 0, 2, 2]);
    expect([...topK(row, 4).ids]).toEqual([3, 1, 0, 2]);
  });

  it('never ends at a token without any weight', () => {
    const row = Float32Array.of(0, -5000, 0, -6000);
    expect(draw(all(row), 0, 1 - 2 ** -53)).toBe(2);
  });
});

describe('adjustments', () => {
  const row = () => Float32Array.of(3, -3, 1, 0);

  it('multiply what is repeated, then add bias and penalties, rounding each step to single precision', () => {
    const changes = new Adjustments(
      { repetitionPenalty: 1.1, presencePenalty: 0.3, frequencyPenalty: 0.2 },
      [1, 2, 9],
      new Map([
        [0, 5],
        [2, -1],
      ]),
    );
    changes.take(2);
    changes.take(2);
    const { fround } = Math;
    expect([...changes.apply(row())]).toEqual([
      8,
      fround(-3 * fround(1.1)),
      fround(fround(fround(1 / 1.1)) + fround(-1 - 0.3 - 0.2 * 2)),
      0,
    ]);
    expect([changes.offsets.get(0), changes.taken]).toEqual([5, [2, 2]]);
  });

  it('give the row itself where there is nothing to do', () => {
    const none = new Adjustments(neutralSampling, [1, 2]);
    none.take(3);
    const given = row();
    expect(none.apply(given)).toBe(given);
    expect(none.taken).toEqual([]);
  });

  it('stay finite in single precision', () => {
    const changes = new Adjustments({ repetitionPenalty: 1, presencePenalty: 1e300, frequencyPenalty: 0 });
    changes.take(0);
    expect(changes.apply(row())[0]).toBe(-(2 ** 128 - 2 ** 104));
  });
});
