/**
 * `npm test`: everything that has to hold, on a machine that has only Node. Installs what is missing, runs Vitest
 * (unit, conformance) and Playwright (browser), and closes with one line of figures. `--long` adds what takes long.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureChromium } from './chromium.mjs';
import { setup } from './setup.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const minute = 60_000;

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}

/** Runs a tool of node_modules, output passed through; true when it exits with 0 in time. */
function runTool(script, argumentList, environment, timeout) {
  const { status, signal } = spawnSync(
    process.execPath,
    [join(root, 'node_modules', script), ...argumentList],
    {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, ...environment },
      timeout,
    },
  );
  if (signal) console.error(`${script} was ended by ${signal}; it may run for ${timeout / minute} minutes.`);
  return status === 0;
}

/** The figures of one runner; its failure without a failed test (a file that does not load) counts as one. */
function tally(title, succeeded, figures) {
  const { passed, failed, skipped } = figures ?? { passed: 0, failed: 0, skipped: 0 };
  if (passed + failed === 0) console.error(`${title} ran no test.`);
  const broken = passed + failed === 0 || (!succeeded && failed === 0);
  return { passed, failed: broken ? 1 : failed, skipped };
}

function runVitest(folder, environment, timeout) {
  const output = join(folder, 'vitest.json');
  const succeeded = runTool(
    'vitest/vitest.mjs',
    ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${output}`],
    environment,
    timeout,
  );
  const report = readJson(output);
  return tally(
    'Vitest',
    succeeded,
    report && {
      passed: report.numPassedTests,
      failed: report.numFailedTests,
      skipped: report.numPendingTests + report.numTodoTests,
    },
  );
}

function runPlaywright(folder, environment, timeout) {
  const output = join(folder, 'playwright.json');
  const succeeded = runTool(
    '@playwright/test/cli.js',
    ['test', '--reporter=list,json'],
    { ...environment, PLAYWRIGHT_JSON_OUTPUT_FILE: output },
    timeout,
  );
  const stats = readJson(output)?.stats;
  return tally(
    'Playwright',
    succeeded,
    stats && { passed: stats.expected + stats.flaky, failed: stats.unexpected, skipped: stats.skipped },
  );
}

function main() {
  const long = process.argv.slice(2).includes('--long');
  setup();
  const environment = { CHROMIUM_PATH: ensureChromium(), TOKENPRISM_LONG: long ? '1' : '' };
  const timeout = (long ? 120 : 30) * minute;
  const folder = mkdtempSync(join(tmpdir(), 'tokenprism-test-'));
  try {
    const results = [runVitest(folder, environment, timeout), runPlaywright(folder, environment, timeout)];
    const sum = (field) => results.reduce((total, result) => total + result[field], 0);
    const skipped = sum('skipped') > 0 ? `, ${sum('skipped')} skipped` : '';
    console.log(`\n${sum('passed')} passed, ${sum('failed')} failed${skipped}`);
    return sum('failed') === 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

try {
  process.exitCode = main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
