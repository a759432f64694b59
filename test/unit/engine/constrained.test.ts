/** The embedded model under a grammar, through the public interface, at a temperature at which it would ramble. */
import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatCompletionFunctionTool } from '../../../src/chat/types.ts';
import { createEngine, type Engine } from '../../../src/engine/engine.ts';
import { BadRequestError } from '../../../src/errors.ts';
import { liveWorker, scriptedWorker } from './in-process-worker.ts';

const user = (content: string) => [{ role: 'user' as const, content }];
const tool = (
  name: string,
  parameters: Record<string, unknown>,
  strict?: boolean,
): ChatCompletionFunctionTool => ({
  type: 'function',
  function: { name, parameters, ...(strict !== undefined && { strict }) },
});

const weather = tool('get_weather', {
  type: 'object',
  properties: { location: { type: 'string', maxLength: 20 }, unit: { enum: ['celsius', 'fahrenheit'] } },
  required: ['location', 'unit'],
});

/** A few; the browser tests have more. */
const SCHEMAS: Record<string, unknown>[] = [
  { type: 'object', properties: {} },
  {
    type: 'object',
    properties: {
      x: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
      d: { type: 'string', format: 'date' },
    },
    required: ['x', 'd'],
  },
];

describe('the embedded model under a grammar', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await createEngine({ worker: () => liveWorker() as unknown as Worker });
  }, 120_000);
  afterAll(() => engine?.close());

  it('calls a tool when it must, with arguments that fit, whatever the temperature', async () => {
    const ajv = new Ajv({ formats: { date: /^\d{4}-\d{2}-\d{2}$/ } });
    for (const [seed, parameters] of SCHEMAS.entries()) {
      const { choices } = await engine.chat.completions.create({
        messages: user('Do something.'),
        tools: [tool('act', parameters)],
        tool_choice: 'required',
        parallel_tool_calls: false,
        temperature: 1.5,
        thinking_token_budget: 8,
        seed,
        max_tokens: 200,
      });
      const [choice] = choices;
      expect(choice?.finish_reason, JSON.stringify(choice)).toBe('tool_calls');
      expect(choice?.message.content).toBeNull();
      const [call, ...others] = choice?.message.tool_calls ?? [];
      expect(others).toEqual([]);
      expect(call?.function.name).toBe('act');
      const fits = ajv.validate(parameters, JSON.parse(call!.function.arguments));
      expect(fits, `${call!.function.arguments}: ${ajv.errorsText()}`).toBe(true);
    }
  }, 120_000);

  it('calls the tool that was named, once', async () => {
    const { choices } = await engine.chat.completions.create({
      messages: user('What time is it in Oslo?'),
      tools: [tool('get_time', { type: 'object', properties: { city: { type: 'string' } } }), weather],
      tool_choice: { type: 'function', function: { name: 'get_weather' } },
      temperature: 1,
      seed: 4,
      thinking_token_budget: 5,
      max_tokens: 120,
    });
    expect(choices[0]?.message.tool_calls?.map((call) => call.function.name)).toEqual(['get_weather']);
    const { unit } = JSON.parse(choices[0]!.message.tool_calls![0]!.function.arguments) as { unit: string };
    expect(['celsius', 'fahrenheit']).toContain(unit);
  }, 60_000);

  it('answers freely, or calls well, with strict tools', async () => {
    const strict = { ...weather, function: { ...weather.function, strict: true } };
    const { choices } = await engine.chat.completions.create({
      messages: user("What's the weather in Paris in celsius?"),
      tools: [strict],
      include_details: true,
    });
    expect(choices[0]?.message.tool_calls).toHaveLength(1);
    expect(JSON.parse(choices[0]!.message.tool_calls![0]!.function.arguments)).toEqual({
      location: 'Paris',
      unit: 'celsius',
    });
  }, 60_000);

  it('tells of no grammar where there is none', async () => {
    const answer = await engine.chat.completions.create({
      messages: user('Hi'),
      max_tokens: 3,
      n: 2,
      logprobs: true,
      include_details: true,
    });
    expect(answer.tokenprism!.allowed_tokens).toEqual([Array(3).fill(null), Array(3).fill(null)]);
  }, 60_000);

  it('takes forced tokens without asking the model', async () => {
    const answer = await engine.chat.completions.create({
      messages: user("What's the weather in Paris in celsius?"),
      tools: [weather],
      tool_choice: 'required',
      include_details: true,
    });
    const { timings, allowed_tokens: allowed } = answer.tokenprism!;
    expect(timings.forcedTokens).toBeGreaterThan(0);
    expect(answer.choices[0]?.message.tool_calls).toHaveLength(1);
    expect(allowed.map((counts) => counts.length)).toEqual([answer.usage!.completion_tokens]);
    expect(allowed[0]!.filter((count) => count === 1).length).toBeGreaterThanOrEqual(timings.forcedTokens);
    expect(allowed[0]!.some((count) => count !== null && count > 1)).toBe(true);
  }, 60_000);

  it.each([
    [{ response_format: { type: 'json_object' as const } }, (text: string) => JSON.parse(text) as unknown],
    [
      {
        response_format: {
          type: 'json_schema' as const,
          json_schema: {
            name: 'answer',
            schema: {
              type: 'object',
              properties: { city: { enum: ['Rome', 'Oslo'] }, sure: { type: 'boolean' } },
              required: ['city', 'sure'],
              additionalProperties: false,
            },
          },
        },
      },
      (text: string) => expect(Object.keys(JSON.parse(text) as object).sort()).toEqual(['city', 'sure']),
    ],
    [
      { structured_outputs: { regex: '[a-c]{3}-[0-9]+' } },
      (text: string) => expect(text).toMatch(/^[a-c]{3}-[0-9]+$/),
    ],
    [
      {
        structured_outputs: {
          structural_tag: {
            type: 'structural_tag',
            format: {
              type: 'triggered_tags',
              triggers: ['<n'],
              tags: [
                {
                  type: 'tag',
                  begin: '<n>',
                  content: { type: 'json_schema', json_schema: { enum: [7, 8] } },
                  end: '</n>',
                },
              ],
              at_least_one: true,
              stop_after_first: true,
            },
          },
        },
      },
      (text: string) => expect(text).toMatch(/^<n>[78]<\/n>$/),
    ],
    [
      { structured_outputs: { choice: ['yes', 'no'] } },
      (text: string) => expect(['yes', 'no']).toContain(text),
    ],
    [
      { structured_outputs: { grammar: 'root ::= word " " word\nword ::= "ab"+' } },
      (text: string) => expect(text).toMatch(/^(ab)+ (ab)+$/),
    ],
  ])(
    'holds the content to %j, thinking or not',
    async (form, check) => {
      for (const enable_thinking of [true, false]) {
        const { choices } = await engine.chat.completions.create({
          messages: user('Answer.'),
          ...form,
          chat_template_kwargs: { enable_thinking },
          temperature: 0.9,
          seed: 3,
          thinking_token_budget: 6,
          max_tokens: 90,
        });
        const [choice] = choices;
        if (choice?.finish_reason === 'length') continue;
        expect(choice?.finish_reason).toBe('stop');
        check(choice!.message.content!);
      }
    },
    120_000,
  );

  it('ends the reasoning after its budget', async () => {
    const { choices, usage } = await engine.chat.completions.create({
      messages: user("What's the weather in Paris and Tokyo?"),
      tools: [weather],
      thinking_token_budget: 6,
      max_tokens: 120,
    });
    expect(usage?.completion_tokens_details?.reasoning_tokens).toBe(6);
    expect(choices[0]?.message.reasoning).not.toContain('</think>');
    expect(choices[0]?.message.content ?? '').not.toContain('think>');
  }, 60_000);

  it('refuses a schema that nothing fits, names its place, and answers the next request', async () => {
    const broken = tool('f', {
      type: 'object',
      properties: { a: { type: 'integer', minimum: 5, maximum: 4 } },
      required: ['a'],
    });
    const request = engine.chat.completions.create({
      messages: user('Hi'),
      tools: [broken],
      tool_choice: 'required',
    });
    await expect(request).rejects.toThrow(BadRequestError);
    await expect(request).rejects.toMatchObject({
      param: expect.stringContaining('tools[0].function.parameters'),
    });
    const next = await engine.chat.completions.create({ messages: user('Hello!'), max_tokens: 5 });
    expect(next.choices).toHaveLength(1);
  }, 60_000);
});

