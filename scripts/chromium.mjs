/**
 * Finds a Chromium for the browser tests and `npm run ask`, or installs one. Imports nothing that has to be
 * installed first.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);

const commands = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const wellKnown = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
];

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Where Playwright keeps the Chromium that belongs to its version; `null` before the dependencies are installed. */
function playwrightChromium() {
  try {
    return require('playwright-core').chromium.executablePath();
  } catch {
    return null;
  }
}

/**
 * The path of a Chromium: `CHROMIUM_PATH`, else Playwright's own, else the system's; `null` where there is none.
 * Throws when `CHROMIUM_PATH` names no program.
 */
export function findChromium() {
  const named = process.env.CHROMIUM_PATH;
  if (named) {
    if (isExecutable(named)) return named;
    throw new Error(`CHROMIUM_PATH is "${named}", which is not an executable file. Correct it or unset it.`);
  }
  const inPath = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  const candidates = [
    playwrightChromium(),
    ...commands.flatMap((command) => inPath.map((folder) => join(folder, command))),
    ...wellKnown,
  ];
  return candidates.find((path) => path !== null && isExecutable(path)) ?? null;
}

/** Runs a command with its output on stderr, so that stdout stays free for results. */
function run(command, argumentList, environment = {}) {
  const { status } = spawnSync(command, argumentList, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    timeout: 10 * 60_000,
    env: { ...process.env, ...environment },
  });
  return status === 0;
}

function starts(path) {
  return spawnSync(path, ['--version'], { timeout: 60_000 }).status === 0;
}

function installWithPlaywright() {
  console.error('No Chromium found; installing the one that belongs to Playwright …');
  const cli = join(root, 'node_modules/playwright-core/cli.js');
  const impatient = { PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT: '15000' };
  if (!run(process.execPath, [cli, 'install', 'chromium'], impatient)) return null;
  const path = playwrightChromium();
  return path !== null && isExecutable(path) && starts(path) ? path : null;
}

function installWithApt() {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return null;
  if (spawnSync('apt-get', ['--version']).status !== 0) return null;
  console.error('That did not work here; installing the package "chromium" of the system …');
  const quiet = { DEBIAN_FRONTEND: 'noninteractive' };
  run('apt-get', ['update'], quiet);
  if (!run('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], quiet)) return null;
  const path = commands.map((command) => join('/usr/bin', command)).find(isExecutable);
  return path && starts(path) ? path : null;
}

/** Like {@link findChromium}, but installs one where there is none. Throws with what to do when that fails. */
export function ensureChromium() {
  const path = findChromium() ?? installWithPlaywright() ?? installWithApt();
  if (path !== null) return path;
  throw new Error(
    'No Chromium could be found or installed. Install Chromium or Chrome (for example "npx playwright install ' +
      '--with-deps chromium", or your system\'s package) or set CHROMIUM_PATH to one.',
  );
}

/**
 * Command-line switches for a headless Chromium with WebGPU.
 *
 * `adapter: 'software'` always takes SwiftShader, so that a test does the same on every machine; `'any'` takes a
 * real GPU and falls back to SwiftShader. Names other than localhost do not resolve unless `network` is set.
 */
export function chromiumArguments({ adapter = 'any', network = false } = {}) {
  return [
    '--enable-unsafe-webgpu',
    ...(adapter === 'software'
      ? ['--use-webgpu-adapter=swiftshader']
      : process.platform === 'linux'
        ? ['--enable-features=Vulkan', '--ignore-gpu-blocklist']
        : []),
    // Chromium's sandbox refuses to work for root, the usual user in containers.
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ...(network ? [] : ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost']),
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--disable-dev-shm-usage',
  ];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    console.log(ensureChromium());
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
