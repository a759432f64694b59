import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidLogitsError } from '../../../src/errors.ts';
import { logprobsOfRow } from '../../../worker/sampling/logprobs.ts';
import { modelRow, plainTop, randomMask } from '../../browser/sampling/rows.ts';

/** The reference: a full sort, and a sum in double precision. */
function plainLogprobs(row: Float32Array, mask: Uint32Array | null, id: number, count: number) {
  const { ids, logits, logSumExp } = plainTop(row, mask, count, 1);
  const mayCome = !mask || ((mask[id >>> 5]! >>> (id & 31)) & 1) === 1;
  return {
    logprob: mayCome ? row[id]! - logSumExp : -Infinity,
    top: ids.map((id, index) => ({ id, logprob: logits[index]! - logSumExp })),
  };
}

describe('logprobs of a row', () => {
  it('are those of a full softmax, best first, of what may come', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.integer({ min: -60, max: 60 }), fc.constant(-Infinity)), {
          minLength: 33,
          maxLength: 100,
        }),
        fc.integer({ min: 0, max: 20 }),
        fc.constantFrom(null, 0.2, 0.9),
        fc.nat(),
        (values, count, share, pick) => {
          const row = Float32Array.from(values, (value) => value / 2);
          row[32] = 1;
          const mask = share === null ? null : randomMask(row.length, pick, share);
          if (mask) mask[1]! |= 1;
          const id = pick % row.length;
          const found = logprobsOfRow(row, mask, id, count);
          const right = plainLogprobs(row, mask, id, count);
          expect(found.top.map(({ id }) => id)).toEqual(right.top.map(({ id }) => id));
          for (const [index, { logprob }] of found.top.entries()) {
            expect(logprob).toBeCloseTo(right.top[index]!.logprob, 9);
          }
          if (right.logprob === -Infinity) expect(found.logprob).toBe(-Infinity);
          else expect(found.logprob).toBeCloseTo(right.logprob, 9);
        },
      ),
    );
  });

  it('leave the row as it is and sum to one', () => {
    const row = modelRow(2048, 3);
    const before = row.slice();
    const { top } = logprobsOfRow(row, null, 0, 2048);
    expect(top.reduce((sum, { logprob }) => sum + Math.exp(logprob), 0)).toBeCloseTo(1, 9);
    expect(row).toEqual(before);
  });

  it('are 0 for the only token that may come', () => {
    const only = new Uint32Array(64);
    only[3] = 1 << 5;
    expect(logprobsOfRow(modelRow(2048, 3), only, 101, 5)).toEqual({
      logprob: 0,
      top: [{ id: 101, logprob: 0 }],
    });
  });

  it('are refused where the row has none', () => {
    expect(() => logprobsOfRow(Float32Array.of(1, Number.NaN), null, 0, 1)).toThrow(InvalidLogitsError);
    expect(() => logprobsOfRow(Float32Array.of(1, 2), new Uint32Array(1), 0, 1)).toThrow(InvalidLogitsError);
  });
});
