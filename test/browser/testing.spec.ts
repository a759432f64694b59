/**
 * What the package has for tests of apps: the app of `docs/testing.md` and its tests, with the package installed as
 * an app has it.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@playwright/test';
import { ensureChromium } from '../../scripts/chromium.mjs';
import { node, packedLibrary, root } from './packed.ts';

/** The files that the document shows, by the name in their first line. */
function documentedFiles(): Map<string, string> {
  const document = readFileSync(join(root, 'docs/testing.md'), 'utf8');
  const block = /```(?:ts|html)\n(?:\/\/|<!--) (\S+)(?: -->)?\n([\s\S]*?)```/g;
  return new Map([...document.matchAll(block)].map(([, name, text]) => [name!, text!]));
}

/** What the document only tells of. */
const more = `
import { expect, test } from 'tokenprism/testing/playwright';

test.use({ adapter: 'software', engineOptions: { turns: [{ reasoning: 'Easy.', content: 'Four.' }] } });

test('there is WebGPU, and an engine of written answers', async ({ enginePage, engine }) => {
  const architecture = await enginePage.evaluate(async () => (await navigator.gpu.requestAdapter())?.info.architecture);
  expect(architecture).toBe('swiftshader');
  const { device, message } = await engine.evaluate(async (engine) => {
    const answer = await engine.chat.completions.create({ messages: [{ role: 'user', content: '2 + 2?' }] });
    return { device: engine.state.device.device, message: answer.choices[0].message };
  });
  expect(device).toBe('scripted');
  expect(message).toMatchObject({ reasoning: 'Easy.', content: 'Four.' });
});

test('a replaced model keeps its name; the last replacement counts', async ({ enginePage, replaceModel }) => {
  await replaceModel([{ content: 'First.' }]);
  await replaceModel([{ content: 'Second.' }]);
  await enginePage.reload();
  const answer = await enginePage.evaluate(async () => {
    await window.tokenprismReady;
    const engine = await window.tokenprism.createEngine({ model: 'owner/name', dtype: 'fp16' });
    const messages = [{ role: 'user', content: 'Hi' }];
    return await engine.chat.completions.create({ model: 'owner/name', messages });
  });
  expect(answer).toMatchObject({ model: 'owner/name', choices: [{ message: { content: 'Second.' } }] });
});

test('a wrong turn is named', async ({ replaceModel }) => {
  await expect(replaceModel([{ txt: 'Hi' }])).rejects.toThrow("'turns[0].txt'");
});
`;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || address === null) throw new Error('The server listens on no port.');
  return address.port;
}

test('the documented app passes its tests, and the fixtures do what is told of them', async () => {
  test.setTimeout(420_000);
  const app = mkdtempSync(join(tmpdir(), 'tokenprism-app-'));
  try {
    const files = documentedFiles();
    expect([...files.keys()].sort()).toEqual([
      'app.spec.ts',
      'index.html',
      'main.ts',
      'playwright.config.ts',
    ]);
    for (const [name, text] of files) writeFileSync(join(app, name), text);
    writeFileSync(join(app, 'more.spec.ts'), more);
    const linked = (name: string) => [name, `file:${join(root, 'node_modules', name)}`];
    writeFileSync(
      join(app, 'package.json'),
      JSON.stringify({
        name: 'app',
        private: true,
        type: 'module',
        dependencies: {
          tokenprism: `file:${packedLibrary().tarball}`,
          ...Object.fromEntries(['openai', '@playwright/test', 'vite'].map(linked)),
        },
      }),
    );
    const run = promisify(execFile);
    const install = ['install', '--offline', '--no-audit', '--no-fund', '--install-links=false'];
    await run('npm', install, { cwd: app });
    writeFileSync(
      join(app, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          target: 'ES2022',
          module: 'ESNext',
          moduleResolution: 'bundler',
          lib: ['ES2022', 'DOM', 'DOM.AsyncIterable'],
          types: [],
          strict: true,
          // Playwright's own are for Node.
          skipLibCheck: true,
          noEmit: true,
        },
        files: ['main.ts', 'app.spec.ts'],
      }),
    );
    node('typescript/bin/tsc', ['-p', app]);
    mkdirSync(join(app, 'results'));
    const report = join(app, 'results/report.json');
    const environment = {
      ...process.env,
      PORT: String(await freePort()),
      CHROMIUM_PATH: ensureChromium(),
      PLAYWRIGHT_JSON_OUTPUT_FILE: report,
    };
    const cli = join(app, 'node_modules/@playwright/test/cli.js');
    const { stdout } = await run(process.execPath, [cli, 'test', '--workers=1', '--reporter=line,json'], {
      cwd: app,
      env: environment,
    }).catch((error) => error);
    expect(JSON.parse(readFileSync(report, 'utf8')).stats, stdout).toMatchObject({
      expected: 9,
      unexpected: 0,
      flaky: 0,
      skipped: 0,
    });
  } finally {
    rmSync(app, { recursive: true, force: true });
  }
});
