/**
 * Brings the dependencies to what `package-lock.json` says, and does nothing when they are there. Needs Node and
 * npm only.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const lowestNode = 20;

function readJson(path) {
  try {
    return JSON.parse(readFileSync(join(root, path), 'utf8'));
  } catch {
    return null;
  }
}

function sameEntries(one = {}, other = {}) {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}

/** Why the installed tree is not the one that the lock file describes; `null` when it is. */
export function staleness() {
  const installed = readJson('node_modules/.package-lock.json')?.packages;
  if (!installed) return 'nothing is installed';
  const locked = readJson('package-lock.json')?.packages;
  if (!locked) return 'package-lock.json is missing';
  const manifest = readJson('package.json');
  for (const field of ['dependencies', 'devDependencies']) {
    if (!sameEntries(manifest[field], locked[''][field])) return `the ${field} of package.json changed`;
  }
  for (const [path, { version, optional }] of Object.entries(locked)) {
    if (path === '' || (optional && !installed[path])) continue;
    const isThere = installed[path]?.version === version && existsSync(join(root, path));
    if (!isThere) return `${path.replace(/^.*node_modules\//, '')} ${version} is not installed`;
  }
  return null;
}

/** Runs npm with its output on stderr, so that stdout stays free for results. */
function npm(...argumentList) {
  // npm's own script is run by this Node where npm started us; a bare "npm" is a shell script on Windows.
  const script = /npm-cli\.[cm]?js$/.test(process.env.npm_execpath ?? '') ? process.env.npm_execpath : null;
  const [command, before] = script ? [process.execPath, [script]] : ['npm', []];
  const { status, error } = spawnSync(command, [...before, ...argumentList], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: !script && process.platform === 'win32',
  });
  if (error) console.error(`npm could not be started: ${error.message}`);
  return status === 0;
}

/** Throws with what to do when the dependencies cannot be installed. */
export function setup() {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < lowestNode) {
    throw new Error(`Node ${lowestNode} or newer is needed; this is ${process.versions.node}.`);
  }
  const reason = staleness();
  if (reason === null) return;
  console.error(`Installing the dependencies (${reason}) …`);
  if (!npm('ci') && !npm('install')) {
    throw new Error('The dependencies could not be installed; what npm said is above. Run "npm install".');
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    setup();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
