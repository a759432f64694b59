import { expect, test } from './harness/fixture.ts';

test.use({ needsLibrary: false });
test.describe.configure({ timeout: 150_000 });

/** Modules as the page imports them. */
const client = '/test/browser/worker/client.ts';
const numbers = '/test/browser/worker/numbers.ts';
const question = [{ role: 'user', content: 'What can you do?' }];

test('WebGPU gives the logits of the CPU: prefill of 75 tokens, decode, and after a truncation', async ({
  page,
}) => {
  const result = await page.evaluate(async (numbers) => {
    const { compareWithReference } = (await import(numbers)) as typeof import('./worker/numbers.ts');
    return compareWithReference();
  }, numbers);
  expect(result.report.device).toBe('webgpu');
  expect(result.tokens).toBeGreaterThanOrEqual(40);
  expect(result.whole).toHaveLength(6);
  for (const difference of [...result.whole, ...result.truncated]) expect(difference).toBeLessThan(1e-2);
  expect(result.lengthAfterTruncation).toBe(40);
});

test('the self-test finds out a device that computes wrong numbers', async ({ page }) => {
  const result = await page.evaluate(async (numbers) => {
    const { selfTestOnNarrowSubgroups } = (await import(numbers)) as typeof import('./worker/numbers.ts');
    return selfTestOnNarrowSubgroups();
  }, numbers);
  test.skip(!result.hasSubgroups || (result.lanes ?? 0) >= 8, 'needs an adapter with narrow subgroups');
  expect(result.fault).toMatch(/differs from the same tokens in shorter pieces/);
});

test('a lost device ends its request with DeviceLostError, and the next one works on a new device', async ({
  page,
}) => {
  const { first, second, devices, reports } = await page.evaluate(async (numbers) => {
    const { loseDevice } = (await import(numbers)) as typeof import('./worker/numbers.ts');
    return loseDevice();
  }, numbers);
  expect(first).toMatchObject({ type: 'failed', error: { name: 'DeviceLostError', status: 503 } });
  expect(second).toMatchObject({ type: 'done', choices: [{ reason: 'length', completionTokens: 2 }] });
  expect({ devices, reports }).toEqual({ devices: 2, reports: 1 });
});

test('twenty requests, five aborted, one cut: GPU memory does not grow from the fifth on', async ({
  page,
}) => {
  const result = await page.evaluate(
    async ({ client, question }) => {
      const { WorkerClient } = (await import(client)) as typeof import('./worker/client.ts');
      const worker = new WorkerClient();
      const loaded = await worker.load({ kind: 'transformers', device: 'webgpu', dtype: 'auto' });
      const memory: { gpuBuffers: number; gpuBytes: number }[] = [];
      const reasons: string[] = [];
      const answers: string[] = [];
      for (let index = 0; index < 20; index++) {
        const run = worker.generate({ messages: question, maxTokens: 3 });
        const step = worker.next((message) => (message.type === 'tokens' ? true : undefined));
        if (index % 4 === 3) {
          await Promise.race([step, new Promise((resolve) => setTimeout(resolve, Math.random() * 1000))]);
          worker.send({ type: 'abort', request: run.request });
        } else if (index === 9) {
          await step;
          worker.send({ type: 'cut', request: run.request, choice: 0, at: 1 });
        }
        const end = await run.end;
        if (end.type !== 'done') throw new Error(JSON.stringify(end));
        reasons.push(end.choices[0]!.reason);
        if (end.choices[0]!.reason === 'length') answers.push(run.ids.join());
        const { gpuBuffers, gpuBytes } = await worker.memory();
        memory.push({ gpuBuffers, gpuBytes });
      }
      await worker.close();
      return { device: loaded.device.device, memory, reasons, answers: [...new Set(answers)] };
    },
    { client, question },
  );
  console.log(JSON.stringify(result));
  expect(result.device).toBe('webgpu');
  expect(result.reasons.filter((reason) => reason === 'abort').length).toBeGreaterThan(0);
  expect(result.reasons[9]).toBe('cut');
  // Whatever was aborted before, the answer is the same.
  expect(result.answers).toHaveLength(1);
  const settled = result.memory[4]!;
  expect(settled.gpuBuffers).toBeGreaterThan(0);
  for (const { gpuBuffers, gpuBytes } of result.memory.slice(5)) {
    expect(gpuBuffers).toBeLessThanOrEqual(settled.gpuBuffers);
    expect(gpuBytes).toBeLessThanOrEqual(settled.gpuBytes);
  }
});

test('without a GPU, auto runs on WASM and says why', async ({ page }) => {
  const result = await page.evaluate(
    async ({ client, question }) => {
      const { WorkerClient } = (await import(client)) as typeof import('./worker/client.ts');
      const worker = new WorkerClient();
      const { device } = await worker.load({ kind: 'transformers', device: 'auto', dtype: 'auto' });
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
