/**
 * npm run bench -- NAME [--json | --markdown] [options]
 *
 * Runs `bench/NAME.ts`, which exports `run(options): Promise<Report[]>`; prints its tables, or the reports as JSON or
 * as Markdown for docs/performance.md.
 */
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'vite';
import { xgrammar } from '../scripts/xgrammar.mjs';

const [name, ...rest] = process.argv
  .slice(2)
  .filter((argument) => !['--json', '--markdown'].includes(argument));
const folder = new URL('.', import.meta.url);
if (!name || !existsSync(new URL(`${name}.ts`, folder))) {
  const names = readdirSync(folder).flatMap((file) =>
    file.endsWith('.ts') && file !== 'report.ts' ? [file.slice(0, -3)] : [],
  );
  console.error(`Usage: npm run bench -- ${names.join('|')} [--json|--markdown]`);
  process.exit(2);
}

function markdown({ title, rows, notes }) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const body = rows.map((row) => line(columns.map((column) => row[column] ?? '')));
  return [`**${title}**`, '', line(columns), line(columns.map(() => '---')), ...body, '', ...notes, ''].join(
    '\n',
  );
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
const reports = await run(rest);
if (process.argv.includes('--json')) console.log(JSON.stringify(reports));
else {
  for (const report of reports) {
    if (process.argv.includes('--markdown')) console.log(markdown(report));
    else {
      console.log(report.title);
      console.table(report.rows);
      for (const note of report.notes) console.log(note);
      console.log();
    }
  }
}
await vite.close();
process.exit(0);
