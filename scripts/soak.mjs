/**
 * `npm run soak -- --minutes 30 [--seed 1]`: mixed load in several tabs with random faults, on the embedded model. Tells
 * requests, faults, recoveries and memory; fails where a request neither ended nor failed.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureChromium } from './chromium.mjs';
import { setup } from './setup.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

function main() {
  const { values } = parseArgs({
    options: { minutes: { type: 'string', default: '30' }, seed: { type: 'string', default: '1' } },
  });
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new Error('--minutes must be a number above 0.');
  if (!/^\d+$/.test(values.seed)) throw new Error('--seed must be a whole number.');
  setup();
  const cli = join(root, 'node_modules/@playwright/test/cli.js');
  const { status } = spawnSync(process.execPath, [cli, 'test', 'test/soak', '--global-timeout=0'], {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      CHROMIUM_PATH: ensureChromium(),
      TOKENPRISM_SOAK_MINUTES: String(minutes),
      TOKENPRISM_SOAK_SEED: values.seed,
    },
  });
  return status ?? 1;
}

try {
  process.exitCode = main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
