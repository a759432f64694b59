import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BadRequestError, InvalidLogitsError } from '../../../src/errors.ts';
import { all, largest, minP, topK, topP } from '../../../worker/sampling/candidates.ts';
import { neutralSampling, resolveSampling, samplingDefaults } from '../../../worker/sampling/options.ts';
import { createRandomSource } from '../../../worker/sampling/random.ts';
import { greedy, Sampler } from '../../../worker/sampling/sampler.ts';

const row = (...values: number[]) => Float32Array.from(values);
const softmax = (logits: Float32Array, temperature: number) => {
  const max = Math.max(...logits);
  const weights = [...logits].map((logit) => Math.exp((logit - max) / temperature));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
};
const ids = (candidates: { ids: Int32Array; count: number }) => [
  ...candidates.ids.subarray(0, candidates.count),
];
const logitRow = fc.array(fc.float({ min: -30, max: 30, noNaN: true }), { minLength: 1, maxLength: 200 });

/** Pearson's statistic over `drawn` counts. */
const chiSquare = (drawn: number[], expected: number[], draws: number) =>
  drawn.reduce((sum, count, id) => sum + (count - expected[id]! * draws) ** 2 / (expected[id]! * draws), 0);

describe('random source', () => {
  it('gives the same numbers for the same seed and stream, others for another', () => {
    const take = (seed: number, stream: number) => {
      const source = createRandomSource(seed, stream);
      return Array.from({ length: 8 }, () => source.next());
    };
    expect(take(7, 0)).toEqual(take(7, 0));
    const streams = [take(7, 0), take(8, 0), take(7, 1), take(7 + 2 ** 32, 0), take(-7, 0), take(0, 0)];
    expect(new Set(streams.map(String)).size).toBe(streams.length);
  });

  it('is uniform: 64 bins, 128,000 numbers, chi-square below the 99.99 % quantile', () => {
    const source = createRandomSource(1);
    const bins = new Array<number>(64).fill(0);
    for (let index = 0; index < 128_000; index++) bins[Math.floor(source.next() * 64)]!++;
    expect(chiSquare(bins, new Array(64).fill(1 / 64), 128_000)).toBeLessThan(115);
  });
});

describe('sampler', () => {
  it.each([0.5, 1, 2])('draws by the softmax at temperature %s (chi-square)', (temperature) => {
    const logits = row(2, 1, 0, -1, 0.5, 3, -0.5, 1.5);
    const sampler = new Sampler({ ...neutralSampling, temperature }, 42, 0, []);
    const drawn = new Array<number>(8).fill(0);
    for (let index = 0; index < 40_000; index++) drawn[sampler.next(logits)]!++;
    // 7 degrees of freedom: 99.99 % quantile.
    expect(chiSquare(drawn, softmax(logits, temperature), 40_000)).toBeLessThan(29.9);
  });

  it('draws by the renormalised softmax under top-k and top-p', () => {
    const logits = row(2, 1, 0, -1, 0.5, 3, -0.5, 1.5);
    for (const limits of [{ topK: 3 }, { topP: 0.8 }]) {
      const kept = [0, 5, 7];
      const sampler = new Sampler({ ...neutralSampling, ...limits }, 3, 0, []);
      const drawn = new Array<number>(8).fill(0);
      for (let index = 0; index < 20_000; index++) drawn[sampler.next(logits)]!++;
      const probabilities = softmax(logits, 1);
      const total = kept.reduce((sum, id) => sum + probabilities[id]!, 0);
      expect(drawn.every((count, id) => count === 0 || kept.includes(id))).toBe(true);
      const expected = kept.map((id) => probabilities[id]! / total);
      const counts = kept.map((id) => drawn[id]!);
      expect(chiSquare(counts, expected, 20_000)).toBeLessThan(18.5);
    }
  });

  it('gives the same tokens for the same seed, and each choice its own', () => {
    const logits = Float32Array.from({ length: 500 }, (_, id) => Math.sin(id));
    const run = (seed: number, stream: number) => {
      const sampler = new Sampler(neutralSampling, seed, stream, []);
      return Array.from({ length: 20 }, () => sampler.next(logits));
    };
    expect(run(5, 0)).toEqual(run(5, 0));
    expect(run(5, 0)).not.toEqual(run(5, 1));
    expect(run(5, 0)).not.toEqual(run(6, 0));
  });

  it('is greedy at temperature 0 and at a tiny one, first of equal logits', () => {
    for (const temperature of [0, 1e-30]) {
      const sampler = new Sampler({ ...neutralSampling, temperature }, 1, 0, []);
      expect(sampler.next(row(1, 80, 3, 79.9))).toBe(1);
    }
    expect(greedy(row(1, 4, 4))).toBe(1);
  });

  it('leaves the logits as they are', () => {
    const logits = row(1, 2, 3, 4);
    const before = [...logits];
    const sampler = new Sampler(
      { ...neutralSampling, repetitionPenalty: 2, presencePenalty: 1, topK: 2, topP: 0.5, minP: 0.1 },
      1,
      0,
      [0, 1],
    );
    sampler.next(logits);
    sampler.next(logits);
    expect([...logits]).toEqual(before);
  });

  it('applies the repetition penalty to prompt and answer, dividing positive and multiplying negative logits', () => {
    const options = { ...neutralSampling, temperature: 0, repetitionPenalty: 2 };
    expect(new Sampler(options, 1, 0, [0]).next(row(3, 2))).toBe(1);
    expect(new Sampler(options, 1, 0, [0]).next(row(-1, -1.5))).toBe(1);
    const sampler = new Sampler(options, 1, 0, []);
    expect([sampler.next(row(3, 2)), sampler.next(row(3, 2)), sampler.next(row(3, 2))]).toEqual([0, 1, 0]);
  });

  it('applies presence once and frequency by count, to the answer only', () => {
    const presence = new Sampler({ ...neutralSampling, temperature: 0, presencePenalty: 1 }, 1, 0, [0]);
    const presenceRun = Array.from({ length: 4 }, () => presence.next(row(2.5, 2, 1)));
    expect(presenceRun).toEqual([0, 1, 0, 0]);
    const frequency = new Sampler({ ...neutralSampling, temperature: 0, frequencyPenalty: 1 }, 1, 0, [0]);
    const frequencyRun = Array.from({ length: 4 }, () => frequency.next(row(2.5, 2, 0)));
    expect(frequencyRun).toEqual([0, 1, 0, 1]);
  });

  it('throws a named error for NaN and for rows without a finite largest value', () => {
    const sampler = new Sampler(neutralSampling, 1, 0, []);
    expect(() => sampler.next(row(1, Number.NaN))).toThrow(InvalidLogitsError);
    expect(() => sampler.next(row(-Infinity, -Infinity))).toThrow(InvalidLogitsError);
    expect(() => sampler.next(row(1, Infinity))).toThrow(InvalidLogitsError);
    expect(sampler.next(row(-Infinity, 1))).toBe(1);
  });
});

