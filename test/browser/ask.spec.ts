/** `npm run ask` on the embedded model (WASM; on WebGPU it is among the long tests). */
import { expect, test } from '@playwright/test';
import type { AskRun } from '../../scripts/ask/page.ts';
import { ask, askForJson } from './ask-command.ts';

const long = process.env.TOKENPRISM_LONG === '1';

test('--json tells the whole run: thinking, call, result, thinking, answer', async () => {
  const run = await askForJson('--device', 'wasm', "What's the weather in Paris in celsius?");
  expect(Object.keys(run)).toEqual(['model', 'device', 'messages', 'prompts', 'choices', 'usage', 'timings']);
  expect(run).toMatchObject({ model: 'tokenprism-tiny', device: 'wasm' });

  const [user, calling, result, answer] = run.messages;
  expect(run.messages).toHaveLength(4);
  expect(user).toEqual({ role: 'user', content: "What's the weather in Paris in celsius?" });
  expect(calling).toMatchObject({
    role: 'assistant',
    reasoning: expect.stringContaining('Paris'),
    tool_calls: [{ type: 'function', function: { name: 'get_weather', arguments: expect.any(String) } }],
  });
  const [call] = (calling as { tool_calls: { id: string; function: { arguments: string } }[] }).tool_calls;
  expect(JSON.parse(call!.function.arguments)).toEqual({ location: 'Paris', unit: 'celsius' });
  expect(result).toMatchObject({ role: 'tool', tool_call_id: call!.id });
  const { temperature } = JSON.parse((result as { content: string }).content) as { temperature: number };
  expect(answer).toMatchObject({
    role: 'assistant',
    reasoning: expect.stringMatching(/./),
    content: expect.stringContaining(String(temperature)),
  });

  // Interleaved thinking: the second round's prompt holds what was thought in the first.
  expect(run.prompts).toHaveLength(2);
  expect(run.prompts[1]).toContain((calling as { reasoning: string }).reasoning);
  expect(run.choices).toMatchObject([{ finish_reason: 'stop', message: answer }]);
  expect(run.usage.total_tokens).toBe(run.usage.prompt_tokens + run.usage.completion_tokens);
  expect(run.usage.completion_tokens_details.reasoning_tokens).toBeGreaterThan(0);
  expect(run.timings.rounds).toHaveLength(2);
});

test('a run that fails exits with 1 and the error alone on stderr', async () => {
  const { exitCode, stdout, stderr } = await ask('--json', '--device', 'wasm', '--model', 'docs', 'Hello!');
  expect(exitCode).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toMatch(/^The model folder .*\/docs\/ has no file .*\.json .*\n$/);
});

test('prints the conversation for people', async () => {
  const { exitCode, stdout } = await ask('--device', 'wasm', '--no-think', 'What is 23 * 19?');
  expect(exitCode).toBe(0);
  expect(stdout.trimEnd().split(/\n+/)).toEqual([
    '→ calculator {"expression": "23 * 19"}',
    '← {"result":437}',
    '23 * 19 = 437',
  ]);
});

test('--client asks through an official client, with the same outcome', async () => {
  const question = ['--device', 'wasm', 'What is 23 * 19?'];
  /** Without what differs from run to run. */
  const outcome = ({ timings: _, ...run }: AskRun) =>
    JSON.parse(JSON.stringify(run).replaceAll(/chatcmpl-tool-\w+/g, 'id')) as unknown;
  const own = outcome(await askForJson(...question));
  // Both ways are the same but for the client; each takes a browser of its own.
  for (const client of long ? ['openai', 'ai-sdk'] : ['ai-sdk'])
    expect(outcome(await askForJson('--client', client, ...question)), client).toEqual(own);
});
