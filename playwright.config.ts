import { defineConfig } from '@playwright/test';
import { chromiumArguments, ensureChromium } from './scripts/chromium.mjs';

const long = process.env.TOKENPRISM_LONG === '1';

/** SwiftShader, so that results are the same on every machine; `TOKENPRISM_ADAPTER=any` takes a real GPU. */
const adapter = process.env.TOKENPRISM_ADAPTER === 'any' ? 'any' : 'software';

export default defineConfig({
  testDir: 'test',
  testMatch: ['browser/**/*.spec.ts', 'soak/**/*.spec.ts', ...(long ? ['long/**/*.spec.ts'] : [])],
  outputDir: 'test-results',
  globalSetup: './test/browser/harness/serve.ts',
  // One browser at a time: the software adapter computes on all cores.
  workers: 1,
  fullyParallel: false,
  forbidOnly: process.env.CI !== undefined,
  timeout: long ? 15 * 60_000 : 180_000,
  globalTimeout: long ? 0 : 30 * 60_000,
  expect: { timeout: 15_000 },
  reporter: [['list']],
  use: {
    headless: true,
    trace: 'off',
    launchOptions: {
      executablePath: ensureChromium(),
      args: [...chromiumArguments({ adapter }), '--js-flags=--expose-gc'],
    },
  },
});