describe('requests that no grammar can be made of', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await createEngine({ worker: () => scriptedWorker([{ text: 'Hi' }]) as unknown as Worker });
    // The first compile loads what the others need.
    await engine.chat.completions.create({
      messages: user('Hi'),
      structured_outputs: { choice: ['Hi'] },
      chat_template_kwargs: { enable_thinking: false },
    });
  }, 60_000);
  afterAll(() => engine?.close());

  const nested = (levels: number) => {
    let schema: Record<string, unknown> = { type: 'string' };
    for (let level = 0; level < levels; level++) schema = { type: 'array', items: schema };
    return { type: 'object', properties: { a: schema } };
  };
  const many = Array.from({ length: 500 }, (_, index) =>
    tool(`tool_${index}`, {
      type: 'object',
      properties: { a: { type: 'string', pattern: `^a${index}$` } },
      required: ['a'],
    }),
  );
  const forced = (parameters: Record<string, unknown>) => ({
    tools: [tool('f', parameters)],
    tool_choice: 'required' as const,
  });

  it('checks what a grammar does not hold when the answer is there', async () => {
    const schema = { type: 'array', items: { type: 'integer' }, uniqueItems: true };
    const answer = async (text: string) => {
      const scripted = await createEngine({ worker: () => scriptedWorker([{ text }]) as unknown as Worker });
      return scripted.chat.completions.create({
        messages: user('Hi'),
        response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
        chat_template_kwargs: { enable_thinking: false },
      });
    };
    expect((await answer('[1, 2]')).choices[0]?.message.content).toBe('[1, 2]');
    await expect(answer('[1, 1]')).rejects.toMatchObject({
      name: 'SchemaViolationError',
      message: expect.stringContaining('uniqueItems'),
    });
  });

  it.each([
    [
      'a broken schema',
      forced({ type: 'object', properties: { a: { type: 'nothing' } } }),
      'tools[0].function.parameters',
    ],
    [
      'a regex bomb',
      { structured_outputs: { regex: '((a{1,99}){1,99}){1,99}b' } },
      'structured_outputs.regex',
    ],
    ['5,000 nested levels', forced(nested(5000)), 'tools[0]'],
    ['500 tools with a pattern each', { tools: many, tool_choice: 'required' as const }, null],
    [
      'a reference that only leads to itself',
      forced({ type: 'object', properties: { a: { $ref: '#/properties/a' } }, required: ['a'] }),
      'tools[0].function.parameters',
    ],
    [
      'an object that must hold itself for ever',
      forced({ type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }),
      'tools[0].function.parameters',
    ],
  ])(
    '%s is refused at its place, within a second or two, and the next request works',
    async (_name, body, param) => {
      const start = performance.now();
      const request = engine.chat.completions.create({ messages: user('Hi'), ...body });
      await expect(request).rejects.toThrow(BadRequestError);
      if (param) await expect(request).rejects.toMatchObject({ param: expect.stringContaining(param) });
      // Generous: the bound is on hanging, not on a machine's speed.
      expect(performance.now() - start).toBeLessThan(10_000);
      const next = await engine.chat.completions.create({
        messages: user('Hi'),
        chat_template_kwargs: { enable_thinking: false },
      });
      expect(next.choices[0]?.message.content).toBe('Hi');
    },
  );
});
