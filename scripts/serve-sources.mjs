import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

/**
 * Serves the repository from its sources on a free port of this machine, for pages that run in a browser which
 * somebody drives. `folders`: others whose files may be read, below `/@fs/`.
 */
export async function serveSources({ folders = [] } = {}) {
  const server = await createServer({
    configFile: fileURLToPath(new URL('../vite.config.ts', import.meta.url)),
    mode: 'sources',
    logLevel: 'error',
    server: {
      port: 0,
      // Nobody edits in the meantime, and a reload would take a page away under its driver.
      hmr: false,
      ws: false,
      watch: null,
      fs: { allow: folders },
    },
  });
  await server.listen();
  const address = server.httpServer.address();
  return { origin: `http://localhost:${address.port}`, close: () => server.close() };
}
