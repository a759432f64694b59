import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const script = fileURLToPath(new URL('../../../scripts/ask.mjs', import.meta.url));

function ask(...argumentList: string[]) {
  return spawnSync(process.execPath, [script, ...argumentList], { encoding: 'utf8' });
}

test('--help explains every option and exits with 0', () => {
  const { status, stdout, stderr } = ask('--help');
  expect(status).toBe(0);
  expect(stderr).toBe('');
  for (const option of [
    '--json',
    '--no-think',
    '--model',
    '--tool-choice',
    '--max-tokens',
    '--seed',
    '--client',
  ]) {
    expect(stdout).toContain(option);
  }
});

test.each([
  [[], 'Ask something'],
  [['--colour', 'Hello!'], "Unknown option '--colour'"],
  [['--max-tokens', 'many', 'Hello!'], '--max-tokens must be a whole number from 1 on; got "many"'],
  [['--max-tokens', '0', 'Hello!'], '--max-tokens must be a whole number from 1 on; got "0"'],
  [['--seed', '1.5', 'Hello!'], '--seed must be a whole number; got "1.5"'],
  [['--model', '/nowhere/at all', 'Hello!'], 'There is no folder /nowhere/at all.'],
  [['--model', '../nowhere', 'Hello!'], 'There is no folder ../nowhere.'],
  [['--tool-choice', '{"type"', 'Hello!'], '--tool-choice is not valid JSON'],
  [['--client', 'curl', 'Hello!'], '--client must be openai or ai-sdk; got "curl".'],
  [['--device', 'gpu', 'Hello!'], '--device must be webgpu or wasm; got "gpu"'],
])('a wrong command line %j exits with 1 and one line on stderr', (argumentList, message) => {
  const { status, stdout, stderr } = ask(...argumentList);
  expect(status).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toContain(message);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
});
