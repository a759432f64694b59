/**
 * npm run agree -- [--format NAME] [--n 200] [--seed S] [--only I] [--vocabulary qwen3|tiny] [--run 4] [--verbose]
 *
 * Walks the grammars of each format at random, reads the outputs back with the format's parser and prints where the
 * two differ, with what repeats the walk.
 */
import { parseArgs } from 'node:util';
import { createServer } from 'vite';
import { xgrammar } from './xgrammar.mjs';

const { values } = parseArgs({
  options: {
    format: { type: 'string' },
    n: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    vocabulary: { type: 'string' },
    run: { type: 'string', default: '4' },
    verbose: { type: 'boolean', default: false },
  },
});
const walks = Number(values.n);
if (!Number.isInteger(walks) || walks < 1) {
  console.error(`--n must be a number of walks, not ${values.n}.`);
  process.exit(2);
}
if (values.vocabulary !== undefined && !['qwen3', 'tiny'].includes(values.vocabulary)) {
  console.error(`--vocabulary must be qwen3 or tiny, not ${values.vocabulary}.`);
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
const { agree } = await vite.ssrLoadModule('/test/agreement/agree.ts');
const { walkedFormats } = await vite.ssrLoadModule('/test/agreement/subject.ts');

const known = await walkedFormats();
if (values.format !== undefined && !known.includes(values.format)) {
  console.error(`--format must be one of ${known.join(', ')}.`);
  await vite.close();
  process.exit(2);
}

let passed = 0;
let failed = 0;
for (const format of values.format === undefined ? known : [values.format]) {
  const started = performance.now();
  const result = await agree({
    format,
    walks,
    seed: values.seed,
    run: Number(values.run),
    ...(values.only !== undefined && { only: Number(values.only) }),
    ...(values.vocabulary !== undefined && { vocabulary: values.vocabulary }),
  });
  passed += result.passed;
  failed += result.failures.length;
  const refused = [...result.refused.values()].reduce((sum, count) => sum + count, 0);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(
    `${format}: ${result.passed} passed, ${result.failures.length} failed, ${result.capped} at the cap, ${result.unheld} checked and refused, ${refused} requests refused, ${result.tokens} tokens, ${seconds} s`,
  );
  for (const line of result.coverage.lines()) console.log(`  ${line}`);
  for (const [reason, count] of result.refused) console.log(`  refused ${count}: ${reason}`);
  const shown = values.verbose || values.only !== undefined ? result.failures : result.failures.slice(0, 10);
  for (const failure of shown) {
    console.log(`  --format ${format} --seed ${values.seed} --only ${failure.walk}   (${failure.mode})`);
    for (const { field, expected, got } of failure.disagreements) {
      console.log(`    ${field}: expected ${short(expected)}, got ${short(got)}`);
    }
    console.log(`    output: ${short(failure.output)}`);
    if (values.only !== undefined) console.log(`    request: ${JSON.stringify(failure.request, null, 2)}`);
  }
}
await vite.close();
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

function short(value) {
  const text = JSON.stringify(value) ?? String(value);
  const limit = values.only === undefined ? 300 : 20_000;
  return text.length > limit ? `${text.slice(0, limit / 2)} … ${text.slice(-limit / 2)}` : text;
}
