import { expect, test } from './harness/kept-page.ts';
import { type Heap, openPageMeter } from './worker/heap.ts';

const long = process.env.TOKENPRISM_LONG === '1';

test.describe.configure({ timeout: 240_000 });

/** Modules as the page imports them. */
const steps = '/test/browser/worker/steps.ts';
const recording = '/test/browser/worker/recording.ts';
const pipelining = '/test/browser/worker/pipelining.ts';
const requests = '/test/browser/worker/requests.ts';

type Requests = typeof import('./worker/requests.ts');
/** The page that holds a model. */
interface WithRequests {
  requests: Requests;
}

for (const [way, expected] of [
  ['captured', { bindGroups: 0, buffers: 0, maps: 0, submits: 1, writes: 2 }],
  ['static', { buffers: 0, maps: 0 }],
] as const) {
  test(`a step makes no buffers (${way})`, async ({ keptPage: page }) => {
    const calls = await page.evaluate(
      async ({ module, way }) => {
        const { callsOfSteps } = (await import(module)) as typeof import('./worker/steps.ts');
        return callsOfSteps(way);
      },
      { module: steps, way },
    );
    expect(calls[0]!.dispatches).toBeGreaterThan(0);
    // A captured step is recorded in its first two runs.
    for (const { dispatches, ...others } of calls.slice(2)) {
      expect(dispatches).toBe(calls[0]!.dispatches);
      expect(others).toMatchObject(expected);
    }
  });
}

test('what a run dispatches is recorded and done again; a run that does anything else is refused', async ({
  keptPage: page,
}) => {
  const result = await page.evaluate(async (module) => {
    const { recordRuns } = (await import(module)) as typeof import('./worker/recording.ts');
    return recordRuns();
  }, recording);
  // 1 and 5 are 6, doubled 12; 34; 78. The last one is only added to.
  expect(result.left).toEqual([78, 78, 78, 16]);
  expect(result.refused).toEqual({ copy: true, write: true, both: true, neither: false });
  expect(result.failed).toBe('in the run');
  expect(result.isRestored).toBe(true);
});

// The static way begins its steps with the same code: half a minute that only the long run takes.
const begun = [['captured', 8] as const, ...(long ? [['static', 3] as const] : [])];
for (const [way, count] of begun) {
  test(`a step that is begun before its token is read changes nothing (${way})`, async ({
    keptPage: page,
  }) => {
    test.setTimeout(900_000);
    const { decode, ahead, waiting } = await page.evaluate(
      async ({ module, way, count }) => {
        const { bothWays } = (await import(module)) as typeof import('./worker/pipelining.ts');
        return bothWays(way, count);
      },
      { module: pipelining, way, count },
    );
    expect(decode).toBe(way);
    // None before the last token that may come, one too many before an end that the token itself brings.
    expect(ahead.map(({ begun }) => begun)).toEqual([3, 3, 2, 2, 2, 2, 0, 2].slice(0, count));
    expect(waiting.map(({ begun }) => begun)).toEqual(Array(count).fill(0));
    const reasons = ['length', 'eos', 'length', 'cut', 'abort', 'length', 'length', 'length'];
    expect(ahead.map(({ reason }) => reason)).toEqual(reasons.slice(0, count));
    const comparable = (outcomes: typeof ahead) => outcomes.map(({ begun, row, ...others }) => others);
    expect(comparable(ahead)).toEqual(comparable(waiting));
    for (const [index, { row }] of ahead.entries()) {
      const difference = Math.max(...row.map((value, id) => Math.abs(value - waiting[index]!.row[id]!)));
      expect(difference, `request ${index}`).toBeLessThan(1e-3);
    }
  });
}

test('captured steps, some begun early: GPU memory and heap do not grow from the fifth request on', async ({
  keptPage: page,
}) => {
  test.setTimeout(600_000);
  const report = await page.evaluate(async (requests) => {
    const module = (await import(requests)) as Requests;
    Object.assign(window, { requests: module });
    return module.keepModel('captured');
  }, requests);
  expect(report).toMatchObject({ decode: 'captured', sampling: 'gpu' });
  const meter = await openPageMeter(page);
  const runs: Awaited<ReturnType<Requests['runKept']>>[] = [];
  const heaps: Heap[] = [];
  for (let index = 0; index < 12; index++) {
    const early = ([null, 'cut', null, 'abort'] as const)[index % 4]!;
    runs.push(
      await page.evaluate(
        (early) =>
          (window as unknown as WithRequests).requests.runKept({
            early,
          }),
        early,
      ),
    );
    if (index === 4 || index === 11) heaps.push(await meter());
  }
  const reasons = ['length', 'cut', 'length', 'abort'];
  expect(runs.map(({ reason }) => reason)).toEqual([...reasons, ...reasons, ...reasons]);
  expect(new Set(runs.flatMap(({ reason, answer }) => (reason === 'length' ? [answer] : []))).size).toBe(1);
  for (const measure of ['buffers', 'bytes'] as const) {
    const most = (from: number, to: number) => Math.max(...runs.slice(from, to).map((run) => run[measure]));
    expect(most(8, 12), measure).toBe(most(4, 8));
  }
  const [early, late] = heaps as [Heap, Heap];
  expect(late.backing - early.backing, 'array buffers').toBeLessThan(16_384);
  expect(late.used - early.used, 'objects').toBeLessThan(600_000);
});
