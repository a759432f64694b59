import { expect, test } from './harness/fixture.ts';

test.use({ needsLibrary: false });

/** The client module as the page imports it. */
const client = '/test/browser/worker/client.ts';
const question = [{ role: 'user', content: 'What can you do?' }];

test('on WebGPU: loads, answers, aborts, cuts, and serves the next request', async ({ page }) => {
  const result = await page.evaluate(
    async ({ client, question }) => {
      const { WorkerClient } = (await import(client)) as typeof import('./worker/client.ts');
      const worker = new WorkerClient();
      const loaded = await worker.load({ kind: 'transformers', device: 'webgpu', dtype: 'auto' });
      const first = worker.generate({ messages: question, maxTokens: 4 });
      const firstEnd = await first.end;
      const aborted = worker.generate({ messages: question });
      await worker.next((message) => (message.type === 'tokens' ? true : undefined));
      worker.send({ type: 'abort', request: aborted.request });
      const abortedEnd = await aborted.end;
      const cut = worker.generate({ messages: question });
      await worker.next((message) => (message.type === 'tokens' && message.from === 2 ? true : undefined));
      worker.send({ type: 'cut', request: cut.request, choice: 0, at: 1 });
      const cutEnd = await cut.end;
      const last = worker.generate({ messages: question, maxTokens: 4 });
      await last.end;
      await worker.close();
      const { device, model, milliseconds } = loaded;
      return {
        device,
        model: model.id,
        milliseconds,
        firstEnd,
        abortedEnd,
        cutEnd,
        first: first.ids,
        last: last.ids,
      };
    },
    { client, question },
  );
  console.log(JSON.stringify(result));
  expect(result.device.device).toBe('webgpu');
  expect(result.device.adapter).not.toBeNull();
  expect(result.firstEnd).toMatchObject({
    type: 'done',
    choices: [{ reason: 'length', completionTokens: 4 }],
  });
  expect(result.abortedEnd).toMatchObject({ type: 'done', choices: [{ reason: 'abort' }] });
  expect(result.cutEnd).toMatchObject({ type: 'done', choices: [{ reason: 'cut', completionTokens: 1 }] });
  expect(result.last).toEqual(result.first);
});
