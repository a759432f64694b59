/**
 * `npm start`: builds the demo and serves it on this machine until it is stopped. Installs what is missing; after
 * that it needs no network. `--port 8080` asks for a port (default 4173); one that is taken is passed over.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { setup } from './setup.mjs';

async function main() {
  const { values } = parseArgs({ options: { port: { type: 'string', default: '4173' } } });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    throw new Error(`--port must be a number from 0 to 65535; got "${values.port}".`);
  }
  setup();
  // Only now: it may just have been installed.
  const { build, preview } = await import('vite');
  const shared = {
    configFile: fileURLToPath(new URL('../vite.config.ts', import.meta.url)),
    mode: 'demo',
    logLevel: 'warn',
  };
  console.log('Building the demo …');
  await build(shared);
  const server = await preview({ ...shared, preview: { port, open: false } });
  const { port: taken } = server.httpServer.address();
  console.log(`Tokenprism demo: http://localhost:${taken}/   (Ctrl-C stops it)`);

  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => server.close().finally(() => process.exit(0)));
  }
}

try {
  await main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
