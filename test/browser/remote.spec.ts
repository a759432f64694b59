/** A model on the page and one on a server of another origin, behind one engine. */
import { test as base, expect } from '@playwright/test';
import { events, ReplayServer } from '../unit/remote/replay-server.ts';
import { foreignRequests, testOrigin } from './harness/fixture.ts';
import type {} from './harness/page.ts';

const test = base.extend<{ server: ReplayServer }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixture's needs from this pattern.
  server: async ({}, use) => {
    const pieces = ['<thi', 'nk>\nHm.', '\n</think>\n\nFrom', ' the server.'];
    const choice = (text: string, end: string | null) => ({
      id: 'cmpl-1',
      object: 'text_completion',
      created: 1_700_000_001,
      model: 'served',
      choices: [{ index: 0, text, logprobs: null, finish_reason: end, stop_reason: null }],
    });
    const server = await ReplayServer.start(
      events([...pieces.map((text) => choice(text, null)), choice('', 'stop')]),
    );
    await use(server);
    await server.close();
  },
});

test('answers here where it can, and on the server what is too long', async ({ page, context, server }) => {
  const origin = testOrigin();
  // The browser resolves no other name.
  const baseURL = server.baseURL.replace('127.0.0.1', 'localhost');
  const foreign = foreignRequests(context, origin);
  await page.goto(`${origin}/test/browser/harness/index.html`);
  await page.evaluate(() => window.tokenprismReady);
  const result = await page.evaluate(
    async ([base, baseURL]) => {
      const remote: typeof import('../../src/remote/index.ts') = await import(`${base}/src/remote/index.ts`);
      const hybrid = await remote.createHybridEngine({
        local: window.tokenprism.createEngine({ device: 'wasm' }),
        remote: await remote.createRemoteEngine({
          baseURL: baseURL!,
          apiKey: 'key',
          model: 'served',
          parse: 'client',
          tokenizer: '/models/tiny/',
        }),
      });
      const ask = async (content: string) => {
        const stream = await hybrid.chat.completions.create({
          messages: [{ role: 'user', content }],
          temperature: 0,
          stream: true,
        });
        const answer = { model: '', reasoning: '', content: '', finish: '' };
        for await (const { model, choices } of stream) {
          answer.model = model;
          answer.reasoning += choices[0]?.delta.reasoning ?? '';
          answer.content += choices[0]?.delta.content ?? '';
          answer.finish += choices[0]?.finish_reason ?? '';
        }
        return answer;
      };
      const early = await ask('What is the capital of France?');
      while (!hybrid.state.local) {
        await new Promise((resolve) => hybrid.addEventListener('state', resolve, { once: true }));
      }
      const here = await ask('What is the capital of France?');
      const long = await ask('word '.repeat(20_000));
      const { format } = hybrid.state.remote;
      await hybrid.close();
      return { early, here, long, format, status: hybrid.state.status };
    },
    [origin, baseURL],
  );
  const fromServer = {
    model: 'served',
    reasoning: 'Hm.',
    content: 'From the server.',
    finish: 'stop',
  };
  // Which of both answers the first depends on how long the model loads.
  expect([fromServer.content, result.here.content]).toContain(result.early.content);
  expect(result.here).toMatchObject({
    model: 'tokenprism-tiny',
    content: expect.stringContaining('Paris'),
    finish: 'stop',
  });
  expect(result.here.reasoning).not.toBe('');
  expect(result.format).toMatchObject({ reasoning: 'qwen3', tools: 'hermes' });
  expect(result.status).toBe('closed');
  expect(server.posts.at(-1)?.headers.authorization).toBe('Bearer key');
  expect(result.long).toEqual(fromServer);
  expect(foreign.every((url) => url.startsWith(baseURL))).toBe(true);
});
