/**
 * What leaves the repository: the package as an application installs and bundles it, and the built demo as
 * `npm start` serves it. Both answer with the embedded model and no request to another origin.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from '@playwright/test';
import { build, preview, type Rolldown } from 'vite';
import { PAGE_BUDGET_BYTES, pageBundleSize } from '../../bench/parser/page-bundle.ts';
import { addressOf, listenTo } from './harness/built-page.ts';
import { foreignRequests } from './harness/fixture.ts';
import { node, packedLibrary, root } from './packed.ts';

function write(folder: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

/** The program of the README whose first line is `firstLine`. */
function readmeExample(firstLine: string): string {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const begin = readme.indexOf(`\`\`\`ts\n${firstLine}\n`);
  if (begin < 0) throw new Error(`README.md shows no program that begins with ${firstLine}`);
  return readme.slice(begin + 6, readme.indexOf('```\n', begin + 6));
}

const html = (script: string) =>
  `<!doctype html><link rel="icon" href="data:,"><script type="module" src="${script}"></script>`;

/** What an application does with OpenAI's client, after the README's program; the last line of the console is `checks`. */
const clientChecks = `
const { model, messages } = {
  model: 'tokenprism-tiny',
  messages: [{ role: 'user' as const, content: 'What is the capital of France?' }],
};
const whole = await client.chat.completions.create({ model, messages });
let streamed = '';
let reasoning = '';
for await (const { choices } of await client.chat.completions.create({ model, messages, stream: true })) {
  streamed += choices[0]?.delta.content ?? '';
  reasoning += (choices[0]?.delta as { reasoning?: string }).reasoning ?? '';
}
const controller = new AbortController();
const aborted = await client.chat.completions.create({ model, messages, stream: true }, { signal: controller.signal });
let chunks = 0;
for await (const _ of aborted) if (++chunks === 2) controller.abort();
const refused = await client.chat.completions.create({ model: 'other', messages }).catch((error) => error);
const called = await runner.finalFunctionToolCall();
console.log(
  'checks ' +
    JSON.stringify({
      models: (await client.models.list()).data.map(({ id }) => id),
      whole: whole.choices[0]?.message.content,
      streamed,
      reasoning: reasoning.length > 0,
      chunks,
      refused: [refused instanceof OpenAI.NotFoundError, refused.code],
      called,
    }),
);
`;

