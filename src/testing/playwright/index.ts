/**
 * Fixtures for Playwright: a Chromium with WebGPU, the embedded model for every page, written answers in place of a
 * model, and an engine for the test itself.
 */
import {
  test as base,
  type JSHandle,
  type Page,
  type PlaywrightTestArgs,
  type PlaywrightTestOptions,
  type PlaywrightWorkerArgs,
  type PlaywrightWorkerOptions,
  type TestType,
} from '@playwright/test';
import type { Engine } from '../../engine/engine.ts';
import type { EngineOptions } from '../../engine/options.ts';
import { type Turn, writtenTurns } from '../turns.ts';
import { type TestAdapter, webgpuArguments } from './chromium.ts';
import { replaceModel as replaceInPage } from './replace-model.ts';
import { type PackageServer, servePackage } from './serve.ts';

export { expect } from '@playwright/test';
export type { ScriptedTurn } from '../../protocol.ts';
export type { ScriptedAnswer, Turn } from '../turns.ts';
export type { TestAdapter } from './chromium.ts';

/** The library, as the page of an engine has it. */
type Library = typeof import('../../index.ts') & typeof import('../index.ts');

declare global {
  interface Window {
    tokenprism: Library;
    tokenprismReady: Promise<void>;
  }
}

/** Of `createEngine`, as far as they can be sent to a page; a folder as `model` is an absolute URL. */
export interface TestEngineOptions
  extends Omit<EngineOptions, 'onProgress' | 'signal' | 'worker' | 'backend'> {
  /** Written answers; unset: the model answers. */
  turns?: readonly Turn[];
}

export interface TokenprismFixtures {
  /** What `engine` is made with. Unset: the embedded model, on the device that `auto` chooses. */
  engineOptions: TestEngineOptions;
  /** A blank page beside the application's, with the library as `window.tokenprism`. */
  enginePage: Page;
  /**
   * An engine on `enginePage`, loaded when a test asks for it:
   * `await engine.evaluate((engine) => engine.chat.completions.create({ … }))`.
   */
  engine: JSHandle<Engine>;
  /**
   * Gives engines that the application makes from its next page on the embedded model in place of theirs, or with
   * `turns` answers that are written down. The application is not changed: a worker is told to load something else.
   */
  replaceModel(turns?: readonly Turn[]): Promise<void>;
}

export interface TokenprismWorkerFixtures {
  /** Default `any`: a GPU where there is one. */
  adapter: TestAdapter;
  packageServer: PackageServer;
}

/** Playwright's `test` with these fixtures. */
export const test: TestType<
  PlaywrightTestArgs & PlaywrightTestOptions & TokenprismFixtures,
  PlaywrightWorkerArgs & PlaywrightWorkerOptions & TokenprismWorkerFixtures
> = base.extend<TokenprismFixtures, TokenprismWorkerFixtures>({
  adapter: ['any', { scope: 'worker', option: true }],

  launchOptions: [
    async ({ launchOptions, browserName, adapter }, use) => {
      const args = browserName === 'chromium' ? webgpuArguments(adapter, process.platform) : [];
      await use({ ...launchOptions, args: [...args, ...(launchOptions.args ?? [])] });
    },
    { scope: 'worker' },
  ],

  channel: [
    async ({ channel, launchOptions, browserName }, use) => {
      const isChosen = channel !== undefined || launchOptions.executablePath !== undefined;
      // Playwright's own headless shell has no WebGPU; the whole browser, headless, has.
      await use(isChosen || browserName !== 'chromium' ? channel : 'chromium');
    },
    { scope: 'worker' },
  ],

  packageServer: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixture's needs from this pattern.
    async ({}, use) => {
      const server = await servePackage();
      await use(server);
      await server.close();
    },
    { scope: 'worker' },
  ],

  engineOptions: [{}, { option: true }],

  enginePage: async ({ context, packageServer }, use) => {
    const page = await context.newPage();
    await page.goto(packageServer.url);
    await page.evaluate(() => window.tokenprismReady);
    await use(page);
    await page.close();
  },

  engine: [
    async ({ enginePage, engineOptions }, use) => {
      const { turns, ...options } = engineOptions;
      const written = turns ? writtenTurns(turns) : null;
      const engine = await enginePage.evaluateHandle(
        ({ written, options }) =>
          written
            ? window.tokenprism.createScriptedEngine(written, options)
            : window.tokenprism.createEngine(options),
        { written, options },
      );
      await use(engine);
      if (!enginePage.isClosed()) await engine.evaluate((engine) => engine.close());
    },
    // Of its own, as a test's own time is for what it tests.
    { timeout: 120_000 },
  ],

  replaceModel: async ({ context, packageServer }, use) => {
    await use(async (turns) => {
      const replacement = { files: packageServer.modelFiles, turns: turns ? writtenTurns(turns) : null };
      await context.addInitScript(replaceInPage, replacement);
    });
  },
});
