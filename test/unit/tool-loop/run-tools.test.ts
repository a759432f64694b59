/** The loop on a real engine whose answers are written down, its worker in this process. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { BadRequestError, InvalidLogitsError, RequestAbortedError } from '../../../src/errors.ts';
import { runTools, tool } from '../../../src/tool-loop/run-tools.ts';
import type { ToolRunResult } from '../../../src/tool-loop/types.ts';
import { messages, serveTurns, weatherCall } from '../http/engine.ts';
import { answer, callWith, collect, location, noting, thought } from './tools.ts';

const contentOf = ({ messages }: ToolRunResult, index: number) => messages.at(index)?.content;

describe('runTools', () => {
  it('runs what the model calls, gives the results back with the reasoning, and tells all of it in order', async () => {
    const { engine, worker } = await serveTurns([`${thought}A moment.\n${weatherCall}`, answer]);
    const ran: unknown[] = [];
    const run = runTools(engine, { messages, tools: [noting(ran)] });
    const events = await collect(run);
    const result = await run.result();

    expect(ran).toEqual([{ location: 'Rome' }]);
    expect(result).toMatchObject({
      reason: 'answered',
      content: 'It is 18 degrees in Rome.',
      reasoning: 'Where is it?',
      rounds: 2,
      dropped: [],
    });
    expect(result.messages).toMatchObject([
      messages[0],
      {
        role: 'assistant',
        content: 'A moment.',
        reasoning: 'Where is it?',
        tool_calls: [{ type: 'function' }],
      },
      { role: 'tool', content: '{"celsius":18}' },
      { role: 'assistant', content: 'It is 18 degrees in Rome.', reasoning: 'Where is it?' },
    ]);
    const jobs = worker.received.flatMap((message) => (message.type === 'generate' ? [message.job] : []));
    expect(jobs[1]?.messages[1]).toMatchObject({ reasoning: 'Where is it?' });
    expect(result.usage.total_tokens).toBe(result.usage.prompt_tokens + result.usage.completion_tokens);
    expect(result.usage.completion_tokens).toBeGreaterThan(20);

    const kinds = events.map(({ type, round }) => `${round} ${type}`);
    expect(kinds.filter((kind, index) => kind !== kinds[index - 1])).toEqual([
      '1 round-start',
      '1 reasoning',
      '1 content',
      '1 call-start',
      '1 call-arguments',
      '1 round-end',
      '1 tool-start',
      '1 tool-result',
      '2 round-start',
      '2 reasoning',
      '2 content',
      '2 round-end',
      '2 end',
    ]);
    const texts = (type: 'reasoning' | 'content' | 'call-arguments', round: number) =>
      events.map((event) => (event.type === type && event.round === round ? event.text : '')).join('');
    expect(texts('reasoning', 1)).toBe('Where is it?');
    expect(texts('content', 2)).toBe('It is 18 degrees in Rome.');
    expect(texts('call-arguments', 1)).toBe('{"location": "Rome"}');
    expect(events.filter(({ type }) => type === 'call-arguments').length).toBeGreaterThan(1);
    const ended = events.find(({ type }) => type === 'tool-result');
    expect(ended).toMatchObject({ value: { celsius: 18 }, content: '{"celsius":18}' });
    expect(ended?.type === 'tool-result' && ended.milliseconds).toBeGreaterThanOrEqual(0);
    const completions = events.flatMap((event) => (event.type === 'round-end' ? [event.completion] : []));
    expect(completions.map(({ choices }) => choices[0]?.finish_reason)).toEqual(['tool_calls', 'stop']);
    const counted = completions.reduce((sum, { usage }) => sum + usage!.total_tokens, 0);
    expect(counted).toBe(result.usage.total_tokens);
    expect(events.at(-1)).toMatchObject({ result: { content: result.content } });
  });

  it('runs the calls of one answer at the same time, and gives results in the order of the calls', async () => {
    const { engine } = await serveTurns([
      `${thought}${callWith('{"location": "Rome"}')}\n${callWith('{"location": "Oslo"}')}`,
      answer,
    ]);
    let both = () => {};
    const bothRun = new Promise<void>((resolve) => {
      both = resolve;
    });
    const order: string[] = [];
    const weather = tool<{ location: string }>({
      name: 'get_weather',
      parameters: location,
      run: async ({ location }) => {
        order.push(`begins ${location}`);
        // Rome waits for Oslo: one after the other would never end.
        if (location === 'Rome') await bothRun;
        else both();
        order.push(`ends ${location}`);
        return location;
      },
    });
    const result = await runTools(engine, { messages, tools: [weather] }).result();
    expect(order).toEqual(['begins Rome', 'begins Oslo', 'ends Oslo', 'ends Rome']);
    expect(result.messages.slice(2, 4)).toMatchObject([{ content: 'Rome' }, { content: 'Oslo' }]);
  });

  it.each([
    [
      'an unknown tool',
      callWith('{"location": "Rome"}', 'get_time'),
      /^There is no tool "get_time"\. The tools: get_weather/,
    ],
    ['wrong arguments', callWith('{"place": "Rome"}'), /^The arguments are wrong: location: /],
    ['a tool that throws', callWith('{"location": "Atlantis"}'), /^no weather in Atlantis$/],
    ['a result that is no JSON', callWith('{"location": "Big"}'), /BigInt/],
  ])('tells the model of %s, and goes on', async (_, call, message) => {
    const { engine } = await serveTurns([`${thought}${call}`, answer]);
    const weather = tool({
      name: 'get_weather',
      parameters: z.object({ location: z.string() }),
      run: ({ location }) => {
        if (location === 'Big') return 10n;
        throw new Error(`no weather in ${location}`);
      },
    });
    const run = runTools(engine, { messages, tools: [weather] });
    const events = await collect(run);
    const result = await run.result();
    expect(result.reason).toBe('answered');
    expect(JSON.parse(String(contentOf(result, 2)))).toEqual({ error: expect.stringMatching(message) });
    expect(events.filter(({ type }) => /^tool-(result|error)$/.test(type)).map(({ type }) => type)).toEqual([
      'tool-error',
    ]);
  });

  it('tells the model of a zod schema, and gives the tool what the schema makes of the arguments', async () => {
    const { engine, worker } = await serveTurns([`${thought}${weatherCall}`, answer]);
    const seen: unknown[] = [];
    const weather = tool({
      name: 'get_weather',
      strict: true,
      parameters: z.object({ location: z.string().transform((city) => city.toUpperCase()) }),
      validate: (args) => args as { location: string },
      run: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ location: string }>();
        seen.push(args);
        return undefined;
      },
    });
    const result = await runTools(engine, { messages, tools: [weather] }).result();
    expect(seen).toEqual([{ location: 'ROME' }]);
    expect(contentOf(result, 2)).toBe('null');
    const job = worker.received.find((message) => message.type === 'generate');
    expect(job?.type === 'generate' && job.job.tools).toMatchObject([
      {
        function: {
          strict: true,
          parameters: {
            type: 'object',
            properties: { location: { type: 'string' } },
            required: ['location'],
          },
        },
      },
    ]);
  });

  it('stops after so many rounds, the last calls answered', async () => {
    const { engine, worker } = await serveTurns([`${thought}${weatherCall}`]);
    const ran: unknown[] = [];
    const result = await runTools(
      engine,
      { messages, tools: [noting(ran)], tool_choice: 'required' },
      { maxRounds: 3 },
    ).result();
    expect(result).toMatchObject({ reason: 'rounds', rounds: 3 });
    expect(ran).toHaveLength(3);
    expect(result.messages.map(({ role }) => role)).toEqual([
      'user',
      ...Array(3).fill(['assistant', 'tool']).flat(),
    ]);
    const held = worker.received.flatMap((message) =>
      message.type === 'generate' ? [message.job.constraint?.calls?.choice ?? 'auto'] : [],
    );
    expect(held).toEqual(['required', 'auto', 'auto']);
  });
});

describe('an abort', () => {
  it('while a tool runs ends the run at once, and leaves a history that can go on', async () => {
    const { engine } = await serveTurns([
      `${thought}${callWith('{"location": "Rome"}')}\n${callWith('{"location": "Oslo"}')}`,
      answer,
    ]);
    const controller = new AbortController();
    let told: AbortSignal | undefined;
    const weather = tool<{ location: string }>({
      name: 'get_weather',
      parameters: location,
      run: ({ location }, { signal }) => {
        told = signal;
        if (location === 'Rome') return 'sunny';
        setTimeout(() => controller.abort(), 5);
        return new Promise(() => {});
      },
    });
    const run = runTools(engine, { messages, tools: [weather] }, { signal: controller.signal });
    await expect(run.result()).rejects.toBeInstanceOf(RequestAbortedError);
    expect(told?.aborted).toBe(true);
    expect(run.messages.slice(2)).toMatchObject([
      { role: 'tool', content: 'sunny' },
      { role: 'tool', content: '{"error":"The run was aborted before the tool had ended."}' },
    ]);
    const next = await runTools(engine, { messages: run.messages, tools: [weather] }).result();
    expect(next.content).toBe('It is 18 degrees in Rome.');
  });

  it('while the model answers stops the model', async () => {
    const { engine, worker } = await serveTurns([{ text: answer, delay: 5 }, answer]);
    const left = runTools(engine, { messages, tools: [noting([])] });
    for await (const event of left) if (event.type === 'reasoning') break;
    await expect(left.result()).rejects.toBeInstanceOf(RequestAbortedError);
    expect(worker.received.some(({ type }) => type === 'abort')).toBe(true);
    expect(left.messages).toEqual(messages);
    const early = runTools(engine, { messages, tools: [noting([])] }, { signal: AbortSignal.abort() });
    await expect(early.result()).rejects.toBeInstanceOf(RequestAbortedError);
  });
});

describe('errors', () => {
  it('of the engine end the run, in the loop and in its result, with the whole rounds kept', async () => {
    const { engine } = await serveTurns([
      `${thought}${weatherCall}`,
      { text: answer, error: { name: 'InvalidLogitsError', message: 'no number', at: 4 } },
    ]);
    const run = runTools(engine, { messages, tools: [noting([])] });
    await expect(collect(run)).rejects.toBeInstanceOf(InvalidLogitsError);
    await expect(run.result()).rejects.toBeInstanceOf(InvalidLogitsError);
    expect(run.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  });

  it.each([
    ['tools', { tools: [] }, {}],
    ['tools[0]', { tools: [{ type: 'function', function: { name: 'a' }, run: () => 1 }] }, {}],
    ['tools[0].parameters', { tools: [noting([], { parameters: withoutJson() })] }, {}],
    ['tools[1].name', { tools: [noting([]), noting([])] }, {}],
    ['n', { n: 2 }, {}],
    ['temperature', { temperature: 9 }, {}],
    ['maxRounds', {}, { maxRounds: 0 }],
    ['options', {}, null],
    ['maxRound', {}, { maxRound: 3 }],
    ['timeout', {}, { timeout: 3 }],
    ['signal', {}, { signal: 3 }],
    ['incompleteToolCalls', {}, { incompleteToolCalls: 'raw' }],
    ['maxRounds', { maxRounds: 3 }, {}],
  ])('in %s are named before anything runs', async (param, params, options) => {
    const { engine, worker } = await serveTurns([answer]);
    const run = runTools(engine, { messages, tools: [noting([])], ...params } as never, options as never);
    await expect(run.result()).rejects.toBeInstanceOf(BadRequestError);
    await expect(run.result()).rejects.toMatchObject({ param });
    expect(worker.received.filter(({ type }) => type === 'generate')).toEqual([]);
  });
});

/** A schema as libraries have it that know no JSON Schema. */
function withoutJson() {
  return { '~standard': { version: 1 as const, vendor: 'old', validate: (value: unknown) => ({ value }) } };
}

