/**
 * Official clients, as they come from npm, on `engine.fetch`: bundled with an application as a user does it, and run
 * on the embedded model. Where the model is cut inside a call, its answer is a written one.
 */
import { test as base, expect } from '@playwright/test';
import type {} from './clients/app/main.ts';
import { serveBundle } from './clients/build.ts';
import { foreignRequests } from './harness/fixture.ts';

/** `page` is open on the application; a request to another origin fails the test. */
const test = base.extend<object, { bundle: string }>({
  bundle: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixture's needs from this pattern.
    async ({}, use) => {
      const server = await serveBundle();
      await use(server.origin);
      await server.close();
    },
    { scope: 'worker', timeout: 120_000 },
  ],
  page: async ({ page, context, bundle }, use) => {
    const foreign = foreignRequests(context, bundle);
    await page.goto(bundle);
    await use(page);
    expect(foreign, 'requests to other origins').toEqual([]);
  },
});

const paris = { location: 'Paris', unit: 'celsius' };
const answer = 'It is 18 degrees celsius and cloudy in Paris.';
const report = {
  city: expect.stringMatching(/^.{0,12}$/s),
  degrees: expect.any(Number),
  dry: expect.any(Boolean),
};

/** What an answer says of the call that was cut. */
const cutCall = { function: { name: 'get_weather', arguments: '{"location": "Par' } };
const cutChoice = (finish_reason: string) => ({ finish_reason, incomplete_tool_calls: [cutCall] });

interface RawChunk {
  choices?: { finish_reason: string | null }[];
}

/** The last choice that chunks of a stream tell of. */
function lastChoice(raw: unknown[]): unknown {
  return (raw as (RawChunk | undefined)[])
    .flatMap((chunk) => chunk?.choices ?? [])
    .findLast((choice) => choice.finish_reason);
}

const ends = ['length', 'stop'] as const;

test.describe('openai', () => {
  test('streams with events, parses with zod and runs tools', async ({ page }) => {
    const stream = await page.evaluate(async () => (await window.clients.openai()).stream());
    expect(stream).toEqual({ events: ['chunk', 'call done', 'end'], called: paris });
    expect(await page.evaluate(async () => (await window.clients.openai()).parse())).toEqual(report);
    const run = await page.evaluate(async () => (await window.clients.openai()).runTools());
    expect(run.ran[0]).toEqual(paris);
    expect(run.answer).toContain(answer);
  });

  for (const end of ends) {
    test(`runs no tool of a call that is cut, by ${end}`, async ({ page }) => {
      const { ran, whole, streamed } = await page.evaluate(
        async (end) => (await window.clients.openai()).cut(end),
        end,
      );
      expect(ran).toEqual([]);
      expect(lastChoice(streamed.raw)).toMatchObject(cutChoice(end));
      if (end === 'length') expect(whole).toContain('length limit');
      else expect(whole).toMatchObject({ choices: [cutChoice(end)] });
    });
  }
});

