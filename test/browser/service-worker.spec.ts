/**
 * The engine's routes on the page's own origin: one engine for all tabs, whoever comes and goes. Answers are written
 * ones, but for the last test, in which an application has the package installed.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BrowserContext, test as base, expect, type Page } from '@playwright/test';
import { build, preview } from 'vite';
import { addressOf, listenTo } from './harness/built-page.ts';
import { foreignRequests, testOrigin } from './harness/fixture.ts';
import { packedLibrary, root } from './packed.ts';
import type {} from './service-worker/page.ts';

/** `open` opens a tab. A request to another origin fails the test. */
const test = base.extend<{ open: () => Promise<Page> }>({
  open: async ({ context }, use) => {
    const foreign = foreignRequests(context, testOrigin());
    await use(async () => {
      const page = await context.newPage();
      await page.goto(`${testOrigin()}/test/browser/service-worker/index.html`);
      await page.waitForFunction(() => 'tab' in window);
      return page;
    });
    expect(foreign, 'requests to other origins').toEqual([]);
  },
});

/** Ends the service workers as the browser does with idle ones. */
async function stopServiceWorkers(context: BrowserContext, page: Page): Promise<void> {
  const devtools = await context.newCDPSession(page);
  await devtools.send('ServiceWorker.enable');
  await devtools.send('ServiceWorker.stopAllWorkers');
  await devtools.detach();
}

async function endSharedWorker(context: BrowserContext): Promise<void> {
  const devtools = await context.browser()!.newBrowserCDPSession();
  const { targetInfos } = await devtools.send('Target.getTargets');
  const { targetId } = targetInfos.find(({ type }) => type === 'shared_worker')!;
  const { sessionId } = await devtools.send('Target.attachToTarget', { targetId });
  const message = JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression: 'close()' } });
  await devtools.send('Target.sendMessageToTarget', { sessionId, message });
  await devtools.detach();
}

const loads = (...pages: Page[]) => Promise.all(pages.map((page) => page.evaluate(() => window.tab.loads)));
const content = (page: Page) => page.evaluate(() => window.tab.content());
const streamEnd = (page: Page) => page.evaluate(() => window.tab.stream.end);

/** An answer that does not end while a test runs. */
const endless = { content: 'word '.repeat(5000), delay: 20 };

