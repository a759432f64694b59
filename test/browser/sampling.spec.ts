import type { Page } from '@playwright/test';
import { expect, test } from './harness/kept-page.ts';
import type { Reduction } from './sampling/page.ts';

test.describe.configure({ timeout: 300_000 });

type Functions = typeof import('./sampling/page.ts') & typeof import('./sampling/model.ts');

/** Calls a function of `sampling/page.ts` or `sampling/model.ts` on the page. */
function call<Name extends keyof Functions>(
  page: Page,
  name: Name,
  ...given: Parameters<Functions[Name]>
): Promise<Awaited<ReturnType<Functions[Name]>>> {
  return page.evaluate(
    async ({ name, given }) => {
      const modules = await Promise.all(
        ['page', 'model'].map((module) => import(`/test/browser/sampling/${module}.ts`)),
      );
      const functions = Object.assign({}, ...modules) as Record<string, (...given: unknown[]) => unknown>;
      return functions[name]!(...given);
    },
    { name, given },
  ) as Promise<Awaited<ReturnType<Functions[Name]>>>;
}

test.describe('a row is reduced to its largest logits, with the sums of all', () => {
  const reductions: Record<string, Reduction> = {
    '2,048 tokens': { size: 2048 },
    '2,048 tokens that are equal': { size: 2048, row: 'equal', count: 40 },
    '2,000 tokens, behind an odd number of half-precision values': {
      size: 2000,
      type: 'float16',
      padding: 301,
    },
    '5,000 tokens of few values, in half precision': {
      size: 5000,
      type: 'float16',
      row: 'steps',
      count: 100,
    },
    '151,936 tokens at temperature 0.6': { size: 151_936, temperature: 0.6 },
    '151,936 tokens in the second row, of which half may come': {
      size: 151_936,
      padding: 151_936,
      share: 0.5,
      count: 20,
    },
    '151,936 tokens of few values': { size: 151_936, row: 'steps', temperature: 2 },
    '262,144 tokens, most at -Infinity': { size: 262_144, row: 'sparse', count: 256 },
    '262,144 tokens that are equal, a few of which may come': {
      size: 262_144,
      row: 'equal',
      share: 0.002,
      count: 100,
    },
  };
  for (const [name, reduction] of Object.entries(reductions)) {
    test(name, async ({ keptPage }) => {
      const { best, top, next, right } = await call(keptPage, 'reduce', reduction);
      expect(right.ids).toHaveLength(Math.min(reduction.count ?? 256, right.allowed));
      expect(best).toEqual({ id: right.ids[0], fault: null });
      expect(next).toBe(right.ids[0]);
      expect(top.best).toEqual(best);
      expect(top.ids).toEqual(right.ids);
      expect(top.logits).toEqual(right.logits);
      expect(top.allowed).toBe(right.allowed);
      expect(Math.abs(top.weight / right.weight - 1)).toBeLessThan(1e-5);
      expect(Math.abs(top.logSumExp / right.logSumExp - 1)).toBeLessThan(1e-6);
    });
  }
});

test('what is wrong with a row is said as on the CPU', async ({ keptPage }) => {
  const { outcomes, overlap, count } = await call(keptPage, 'faults');
  for (const [name, { gpu, cpu }] of Object.entries(outcomes)) expect(gpu, name).toEqual(cpu);
  expect(outcomes['a NaN']!.gpu[1]).toMatch(/^InvalidLogitsError: .* NaN at token 700:/);
  expect(outcomes['an empty mask']!.gpu[0]).toMatch(/^InvalidLogitsError: .* no finite largest value/);
  expect(outcomes['one token may come']!.gpu).toEqual([2047, 2047]);
  expect(overlap).toMatch(/at work on another row/);
  expect(count).toMatch(/RangeError: .*1 to 256.*257/);
});

test('the self-test passes here, and finds a device that computes wrong', async ({ keptPage }) => {
  const { float32, float16, mask, penalties, sum } = await call(keptPage, 'selfTests');
  expect([float32, float16]).toEqual([null, null]);
  expect(mask).toMatch(/^the largest logit is of token \d+, not \d+$/);
  expect(penalties).toMatch(/^candidate \d+ is token /);
  expect(sum).toMatch(/^the sum of the row is 1.01, not /);
});

test('bias and penalties change the logits as on the CPU, while the answer grows', async ({ keptPage }) => {
  const bias: [number, number][] = [
    [0, 3.3],
    [7, -100],
  ];
  const alone = await call(keptPage, 'adjusted', { repetitionPenalty: 1.3 }, []);
  const added = await call(keptPage, 'adjusted', { presencePenalty: 0.7, frequencyPenalty: 0.1 }, bias);
  for (const { gpu, cpu } of [...alone, ...added]) expect(gpu).toEqual(cpu);
  const both = await call(keptPage, 'adjusted', { repetitionPenalty: 1.3, presencePenalty: 0.7 }, bias);
  for (const { gpu, cpu } of both) {
    for (const [id, logit] of cpu.entries()) {
      expect(Math.abs(gpu[id]! - logit)).toBeLessThanOrEqual(1e-6 * Math.max(1, Math.abs(logit)));
    }
  }
  const firsts = added.map(({ gpu }) => gpu[8]!);
  expect(firsts[1]! - firsts[2]!).toBeCloseTo(0.8, 5);
});

