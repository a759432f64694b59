import { expect, test } from './harness/kept-page.ts';
import { type Heap, openHeapMeter } from './worker/heap.ts';

const long = process.env.TOKENPRISM_LONG === '1';
/** Requests whose memory is measured. */
const count = long ? 20 : 12;

test.use({ needsLibrary: false });
test.describe.configure({ timeout: 240_000 });

/** Modules as the page imports them. */
const client = '/test/browser/worker/client.ts';
const numbers = '/test/browser/worker/numbers.ts';
const question = [{ role: 'user', content: 'What can you do?' }];

for (const way of ['captured', 'static', 'growing'] as const) {
  test(`WebGPU gives the logits of the CPU (${way}): prefill of 75 tokens, decode, and after a truncation`, async ({
    keptPage: page,
  }) => {
    const result = await page.evaluate(
      async ({ numbers, way }) => {
        const { compareWithReference } = (await import(numbers)) as typeof import('./worker/numbers.ts');
        return compareWithReference(way);
      },
      { numbers, way },
    );
    expect(result.report).toMatchObject({ device: 'webgpu', decode: way, limits: [] });
    expect(result.tokens).toBeGreaterThanOrEqual(40);
    expect(result.whole).toHaveLength(6);
    for (const difference of [...result.whole, ...result.truncated]) expect(difference).toBeLessThan(1e-2);
    expect(result.lengthAfterTruncation).toBe(40);
  });
}

test('a KV cache that grows and is copied gives the same logits, and an overflow is an error', async ({
  keptPage: page,
}) => {
  const result = await page.evaluate(async (numbers) => {
    const { growAndCopy } = (await import(numbers)) as typeof import('./worker/numbers.ts');
    return growAndCopy();
  }, numbers);
  const { differences, bytes } = result;
  expect(Object.keys(differences)).toEqual(['grown', 'copied', 'copied, then grown']);
  for (const [name, difference] of Object.entries(differences)) expect(difference, name).toBeLessThan(1e-2);
  // Six layers, keys and values, two heads of 32 float32 values: 512 tokens; 256 for the copy of 208.
  const capacities = bytes.map((count) => count / (6 * 2 * 2 * 32 * 4));
  expect(capacities).toEqual([512, 512, 512, 256, 512]);
  expect(result.overflow).toMatch(/context holds 2048 tokens; 2049 were asked for/);
  expect(result.after).toBe(300);
});

test('the self-test finds out a device that computes wrong numbers', async ({ keptPage: page }) => {
  const result = await page.evaluate(async (numbers) => {
    const { selfTestOnNarrowSubgroups } = (await import(numbers)) as typeof import('./worker/numbers.ts');
    return selfTestOnNarrowSubgroups();
  }, numbers);
  test.skip(!result.hasSubgroups || (result.lanes ?? 0) >= 8, 'needs an adapter with narrow subgroups');
  expect(result.fault).toMatch(/differs from the same tokens in shorter pieces/);
});

// Two more starts of a model: the engine's faults have the same, with a worker in between.
if (long) {
  test('a lost device ends its request with DeviceLostError, and the next one works on a new device', async ({
    keptPage: page,
  }) => {
    const { first, second, devices, reports } = await page.evaluate(async (numbers) => {
      const { loseDevice } = (await import(numbers)) as typeof import('./worker/numbers.ts');
      return loseDevice();
    }, numbers);
    expect(first).toMatchObject({ type: 'failed', error: { name: 'DeviceLostError', status: 503 } });
    expect(second).toMatchObject({ type: 'done', choices: [{ reason: 'length', completionTokens: 2 }] });
    expect({ devices, reports }).toEqual({ devices: 2, reports: 1 });
  });
}

test('an answer whose tokens are chosen on the GPU says that its device was lost', async ({
  keptPage: page,
}) => {
  const error = await page.evaluate(async (numbers) => {
    const { loseKeptDevice } = (await import(numbers)) as typeof import('./worker/numbers.ts');
    return loseKeptDevice('growing');
  }, numbers);
  expect(error).toMatchObject({ name: 'DeviceLostError', status: 503 });
});

test('models that are closed leave nothing on their devices', async ({ keptPage: page }) => {
  const left = await page.evaluate(async (models) => {
    const { closeKept, keptModel } = (await import(models)) as typeof import('./worker/kept-models.ts');
    await keptModel('static');
    return closeKept();
  }, '/test/browser/worker/kept-models.ts');
  expect(left).toMatchObject({ static: { buffers: 0, bytes: 0 } });
  for (const memory of Object.values(left)) expect(memory).toEqual({ buffers: 0, bytes: 0 });
});

