import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

/**
 * Serves the whole repository from its sources on a free port for as long as the tests run. Test workers find the
 * address in `TOKENPRISM_TEST_ORIGIN`.
 */
export default async function serve(): Promise<() => Promise<void>> {
  const server = await createServer({
    configFile: fileURLToPath(new URL('../../../vite.config.ts', import.meta.url)),
    mode: 'sources',
    logLevel: 'warn',
    // Nobody edits while tests run, and a reload would take a page away under its test.
    server: { port: 0, hmr: false, ws: false, watch: null },
  });
  await server.listen();
  const address = server.httpServer?.address();
  if (typeof address !== 'object' || address === null) throw new Error('Vite listens on no port.');
  process.env.TOKENPRISM_TEST_ORIGIN = `http://localhost:${address.port}`;
  return () => server.close();
}