test('the packed package can be installed, typed, bundled and run', async ({ page, context }, info) => {
  test.setTimeout(240_000);
  const app = info.outputPath('app');
  mkdirSync(app, { recursive: true });

  const { tarball, files: paths } = packedLibrary();
  for (const needed of [
    'dist/index.js',
    'dist/remote.js',
    'dist/service-worker.js',
    'dist/service-worker-handler.js',
    'dist/tokenprism-sw.js',
    'dist/testing.js',
    'dist/playwright.js',
    'dist/types/src/index.d.ts',
    'dist/types/src/remote/index.d.ts',
    'LICENSE',
    'README.md',
  ]) {
    expect(paths).toContain(needed);
  }
  expect(paths.filter((path) => /^(src|worker|test|demo|scripts)\/|\.node$/.test(path))).toEqual([]);

  write(app, {
    'package.json': JSON.stringify({
      name: 'app',
      private: true,
      type: 'module',
      dependencies: { tokenprism: `file:${tarball}`, openai: `file:${join(root, 'node_modules/openai')}` },
    }),
    'index.html': html('main.ts'),
    'main.ts': readmeExample("import { createEngine } from 'tokenprism';"),
    'client.html': html('client.ts'),
    'client.ts': readmeExample("import OpenAI from 'openai';") + clientChecks,
    'types.ts': `import { createEngine, type ChatCompletion } from 'tokenprism';
import { type ChatEngine, createHybridEngine, createRemoteEngine } from 'tokenprism/remote';
import { type EngineService, serveFromServiceWorker } from 'tokenprism/service-worker';
import { createHandler } from 'tokenprism/service-worker/handler';
import { createScriptedEngine } from 'tokenprism/testing';
const engine = await createEngine();
const whole = await engine.chat.completions.create({ messages: [{ role: 'user', content: 'Hello!' }] });
export const completion: ChatCompletion = whole;
export const reasoning: string | null | undefined = whole.choices[0]?.message.reasoning;
// @ts-expect-error: a role that does not exist; types that had become any would let it pass
await engine.chat.completions.create({ messages: [{ role: 'wizard', content: 'Hello!' }] });
await createScriptedEngine(['Four.']);
const remote = await createRemoteEngine({ baseURL: 'http://localhost:8000/v1', parse: 'server' });
await remote.chat.completions.create({ messages: [{ role: 'user', content: 'Hello!' }], priority: 1 });
// @ts-expect-error: the model's own fields have their types all the same
await remote.chat.completions.create({ messages: [{ role: 'user', content: 'Hello!' }], temperature: 'hot' });
export const service: EngineService = await serveFromServiceWorker({ engine: () => remote, host: 'tab' });
export const isOurs: (event: { data: null; ports: []; source: null; waitUntil(): void }) => boolean = (event) =>
  createHandler({ basePath: '/v1' }).handleMessage(event);
export const engines: ChatEngine[] = [engine, remote, await createHybridEngine({ local: engine, remote })];
`,
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        target: 'ES2022',
        module: 'ESNext',
        moduleResolution: 'bundler',
        lib: ['ES2022', 'DOM', 'DOM.AsyncIterable'],
        types: [],
        strict: true,
        noEmit: true,
      },
      files: ['main.ts', 'client.ts', 'types.ts'],
    }),
  });
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', '--install-links=false'], {
    cwd: app,
  });
  const installed = readdirSync(join(app, 'node_modules'));
  expect(installed.filter((name) => !name.startsWith('.')).sort()).toEqual(['openai', 'tokenprism']);

  node('typescript/bin/tsc', ['-p', app]);
  node('typescript/bin/tsc', ['-p', app, '--module', 'nodenext', '--moduleResolution', 'nodenext']);

  const built = (await build({
    root: app,
    configFile: false,
    logLevel: 'warn',
    base: './',
    build: { target: 'es2022' },
  })) as Rolldown.RolldownOutput;
  expect(pageBundleSize(built.output).gzip).toBeLessThanOrEqual(PAGE_BUDGET_BYTES);
  await build({
    root: app,
    configFile: false,
    logLevel: 'warn',
    base: './',
    build: {
      target: 'es2022',
      emptyOutDir: false,
      rolldownOptions: { input: join(app, 'client.html') },
    },
  });
  const server = await preview({
    root: app,
    configFile: false,
    logLevel: 'warn',
    preview: { port: 0, host: '127.0.0.1' },
  });
  try {
    const origin = addressOf(server.httpServer.address());
    const foreign = foreignRequests(context, origin);
    const heard = listenTo(page);
    await page.goto(origin);
    await expect.poll(() => heard.said, { timeout: 60_000 }).toContain('Paris');
    heard.said = '';
    await page.goto(`${origin}/client.html`);
    await expect.poll(() => heard.said, { timeout: 90_000 }).toContain('checks ');
    const [answer, checks] = heard.said.split('checks ');
    expect(answer).toContain('18');
    expect(JSON.parse(checks!)).toMatchObject({
      models: ['tokenprism-tiny'],
      whole: expect.stringContaining('Paris'),
      streamed: expect.stringContaining('Paris'),
      reasoning: true,
      chunks: 2,
      refused: [true, 'model_not_found'],
      called: { name: 'get_weather', arguments: expect.stringContaining('Paris') },
    });
    expect(foreign).toEqual([]);
  } finally {
    await server.close();
  }
});

test('npm start prints the address of a demo that answers', async ({ page, context }) => {
  test.setTimeout(180_000);
  const server = spawn(process.execPath, [join(root, 'scripts/start.mjs'), '--port', '0'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let origin = '';
    for await (const line of createInterface(server.stdout)) {
      origin = /http:\/\/localhost:\d+/.exec(line)?.[0] ?? '';
      if (origin) break;
    }
    expect(origin, 'an address on stdout').not.toBe('');
    const foreign = foreignRequests(context, origin);
    await page.goto(`${origin}/?device=wasm`);
    await expect(page.getByRole('button', { name: 'What is 23 * 19?' })).toBeEnabled({ timeout: 60_000 });
    await page.getByRole('button', { name: 'What is 23 * 19?' }).click();
    await expect(page.getByRole('article', { name: 'Answer' })).toContainText('437', { timeout: 60_000 });
    expect(foreign).toEqual([]);
  } finally {
    server.kill('SIGTERM');
    if (server.exitCode === null) await once(server, 'exit');
  }
});