describe('candidates', () => {
  it('top-k keeps exactly the k first of a full sort', () => {
    fc.assert(
      fc.property(logitRow, fc.integer({ min: 1, max: 40 }), (values, k) => {
        const logits = Float32Array.from(values);
        const sorted = [...logits.keys()].sort((a, b) => logits[b]! - logits[a]! || a - b);
        expect(ids(topK(logits, k)).sort((a, b) => a - b)).toEqual(sorted.slice(0, k).sort((a, b) => a - b));
      }),
    );
  });

  it('top-p keeps the shortest run of a full sort that reaches p', () => {
    fc.assert(
      fc.property(logitRow, fc.double({ min: 0.01, max: 0.999, noNaN: true }), (values, p) => {
        const logits = Float32Array.from(values);
        const probabilities = softmax(logits, 1);
        const everything = all(logits);
        const kept = ids(topP(everything, p, largest(everything)));
        const sorted = [...logits.keys()].sort((a, b) => logits[b]! - logits[a]! || a - b);
        expect(kept.length).toBeGreaterThan(0);
        expect([...kept].sort((a, b) => a - b)).toEqual(sorted.slice(0, kept.length).sort((a, b) => a - b));
        const mass = (count: number) =>
          sorted.slice(0, count).reduce((sum, id) => sum + probabilities[id]!, 0);
        expect(mass(kept.length)).toBeGreaterThan(p - 1e-9);
        if (kept.length > 1) expect(mass(kept.length - 1)).toBeLessThan(p + 1e-9);
      }),
    );
  });

  it('min-p keeps what has at least that share of the best, and always the best', () => {
    fc.assert(
      fc.property(logitRow, fc.double({ min: 0.001, max: 1, noNaN: true }), (values, share) => {
        const logits = Float32Array.from(values);
        const everything = all(logits);
        const max = largest(everything);
        const kept = new Set(ids(minP(everything, share, max)));
        expect(kept.has(greedy(logits))).toBe(true);
        for (const [id, logit] of logits.entries()) {
          const ratio = Math.exp(logit - max);
          if (Math.abs(ratio - share) > 1e-9) expect(kept.has(id)).toBe(ratio > share);
        }
      }),
    );
  });

  it('whatever the options, the token drawn is one that top-k and min-p allow', () => {
    fc.assert(
      fc.property(
        logitRow,
        fc.integer({ min: 1, max: 20 }),
        fc.double({ min: 0.05, max: 1, noNaN: true }),
        fc.double({ min: 0.1, max: 3, noNaN: true }),
        fc.integer(),
        (values, k, p, temperature, seed) => {
          const logits = Float32Array.from(values);
          const sampler = new Sampler({ ...neutralSampling, temperature, topK: k, topP: p }, seed, 0, []);
          expect(ids(topK(logits, k))).toContain(sampler.next(logits));
        },
      ),
    );
  });
});

describe('options', () => {
  it('puts the request over the defaults over neutral', () => {
    const defaults = samplingDefaults({ temperature: 0.6, top_k: 20, top_p: 0.95, do_sample: true });
    expect(resolveSampling({ temperature: 0.2, topP: undefined }, defaults)).toEqual({
      ...neutralSampling,
      temperature: 0.2,
      topK: 20,
      topP: 0.95,
    });
    expect(samplingDefaults({ do_sample: false, temperature: 0.6 }).temperature).toBe(0);
  });

  it('refuses what has no meaning and names the field of the request', () => {
    const refuse = (options: Parameters<typeof resolveSampling>[0], param: string) => {
      const error = (() => {
        try {
          resolveSampling(options, {});
        } catch (thrown) {
          return thrown;
        }
      })();
      expect(error).toBeInstanceOf(BadRequestError);
      expect(error).toMatchObject({ param, code: 'invalid_value' });
    };
    refuse({ temperature: -1 }, 'temperature');
    refuse({ temperature: Number.NaN }, 'temperature');
    refuse({ topP: 0 }, 'top_p');
    refuse({ topK: 1.5 }, 'top_k');
    refuse({ repetitionPenalty: 0 }, 'repetition_penalty');
    refuse({ seed: 0.5 }, 'seed');
  });
});