test.describe('ai with @ai-sdk/openai-compatible', () => {
  test('streams reasoning, calls and text over two steps, with their usage', async ({ page }) => {
    const { parts, ran, finished, text, steps, sent } = await page.evaluate(async () =>
      (await window.clients.aiSdk()).stream(),
    );
    const step = ['start-step', 'reasoning-start', 'reasoning-delta', 'reasoning-end'];
    const call = ['tool-input-start', 'tool-input-delta', 'tool-input-end', 'tool-call', 'tool-result'];
    const said = ['text-start', 'text-delta', 'text-end'];
    expect(parts).toEqual([
      'start',
      ...step,
      ...call,
      'finish-step',
      ...step,
      ...said,
      'finish-step',
      'finish',
    ]);
    expect(ran).toEqual([paris]);
    expect(text).toBe(answer);
    expect(steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
    // The reasoning of the first step goes back to the model, under a name that it reads.
    expect(steps[0]?.reasoningText).not.toBe('');
    expect(sent?.messages[1]).toMatchObject({ reasoning_content: steps[0]?.reasoningText });
    const sum = (of: (usage: (typeof steps)[number]['usage']) => number | undefined) =>
      steps.reduce((total, { usage }) => total + (of(usage) ?? 0), 0);
    expect(finished).toMatchObject([
      {
        finishReason: 'stop',
        totalUsage: {
          inputTokens: sum(({ inputTokens }) => inputTokens),
          outputTokens: sum(({ outputTokens }) => outputTokens),
          reasoningTokens: sum(({ outputTokenDetails }) => outputTokenDetails.reasoningTokens),
        },
      },
    ]);
    expect(sum(({ outputTokenDetails }) => outputTokenDetails.reasoningTokens)).toBeGreaterThan(10);
  });

  test('generates an object of its schema', async ({ page }) => {
    const { object, usage } = await page.evaluate(async () => (await window.clients.aiSdk()).object());
    expect(object).toEqual(report);
    expect(usage.outputTokens).toBeGreaterThan(10);
  });

  for (const end of ends) {
    test(`runs no tool of a call that is cut, by ${end}`, async ({ page }) => {
      const { ran, whole, streamed } = await page.evaluate(
        async (end) => (await window.clients.aiSdk()).cut(end),
        end,
      );
      expect(ran).toEqual([]);
      const outcome = { finishReason: end, steps: 1, toolCalls: [], reasoning: 'I look it up.' };
      expect(whole).toMatchObject({ ...outcome, body: { choices: [cutChoice(end)] } });
      expect(streamed).toMatchObject(outcome);
      expect(lastChoice(streamed.raw)).toMatchObject(cutChoice(end));
    });
  }
});

test.describe('@langchain/openai', () => {
  test('streams, binds tools and gives structured output', async ({ page }) => {
    const streamed = await page.evaluate(async () => (await window.clients.langchain()).stream());
    expect(streamed).toMatchObject({ text: 'The capital of France is Paris.', finish: 'stop' });
    expect(streamed.chunks).toBeGreaterThan(3);
    expect(streamed.reasoning).not.toBe('');
    const { input_tokens = 0, output_tokens = 0, total_tokens, output_token_details } = streamed.usage ?? {};
    expect(total_tokens).toBe(input_tokens + output_tokens);
    expect(output_token_details?.reasoning).toBeGreaterThan(0);

    const {
      ran,
      calls,
      answer: said,
    } = await page.evaluate(async () => (await window.clients.langchain()).tools());
    expect(calls).toMatchObject([{ name: 'get_weather', args: paris }]);
    expect({ ran, said }).toEqual({ ran: [paris], said: answer });

    const structured = await page.evaluate(async () => (await window.clients.langchain()).structured());
    expect(structured).toEqual({ jsonSchema: report, functionCalling: report });
  });

  for (const end of ends) {
    test(`runs no tool of a call that is cut, by ${end}`, async ({ page }) => {
      const { ran, whole, streamed } = await page.evaluate(
        async (end) => (await window.clients.langchain()).cut(end),
        end,
      );
      expect(ran).toEqual([]);
      const outcome = { finish: end, calls: [], invalid: [] };
      expect(whole).toMatchObject({ ...outcome, raw: { choices: [cutChoice(end)] } });
      expect(streamed).toMatchObject(outcome);
      expect(lastChoice(streamed.raw)).toMatchObject(cutChoice(end));
    });
  }
});

test.describe('@openai/agents', () => {
  test('hands over to an agent with two tools, which runs the right one', async ({ page }) => {
    const sum = await page.evaluate(async () =>
      (await window.clients.agents()).handOff('What is 23 * 19?', false),
    );
    expect(sum).toMatchObject({ last: 'expert', ran: [{ expression: '23 * 19' }], answer: '23 * 19 = 437' });
    const weather = await page.evaluate(async () =>
      (await window.clients.agents()).handOff("What's the weather in Paris in celsius?", true),
    );
    expect(weather).toMatchObject({ last: 'expert', ran: [paris], answer });
    const seen = ['handoff_requested', 'tool_called', 'tool_output', 'message_output_created'];
    expect(weather.events.filter((event) => seen.includes(event))).toEqual(seen);
    expect(weather.usage).toMatchObject({ requests: 3 });
  });

  for (const end of ends) {
    test(`runs no tool of a call that is cut, by ${end}`, async ({ page }) => {
      const { ran, whole, streamed } = await page.evaluate(
        async (end) => (await window.clients.agents()).cut(end),
        end,
      );
      expect(ran).toEqual([]);
      expect(whole).toMatchObject({ isOutOfTurns: true, response: { choices: [cutChoice(end)] } });
      expect(streamed.isOutOfTurns).toBe(true);
      const chunks = (streamed.raw as { event?: unknown }[]).flatMap(({ event }) => (event ? [event] : []));
      expect(lastChoice(chunks)).toMatchObject(cutChoice(end));
    });
  }
});
