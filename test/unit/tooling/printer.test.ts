import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createPrinter } from '../../../scripts/ask/printer.mjs';
import type { ChatCompletion, ToolRunResult } from '../../../src/index.ts';

let written = '';

beforeEach(() => {
  written = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written += text;
    return true;
  });
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
});
afterEach(() => vi.restoreAllMocks());

const reports = [
  { type: 'round-start', round: 1 },
  { type: 'reasoning', round: 1, text: '\nI will ' },
  { type: 'reasoning', round: 1, text: 'call it.\n' },
  { type: 'content', round: 1, text: '\n\n' },
  { type: 'call-start', round: 1, index: 0, id: 'call-1', name: 'calculator' },
  { type: 'call-arguments', round: 1, index: 0, text: '{"expression": ' },
  { type: 'call-arguments', round: 1, index: 0, text: '"23 * 19"}' },
  { type: 'round-end', round: 1, completion: {} as ChatCompletion },
  { type: 'tool-start', round: 1, index: 0, id: 'call-1', name: 'calculator', arguments: '' },
  {
    type: 'tool-result',
    round: 1,
    index: 0,
    id: 'call-1',
    name: 'calculator',
    value: { result: 437 },
    content: '{"result":437}',
    milliseconds: 1,
  },
  { type: 'round-start', round: 2 },
  { type: 'content', round: 2, text: '\n\n23 * 19 ' },
  { type: 'content', round: 2, text: '= 437' },
  { type: 'round-end', round: 2, completion: {} as ChatCompletion },
  { type: 'end', round: 2, result: { reason: 'answered' } as ToolRunResult },
] as const;

test('prints reasoning, calls, results and answer as they come, each on lines of its own', () => {
  const printer = createPrinter({ json: false });
  for (const report of reports) printer.report(report);
  printer.close();
  expect(written.replace(/\n+/g, '\n').split('\n')).toEqual([
    'I will call it.',
    '→ calculator {"expression": "23 * 19"}',
    '← {"result":437}',
    '23 * 19 = 437',
    '',
  ]);
});

test('with json, prints the run alone, on one line', () => {
  const printer = createPrinter({ json: true });
  for (const report of reports) printer.report(report);
  expect(written).toBe('');
  const run = { model: 'm', choices: [{ message: { content: 'two\nlines' } }] };
  printer.finish(run as never);
  printer.close();
  expect(written.trimEnd().split('\n')).toHaveLength(1);
  expect(JSON.parse(written)).toEqual(run);
});

test('a run that ends in the middle of a line leaves the terminal at the start of one', () => {
  const printer = createPrinter({ json: false });
  printer.report({ type: 'content', round: 1, text: 'Half a' });
  printer.close();
  expect(written).toBe('Half a\n');
});
