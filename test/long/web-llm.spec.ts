/** A real model on web-llm: TOKENPRISM_MLC_MODEL is its folder, TOKENPRISM_MLC_LIB its library for the installed version. */
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { expect, test } from '@playwright/test';
import { testOrigin } from '../browser/harness/fixture.ts';

const { TOKENPRISM_MLC_MODEL: folder, TOKENPRISM_MLC_LIB: library } = process.env;

test('a real model answers within a schema', async ({ page }) => {
  test.skip(!folder || !library, 'TOKENPRISM_MLC_MODEL and TOKENPRISM_MLC_LIB name no model.');
  const module = createRequire(import.meta.url).resolve('@mlc-ai/web-llm');
  const server = createServer((request, response) => {
    const name = basename(new URL(request.url!, 'http://localhost').pathname);
    const path = { 'web-llm.js': module, 'model.wasm': library! }[name] ?? join(folder!, name);
    response.setHeader('access-control-allow-origin', '*');
    if (!existsSync(path)) return response.writeHead(404).end();
    if (name === 'web-llm.js') {
      response.setHeader('content-type', 'text/javascript');
      return response.end(readFileSync(path));
    }
    return createReadStream(path).pipe(response);
  }).listen(0, '127.0.0.1');
  try {
    const { port } = server.address() as AddressInfo;
    await page.goto(`${testOrigin()}/test/browser/harness/index.html`);
    await page.evaluate(() => window.tokenprismReady);
    const answer = await page.evaluate(async (base) => {
      const engine = await window.tokenprism.createEngine({
        backend: 'web-llm',
        model: `${base}/model/`,
        webLlm: { module: `${base}/web-llm.js`, modelLib: `${base}/model.wasm`, route: 'pipeline' },
      });
      const { choices } = await engine.chat.completions.create({
        messages: [{ role: 'user', content: 'Say yes or no.' }],
        temperature: 0,
        chat_template_kwargs: { enable_thinking: false },
        structured_outputs: { choice: ['yes', 'no'] },
      });
      await engine.close();
      return choices[0]!.message.content;
    }, `http://localhost:${port}`);
    expect(['yes', 'no']).toContain(answer);
  } finally {
    server.close();
  }
});
