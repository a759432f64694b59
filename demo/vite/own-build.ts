import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ConfigEnv, UserConfig } from 'vite';

const demoFolder = resolve(fileURLToPath(new URL('..', import.meta.url)));

/** Whether the demo itself is built; other pages are built by its configuration, too. */
export function isOwnBuild({ root }: UserConfig, { command }: ConfigEnv): boolean {
  return command === 'build' && root !== undefined && resolve(root) === demoFolder;
}