test(`${count} requests, some aborted, one cut: GPU memory and heaps do not grow from the fifth on`, async ({
  page,
}) => {
  const device = await page.evaluate(async (client) => {
    const { WorkerClient } = (await import(client)) as typeof import('./worker/client.ts');
    const worker = new WorkerClient();
    Object.assign(window, { worker });
    return (await worker.load({ kind: 'onnx', device: 'webgpu', dtype: 'auto' })).device.device;
  }, client);
  expect(device).toBe('webgpu');
  const meter = await openHeapMeter(page);

  /** Runs request `index`, ended early in the given way, and measures what is left of it. */
  const run = (index: number, early: 'abort' | 'cut' | null) =>
    page.evaluate(
      async ({ index, early, question }) => {
        const { worker } = window as unknown as { worker: import('./worker/client.ts').WorkerClient };
        // The request must be alive when the cut reaches it, however slow the way is.
        const request = worker.generate({ messages: question, maxTokens: early === 'cut' ? 24 : 2 });
        const step = worker.next((message) => (message.type === 'tokens' ? true : undefined));
        if (early === 'cut') await step;
        if (early === 'abort') {
          await Promise.race([step, new Promise((resolve) => setTimeout(resolve, Math.random() * 800))]);
          worker.send({ type: 'abort', request: request.request });
        } else if (early === 'cut') {
          worker.send({ type: 'cut', request: request.request, choice: 0, at: 1 });
        }
        const end = await request.end;
        if (end.type !== 'done') throw new Error(`Request ${index}: ${end.error.message}`);
        const { gpuBuffers, gpuBytes } = await worker.memory();
        // The client keeps what came; that is not the worker's doing.
        worker.messages.length = 0;
        return { reason: end.choices[0]!.reason, answer: request.ids.join(), gpuBuffers, gpuBytes };
      },
      { index, early, question },
    );

  const runs: Awaited<ReturnType<typeof run>>[] = [];
  const heaps: { page: Heap; worker: Heap }[] = [];
  for (let index = 0; index < count; index++) {
    runs.push(await run(index, index % 4 === 3 ? 'abort' : index === 2 ? 'cut' : null));
    if (index === 4 || index === count - 1)
      heaps.push({ page: await meter.page(), worker: await meter.worker() });
  }
  expect(runs[2]!.reason).toBe('cut');
  expect(runs.filter(({ reason }) => reason === 'abort').length).toBeGreaterThan(0);
  // Whatever was aborted before, the answer is the same.
  const answers = runs.filter(({ reason }) => reason === 'length').map(({ answer }) => answer);
  expect(new Set(answers).size).toBe(1);
  expect(runs[4]!.gpuBuffers).toBeGreaterThan(0);
  // The runtime's pool may hold a buffer more after an abort at a new moment; what leaks comes with every one.
  const middle = (4 + count) / 2;
  for (const measure of ['gpuBuffers', 'gpuBytes'] as const) {
    const most = (from: number, to: number) => Math.max(...runs.slice(from, to).map((run) => run[measure]));
    expect(most(middle, count), measure).toBeLessThanOrEqual(most(4, middle));
  }
  const [early, late] = heaps as [(typeof heaps)[0], (typeof heaps)[0]];
  for (const place of ['page', 'worker'] as const) {
    // Logits, caches and messages with ids live in array buffers.
    expect(late[place].backing - early[place].backing, `${place}: array buffers`).toBeLessThan(16_384);
    // Compiled code and its statistics grow a little for as long as the code is young.
    expect(late[place].used - early[place].used, `${place}: objects`).toBeLessThan(600_000);
  }
  await page.evaluate(async () => {
    const { worker } = window as unknown as { worker: import('./worker/client.ts').WorkerClient };
    await worker.close();
  });
});

test('without a GPU, auto runs on WASM and says why', async ({ page }) => {
  const result = await page.evaluate(
    async ({ client, question }) => {
      const { WorkerClient } = (await import(client)) as typeof import('./worker/client.ts');
      const worker = new WorkerClient();
      const { device } = await worker.load({ kind: 'onnx', device: 'auto', dtype: 'auto' });
      const run = worker.generate({ messages: question, maxTokens: 8 });
      const end = await run.end;
      await worker.close();
      return { device, end, ids: run.ids };
    },
    { client, question },
  );
  test.skip(result.device.adapter?.isSoftware === false, 'this machine has a GPU');
  expect(result.device).toMatchObject({ device: 'wasm', dtype: 'q4' });
  expect(result.device.reason).toMatch(/software/);
  expect(result.end).toMatchObject({ type: 'done', choices: [{ reason: 'length', completionTokens: 8 }] });
  expect(result.ids).toHaveLength(8);
});