test('the same seed gives the tokens of the CPU, each way to cut', async ({ keptPage }) => {
  const ways: [Parameters<Functions['compareSamplers']>[1], number | null][] = [
    [{ temperature: 0, repetitionPenalty: 1.2 }, null],
    [{ temperature: 0.7, topK: 20, topP: 0.95 }, null],
    [{ temperature: 1.1, topP: 0.9, presencePenalty: 0.5 }, 0.5],
    [{ temperature: 0.8, minP: 0.05 }, null],
    [{ temperature: 1e-30 }, null],
    [{ temperature: 1.5 }, null],
    [{ temperature: 1, topK: 1000 }, 0.01],
    [{ temperature: 1.4, topK: 256, minP: 0.02 }, 0.5],
    [{ temperature: 3, topK: 8 }, 0.002],
    [{ temperature: 1, topK: 1 }, null],
  ];
  const read: number[] = [];
  for (const [limits, share] of ways) {
    const { gpu, cpu, written, readRows } = await call(keptPage, 'compareSamplers', 2048, limits, 30, share);
    expect(gpu, JSON.stringify(limits)).toEqual(cpu);
    read.push(readRows);
    // What the GPU draws for a next step, where it can, is what is drawn here.
    const { temperature, topK = 0 } = limits;
    const isWritten = temperature === 0 || (topK > 0 && topK <= 256);
    expect(written, JSON.stringify(limits)).toEqual(isWritten ? cpu : []);
  }
  // Greedy and top-k never need the row; a hot draw from a flat row does now and then.
  expect(read.slice(0, 2)).toEqual([0, 0]);
  expect(read[5]).toBeGreaterThan(0);
  const large = await call(keptPage, 'compareSamplers', 151_936, { temperature: 0.7, topP: 0.95 }, 6, 0.9);
  expect(large.gpu).toEqual(large.cpu);
  const wide = { temperature: 0.7, topK: 20, topP: 0.95 };
  expect((await call(keptPage, 'compareSamplers', 151_936, wide, 6, 0.9)).written).toHaveLength(6);
});

test('logprobs are those of the row, which is read for a token far down alone', async ({ keptPage }) => {
  for (const [size, type, share] of [
    [2048, 'float32', null],
    [151_936, 'float16', 0.5],
  ] as const) {
    const { found, reads } = await call(keptPage, 'compareLogprobs', size, type, share);
    expect(reads).toBe(1);
    expect(found).toHaveLength(share === null ? 4 : 5);
    for (const { gpu, cpu } of found) {
      expect(gpu.top.map(({ id }) => id)).toEqual(cpu.top.map(({ id }) => id));
      for (const [index, { logprob }] of gpu.top.entries()) {
        expect(Math.abs(logprob - cpu.top[index]!.logprob)).toBeLessThan(1e-4);
      }
      if (cpu.logprob === -Infinity) expect(gpu.logprob).toBe(-Infinity);
      else expect(Math.abs(gpu.logprob - cpu.logprob)).toBeLessThan(1e-4);
    }
    expect(found.filter(({ cpu }) => cpu.logprob === -Infinity)).toHaveLength(share === null ? 0 : 1);
  }
});

test('draws at a temperature come as often as the softmax says (chi-square)', async ({ keptPage }) => {
  for (const [size, temperature, draws] of [
    [2048, 1, 20_000],
    [151_936, 0.6, 6000],
    [262_144, 0.6, 6000],
  ] as const) {
    const { statistic, leastExpected, readRows } = await call(
      keptPage,
      'chiSquare',
      size,
      temperature,
      draws,
    );
    expect(leastExpected).toBeGreaterThan(5);
    expect(readRows).toBeLessThan(draws / 10);
    // 15 degrees of freedom: 99.99 % quantile.
    expect(statistic, `${size} tokens`).toBeLessThan(44.3);
  }
});

test('the embedded model writes what it writes with tokens chosen from rows that are read', async ({
  keptPage,
}) => {
  const gpu = await call(keptPage, 'answer', 'gpu');
  const cpu = await call(keptPage, 'answer', 'cpu');
  expect(gpu.report).toMatchObject({ decode: 'static', sampling: 'gpu' });
  expect(gpu.report.limits.filter((limit) => limit.startsWith('sampling'))).toEqual([]);
  expect(gpu.answers.map((ids) => ids.length)).toEqual([4, 4, 4]);
  expect(gpu.answers).toEqual(cpu.answers);
  expect(gpu.logprobs).toHaveLength(4);
  for (const [index, { logprob, top }] of gpu.logprobs.entries()) {
    const right = cpu.logprobs[index]!;
    expect(top.map(({ id }) => id)).toEqual(right.top.map(({ id }) => id));
    expect(Math.abs(logprob - right.logprob)).toBeLessThan(1e-3);
  }
});
