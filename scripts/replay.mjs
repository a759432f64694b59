/**
 * npm run replay -- FILE.jsonl […]
 *
 * Runs recorded model outputs through the output parser, under every chunking, and prints what differs from the
 * expected message. A line that is no such case counts as failed.
 */
import { readFile } from 'node:fs/promises';
import { createServer } from 'vite';

const files = process.argv.slice(2);
if (files.length === 0) {
  console.error('Usage: npm run replay -- FILE.jsonl […]');
  process.exit(2);
}

const vite = await createServer({
  configFile: false,
  logLevel: 'error',
  appType: 'custom',
  server: { middlewareMode: true, hmr: false, ws: false, watch: null },
  optimizeDeps: { noDiscovery: true },
});
const { readLines } = await vite.ssrLoadModule('/test/conformance/case.ts');
const { replay } = await vite.ssrLoadModule('/test/conformance/replay.ts');

let passed = 0;
let failed = 0;
for (const file of files) {
  let text;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    failed++;
    console.log(`${file}: can't be read: ${error.message}`);
    continue;
  }
  const lines = readLines(text);
  if (lines.length === 0) {
    failed++;
    console.log(`${file}: has no cases.`);
  }
  const problems = new Set();
  for (const { line, id, problem, case: test } of lines) {
    if (problem !== undefined) {
      failed++;
      // Lines of another kind of file are all alike: the first tells.
      if (problems.has(problem)) continue;
      problems.add(problem);
      console.log(`${file}:${line}${id === null ? '' : ` (${id})`}: ${problem}`);
      continue;
    }
    let mismatches;
    try {
      mismatches = await replay(test);
    } catch (error) {
      mismatches = [{ chunking: '-', field: 'exception', expected: 'none', got: error.message }];
    }
    if (mismatches.length === 0) {
      passed++;
      continue;
    }
    failed++;
    // Every chunking tends to fail alike: the first of each field tells.
    const seen = new Set();
    for (const { chunking, field, expected, got } of mismatches) {
      if (seen.has(field)) continue;
      seen.add(field);
      console.log(`${test.id} · ${chunking} · ${field}`);
      console.log(`  expected ${JSON.stringify(expected)}`);
      console.log(
        `  got      ${typeof got === 'string' && field === 'exception' ? got : JSON.stringify(got)}`,
      );
    }
    const more = mismatches.length - seen.size;
    if (more > 0) console.log(`  and ${more} more mismatches of this case`);
  }
}
console.log(`${passed} passed, ${failed} failed`);
await vite.close();
process.exit(failed === 0 ? 0 : 1);
