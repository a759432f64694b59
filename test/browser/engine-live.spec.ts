/** The embedded model through the public interface: few and short requests, for the software adapter is slow. */
import { readFileSync } from 'node:fs';
import type { ChatCompletionTool } from '../../src/chat/types.ts';
import { expect, test } from './harness/fixture.ts';

const tools = (
  JSON.parse(
    readFileSync(new URL('../../models/tiny/demo-tools.json', import.meta.url), 'utf8'),
  ) as ChatCompletionTool[]
).slice(0, 2);

interface LiveRun {
  device: 'webgpu' | 'wasm';
  questions: string[];
  maxTokens: number;
  tools: ChatCompletionTool[];
}

/** Runs in the page: every question once collected and once streamed, with the same seed. */
async function ask({ device, questions, maxTokens, tools }: LiveRun) {
  const { createEngine, collectCompletion } = window.tokenprism;
  const engine = await createEngine({ device });
  const answers = [];
  for (const [index, question] of questions.entries()) {
    const body = {
      messages: [{ role: 'user' as const, content: question }],
      ...(tools.length > 0 && { tools }),
      temperature: index % 2,
      seed: index,
      max_tokens: maxTokens,
    };
    const collected = await engine.chat.completions.create(body);
    const streamed = await collectCompletion(
      await engine.chat.completions.create({
        ...body,
        stream: true,
        stream_options: { include_usage: true },
      }),
    );
    answers.push({ collected, streamed });
  }
  const { state } = engine;
  await engine.close();
  return { answers, state };
}

type Answer = Awaited<ReturnType<typeof ask>>['answers'][number]['collected'];

/** An answer without what is made anew each time, and without what was left of the request before it. */
function lasting({ choices, usage }: Answer) {
  return {
    usage: { ...usage, prompt_tokens_details: null },
    choices: choices.map(({ message, incomplete_tool_calls = [], ...choice }) => ({
      ...choice,
      message: { ...message, tool_calls: message.tool_calls?.map((call) => call.function) },
      incomplete: incomplete_tool_calls.map((call) => call.function),
    })),
  };
}

test('eight prompts with a seed on WASM: streamed equals collected', async ({ page }) => {
  const questions = [
    "What's the weather in Paris in celsius?",
    'What is 23 * 19?',
    'Weather in Rome and Oslo?',
    'Hello!',
    'Who are you?',
    'Tell me a joke about a cat',
    'What is the capital of France?',
    'Calculate (4 + 5) * 12',
  ];
  const { answers, state } = await page.evaluate(ask, {
    device: 'wasm' as const,
    questions,
    maxTokens: 64,
    tools,
  });
  expect(state.device.device).toBe('wasm');
  expect(answers).toHaveLength(8);
  for (const { collected, streamed } of answers) {
    expect(lasting(streamed)).toEqual(lasting(collected));
    const { prompt_tokens, prompt_tokens_details } = streamed.usage!;
    expect(prompt_tokens_details?.cached_tokens).toBe(prompt_tokens - 1);
  }
  const weather = answers[0]!.collected.choices[0]!;
  expect(weather.finish_reason).toBe('tool_calls');
  expect(weather.message.reasoning).toContain('Paris');
  expect(weather.message.tool_calls?.[0]?.function.name).toBe('get_weather');
  expect(JSON.parse(weather.message.tool_calls?.[0]?.function.arguments ?? '')).toEqual({
    location: 'Paris',
    unit: 'celsius',
  });
});

test('two prompts with a seed on WebGPU: streamed equals collected', async ({ page }) => {
  // Twenty tokens, two or three a second, after a load of some ten seconds; more where the machine is busy.
  test.setTimeout(240_000);
  const { answers, state } = await page.evaluate(ask, {
    device: 'webgpu' as const,
    questions: ['Hello!', 'Thanks!'],
    maxTokens: 5,
    tools: [],
  });
  expect(state.device).toMatchObject({ device: 'webgpu', adapter: { isSoftware: expect.any(Boolean) } });
  for (const { collected, streamed } of answers) {
    expect(lasting(streamed)).toEqual(lasting(collected));
    expect(collected.choices[0]).toMatchObject({ finish_reason: 'length', message: { content: null } });
    expect(collected.choices[0]?.message.reasoning).toBeTruthy();
  }
});
