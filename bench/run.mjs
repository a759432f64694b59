/**
 * npm run bench -- NAME [--json] [options]
 *
 * Runs `bench/NAME.ts`, which exports `run(options): Promise<Report>`; prints its table, or the report as JSON.
 */
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'vite';
import { xgrammar } from '../scripts/xgrammar.mjs';

const [name, ...rest] = process.argv.slice(2).filter((argument) => argument !== '--json');
const isJson = process.argv.includes('--json');
const folder = new URL('.', import.meta.url);
if (!name || !existsSync(new URL(`${name}.ts`, folder))) {
  const names = readdirSync(folder).flatMap((file) =>
    file.endsWith('.ts') && file !== 'report.ts' ? [file.slice(0, -3)] : [],
  );
  console.error(`Usage: npm run bench -- ${names.join('|')} [--json]`);
  process.exit(2);
}

const vite = await createServer({
  configFile: false,
  logLevel: 'error',
  appType: 'custom',
  plugins: [xgrammar()],
  server: { middlewareMode: true, hmr: false, ws: false, watch: null },
  optimizeDeps: { noDiscovery: true },
});
const { run } = await vite.ssrLoadModule(`/bench/${name}.ts`);
const report = await run(rest);
if (isJson) console.log(JSON.stringify(report));
else {
  console.log(report.title);
  console.table(report.rows);
  for (const note of report.notes) console.log(note);
}
await vite.close();
process.exit(0);
