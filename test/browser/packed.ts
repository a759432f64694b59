import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Packed {
  /** Path of the tarball. */
  tarball: string;
  /** Paths of the files in it. */
  files: string[];
}

let packed: Packed | null = null;

/** Runs a script of node_modules and gives its output. */
export function node(script: string, argumentList: string[], folder = root): string {
  return execFileSync(process.execPath, [join(root, 'node_modules', script), ...argumentList], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** The package as it is published; built and packed once in this process. */
export function packedLibrary(): Packed {
  if (packed) return packed;
  node('vite/bin/vite.js', ['build', '--logLevel', 'warn']);
  const folder = mkdtempSync(join(tmpdir(), 'tokenprism-package-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const output = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
  });
  const [{ filename, files }] = JSON.parse(output) as [{ filename: string; files: { path: string }[] }];
  packed = { tarball: join(folder, filename), files: files.map(({ path }) => path) };
  return packed;
}