test('one engine answers fetch and the client of every tab', async ({ open, context }) => {
  const first = await open();
  await first.evaluate(async () => {
    await window.tab.register();
    await navigator.serviceWorker.ready;
  });
  await first.reload();
  await first.waitForFunction(() => 'tab' in window);
  expect(await content(first)).toMatch(/^no_engine: .*serveFromServiceWorker\(\)/);
  const status = await first.evaluate(async () => {
    const response = await window.tab.post({});
    return [response.status, (await response.json()).error.type];
  });
  expect(status).toEqual([503, 'server_error']);

  const second = await open();
  await first.evaluate(() => window.tab.serve([{ reasoning: 'Hm.', content: 'Hello.' }]));
  await second.evaluate(() => window.tab.serve([{ content: 'Not from here.' }]));
  for (const page of [first, second]) {
    expect(await content(page)).toBe('Hello.');
    expect(await page.evaluate(() => window.tab.client())).toEqual(['tokenprism-tiny', 'Hello.', 'Hello.']);
    const events = await page.evaluate(async () => (await window.tab.post({ stream: true })).text());
    expect(events).toMatch(/^data: \{.*"content":"Hello.*\n\ndata: \[DONE\]\n\n$/s);
  }
  const refusals = await second.evaluate(async () => [
    await window.tab.refusal({}),
    await window.tab.refusal({ basePath: '/2', scriptURL: '/nowhere.js' }),
    await window.tab.refusal({ basePath: '/2', registration: await window.tab.elsewhere() }),
  ]);
  expect(refusals).toEqual([
    'BadRequestError: invalid_value',
    'ServiceWorkerError: registration_failed',
    'ServiceWorkerError: out_of_scope',
  ]);
  // Errors are the engine's, and the service worker's own routes go on.
  const others = await second.evaluate(async () => [
    await (await fetch('/v1/models/other')).json(),
    (await fetch('/v1/nowhere')).status,
    await (await fetch('own')).text(),
  ]);
  expect(others).toMatchObject([{ error: { code: 'model_not_found' } }, 404, 'own']);
  expect(await loads(first, second)).toEqual([1, 0]);

  await stopServiceWorkers(context, first);
  expect(await content(second)).toBe('Hello.');
  expect(await loads(first, second)).toEqual([1, 0]);
});

test('a request that is given up, or whose tab or service worker goes, leaves the model free', async ({
  open,
  context,
}) => {
  const first = await open();
  const second = await open();
  await first.evaluate((turn) => window.tab.serve([turn, { content: 'Free.' }]), endless);
  await second.evaluate(() => window.tab.serve([]));
  for (const stream of [true, false]) {
    expect(await second.evaluate((stream) => window.tab.abort(stream), stream)).toBe('AbortError');
    expect(await content(second)).toBe('Free.');
  }
  await second.evaluate(() => window.tab.begin());
  await stopServiceWorkers(context, second);
  expect(await content(second)).toBe('Free.');
  await expect.poll(() => streamEnd(second)).not.toBe('');
  // A tab is closed while it waits for a whole answer.
  await second.evaluate(() => void window.tab.post({}));
  await second.close();
  expect(await content(first)).toBe('Free.');
  expect(await loads(first)).toEqual([1]);
});

test('the next tab takes over where the one with the engine is closed', async ({ open }) => {
  const pages = [await open(), await open(), await open()] as const;
  for (const [index, page] of pages.entries()) {
    const turns = index === 0 ? [endless] : [{ content: `From ${index}.` }];
    await page.evaluate((turns) => window.tab.serve(turns), turns);
  }
  const [first, second, third] = pages;
  await third.evaluate(() => window.tab.begin());
  // It waits behind the stream, and is answered by the next engine.
  const waiting = third.evaluate(() => window.tab.content());
  await third.waitForTimeout(200);
  await first.close();
  expect(await waiting).toBe('From 1.');
  await expect.poll(() => streamEnd(third)).toBe('engine_lost');
  expect(await loads(second, third)).toEqual([1, 0]);

  await second.evaluate(() => window.tab.close());
  expect(await content(second)).toBe('From 2.');
  expect(await loads(third)).toEqual([1]);
  await third.evaluate(() => window.tab.close());
  expect(await content(second)).toContain('no_engine');
});

test('a shared worker answers on when the tab that asked it is closed', async ({ open, context }) => {
  const [first, second] = [await open(), await open()];
  for (const page of [first, second]) {
    await page.evaluate(() => {
      const turns = ['<think>\n</think>\n\nOne two three four five.'].map((text) => ({ text, delay: 100 }));
      const backend = { kind: 'scripted' as const, turns };
      return window.tab.serveFrom({ host: 'shared-worker', engine: { backend } });
    });
  }
  await second.evaluate(() => window.tab.begin());
  await first.close();
  await expect
    .poll(() => second.evaluate(() => window.tab.stream))
    .toEqual({
      text: 'One two three four five.',
      end: 'done',
    });
  // It ends, as in a crash, and another one is started.
  await second.evaluate(() => window.tab.begin());
  await endSharedWorker(context);
  await expect.poll(() => streamEnd(second)).toBe('engine_lost');
  expect(await content(second)).toBe('One two three four five.');
});

/** What is added to the program of the document. */
const inSharedWorker = `
await service.close();
const closed = await fetch('/v1/models');
// Another base path is another service worker, which takes the first one's place.
const shared = await serveFromServiceWorker({
  host: 'shared-worker',
  basePath: '/shared/v1',
  engine: { device: 'wasm' },
});
await shared.ready;
const again = await fetch('/shared/v1/chat/completions', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ messages, stream: true }),
});
console.log('shared ' + closed.status + (await again.text()));
`;

test('the program of docs/service-worker.md answers, bundled with the package', async ({ context }, info) => {
  test.setTimeout(240_000);
  const app = info.outputPath('app');
  const installed = join(app, 'node_modules/tokenprism');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', packedLibrary().tarball, '-C', installed, '--strip-components', '1']);
  symlinkSync(join(root, 'node_modules/openai'), join(app, 'node_modules/openai'), 'junction');
  mkdirSync(join(app, 'public'));
  cpSync(join(installed, 'dist/tokenprism-sw.js'), join(app, 'public/tokenprism-sw.js'));
  mkdirSync(join(app, 'public/own'));
  writeFileSync(
    join(app, 'public/own/sw.js'),
    `importScripts('/tokenprism-sw.js');
addEventListener('fetch', (event) => event.respondWith(new Response('own')));`,
  );
  const manual = readFileSync(join(root, 'docs/service-worker.md'), 'utf8');
  const [, program] = /```ts\n([\s\S]*?)```/.exec(manual)!;
  writeFileSync(join(app, 'main.ts'), program + inSharedWorker);
  writeFileSync(
    join(app, 'index.html'),
    '<!doctype html><link rel="icon" href="data:,"><script type="module" src="main.ts"></script>',
  );
  const options = { root: app, configFile: false as const, logLevel: 'warn' as const };
  await build({ ...options, build: { target: 'es2022' } });
  const server = await preview({ ...options, preview: { port: 0, host: '127.0.0.1' } });
  try {
    const origin = addressOf(server.httpServer.address());
    const foreign = foreignRequests(context, origin);
    const page = await context.newPage();
    const heard = listenTo(page);
    await page.goto(origin);
    await expect.poll(() => heard.said, { timeout: 120_000 }).toContain('shared ');
    const [own, shared] = heard.said.split('shared ');
    expect(own!.match(/The capital of France is Paris\./g)).toHaveLength(2);
    expect(shared).toMatch(/^503data: .*Paris.*\n\ndata: \[DONE\]\n\n$/s);

    // A service worker that is no module, with listeners of its own behind.
    await page.evaluate(async () => {
      const registration = await navigator.serviceWorker.register('/own/sw.js');
      const worker = registration.installing!;
      await new Promise<void>((resolve) => {
        worker.onstatechange = () => worker.state === 'activated' && resolve();
      });
    });
    await page.goto(`${origin}/own/`);
    const answers = await page.evaluate(async () => [
      document.body.textContent,
      (await (await fetch('/v1/models')).json()).error.code,
    ]);
    expect(answers).toEqual(['own', 'no_engine']);
    expect(foreign).toEqual([]);
  } finally {
    await server.close();
  }
});
