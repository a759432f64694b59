import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, preview } from 'vite';
import { addressOf } from '../harness/built-page.ts';

/**
 * Bundles the application with the clients as a user's Vite does, and serves the bundle on a port of this machine.
 * `close` removes it.
 */
export async function serveBundle(): Promise<{ origin: string; close(): Promise<void> }> {
  const outDir = await mkdtemp(join(tmpdir(), 'tokenprism-clients-'));
  const remove = () => rm(outDir, { recursive: true, force: true });
  try {
    const { origin, close } = await serveFrom(outDir);
    return { origin, close: () => close().finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function serveFrom(outDir: string): Promise<{ origin: string; close(): Promise<void> }> {
  const root = fileURLToPath(new URL('./app', import.meta.url));
  const configFile = fileURLToPath(new URL('../../../vite.config.ts', import.meta.url));
  await build({
    configFile,
    mode: 'sources',
    root,
    logLevel: 'warn',
    build: { outDir, emptyOutDir: true, target: 'es2022', assetsInlineLimit: 0, chunkSizeWarningLimit: 4096 },
  });
  const server = await preview({
    configFile: false,
    root,
    logLevel: 'warn',
    build: { outDir },
    preview: { port: 0, host: '127.0.0.1' },
  });
  return { origin: addressOf(server.httpServer.address()), close: () => server.close() };
}
