import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readCases, readLines } from '../../conformance/case.ts';

const CASE = {
  id: 'plain',
  format: 'hermes',
  reasoning_parser: null,
  tool_parser: 'hermes',
  thinking: null,
  prompt_tail: null,
  tools: null,
  output: 'Hello.',
  chunks: null,
  finish: 'stop',
  request: null,
  expected: { reasoning: null, content: 'Hello.', tool_calls: [], finish_reason: 'stop' },
  compare: 'exact',
};
const without = (name: string) => Object.fromEntries(Object.entries(CASE).filter(([key]) => key !== name));

test.each([
  [{ id: 'a', request: {}, accept: [], reject: [] }, 'No recorded output, but a request with outputs'],
  [{ id: 'a', steps: [], expected: [] }, 'No recorded output, but a fault of a runtime'],
  [without('output'), 'Without "output".'],
  [{ ...CASE, tool_parser: 4 }, '"tool_parser" must be the name of a format or null.'],
  [{ ...CASE, finish: 'abort' }, '"finish" must be "stop", "length" or "stop_string".'],
  [{ ...CASE, expected: {} }, '"expected" must be an object with "tool_calls" and "finish_reason".'],
  [[CASE], 'No object.'],
])('a line that is no case says what it is: %j', (value, problem) => {
  const [, read] = readLines(`${JSON.stringify(CASE)}\n${JSON.stringify(value)}\n`);
  expect(read).toMatchObject({ line: 2, problem: expect.stringContaining(problem) });
});

test('a broken line is named', () => {
  expect(() => readCases(`${JSON.stringify(CASE)}\n\n{"id": `)).toThrow('Line 3: No JSON: ');
});

test('the command tells what it takes, and counts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'replay-'));
  const write = (name: string, ...values: unknown[]) => {
    writeFileSync(join(folder, name), values.map((value) => JSON.stringify(value)).join('\n'));
    return join(folder, name);
  };
  const cases = write('cases.jsonl', CASE, { ...CASE, id: 'wrong', output: 'Bye.' });
  const other = { request: {}, accept: [], reject: [] };
  const grammar = write('grammar.jsonl', { id: 'g-1', ...other }, { id: 'g-2', ...other });
  const missing = join(folder, 'missing.jsonl');
  const script = fileURLToPath(new URL('../../../scripts/replay.mjs', import.meta.url));
  const { status, stdout } = spawnSync(process.execPath, [script, cases, grammar, missing], {
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  const lines = stdout.trimEnd().split('\n');
  expect(lines[0]).toContain('wrong · whole · content');
  expect(lines.filter((line) => line.startsWith(`${grammar}:`))).toEqual([
    expect.stringMatching(/:1 \(g-1\): No recorded output, .* Cases have "id", "reasoning_parser", /),
  ]);
  expect(lines.at(-2)).toMatch(/missing\.jsonl: can't be read: ENOENT/);
  expect(lines.at(-1)).toBe('1 passed, 4 failed');
}, 60_000);