it.each(['reasoning', 'reasoning_content', 'both'] as const)(
  'reasoning in %s is told and goes back to the model',
  async (reasoning_field) => {
    const { engine } = await serveTurns([`${thought}${weatherCall}`, answer]);
    const run = runTools(engine, { messages, tools: [noting([])], reasoning_field });
    const { messages: said } = await run.result();
    expect(said[1]).toMatchObject({ role: 'assistant', reasoning: expect.stringMatching(/./) });
    expect(said[1]).not.toHaveProperty('reasoning_content');
  },
);

describe('what an application does wrong', () => {
  it('in a check that never ends does not outlive an abort', async () => {
    const { engine } = await serveTurns([callWith('{"location": "Rome"}'), answer]);
    const controller = new AbortController();
    const stuck = tool({
      name: 'get_weather',
      validate: () => new Promise<never>(() => setTimeout(() => controller.abort(), 5)),
      run: () => 'never',
    });
    const run = runTools(engine, { messages, tools: [stuck] }, { signal: controller.signal });
    await expect(run.result()).rejects.toThrow(RequestAbortedError);
  });

  it.each([Object.create(null), { toString: () => ({}) }])(
    'in what it throws is told to the model',
    async (thrown) => {
      const { engine } = await serveTurns([callWith('{"location": "Rome"}'), answer]);
      const run = () => {
        throw thrown;
      };
      const result = await runTools(engine, {
        messages,
        tools: [tool({ name: 'get_weather', run })],
      }).result();
      expect(result.reason).toBe('answered');
      expect(contentOf(result, 2)).toBe('{"error":"The tool failed."}');
    },
  );

  it('in a result that is no JSON is told to the model', async () => {
    const { engine } = await serveTurns([callWith('{"location": "Rome"}'), answer]);
    const run = () => () => 1;
    const result = await runTools(engine, { messages, tools: [tool({ name: 'get_weather', run })] }).result();
    expect(contentOf(result, 2)).toBe('{"error":"The tool\'s result is a function, which is no JSON."}');
  });

  it.each(['continue_final_message', 'echo', 'add_generation_prompt'])(
    'with %s is refused before anything runs',
    async (field) => {
      const { engine } = await serveTurns([answer]);
      const run = runTools(engine, { messages, tools: [noting([])], [field]: true });
      await expect(run.result()).rejects.toMatchObject({ name: 'BadRequestError', param: field });
    },
  );

  it('with two tools of one name is refused', async () => {
    const { engine } = await serveTurns([answer]);
    const run = runTools(engine, { messages, tools: [noting([]), noting([])] });
    await expect(run.result()).rejects.toMatchObject({ name: 'BadRequestError', param: 'tools[1].name' });
  });
});
