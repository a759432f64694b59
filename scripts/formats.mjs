/**
 * npm run formats
 *
 * Writes docs/formats.md: the table of all output formats, from the formats themselves and their cases.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'vite';

const vite = await createServer({
  configFile: false,
  logLevel: 'error',
  appType: 'custom',
  server: { middlewareMode: true, hmr: false, ws: false, watch: null },
  optimizeDeps: { noDiscovery: true },
});
const { formatsDocument } = await vite.ssrLoadModule('/test/conformance/formats-document.ts');
const path = new URL('../docs/formats.md', import.meta.url);
const text = await formatsDocument();
const before = await readFile(path, 'utf8').catch(() => '');
if (text !== before) await writeFile(path, text);
console.log(text === before ? 'docs/formats.md is up to date.' : 'docs/formats.md was written.');
await vite.close();
