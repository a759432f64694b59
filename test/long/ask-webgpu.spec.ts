/** `npm run ask` as it is by default: on WebGPU, which is slow on a software adapter. */
import { expect, test } from '@playwright/test';
import { ask, askForJson } from '../browser/ask-command.ts';

test('answers with a tool on WebGPU', async () => {
  const run = await askForJson("What's the weather in Paris in celsius?");
  expect(run.device).toBe('webgpu');
  expect(run.messages).toMatchObject([
    { role: 'user' },
    {
      role: 'assistant',
      reasoning: expect.stringMatching(/./),
      tool_calls: [{ function: { name: 'get_weather' } }],
    },
    { role: 'tool' },
    { role: 'assistant', reasoning: expect.stringMatching(/./), content: expect.stringContaining('18') },
  ]);
  expect(run.prompts[1]).toContain((run.messages[1] as { reasoning: string }).reasoning);
});

test('answers without thinking on WebGPU', async () => {
  const run = await askForJson('--no-think', 'What is the capital of France?');
  expect(run.device).toBe('webgpu');
  expect(run.choices[0]?.message).toMatchObject({ reasoning: null, content: expect.stringMatching(/./) });
});

test('prints thoughts, call, result and answer in this order', async () => {
  const { exitCode, stdout } = await ask('What is 23 * 19?');
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(
    /calculator[\s\S]*→ calculator \{"expression": "23 \* 19"\}\n← \{"result":437\}\n[\s\S]*437\n$/,
  );
});
