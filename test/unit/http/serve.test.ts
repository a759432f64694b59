/** The HTTP surface by itself: paths, methods, headers, bodies, the event stream. */
import { describe, expect, it } from 'vitest';
import { collectCompletion } from '../../../src/chat/collector.ts';
import type { ChatCompletion, ServedChunk } from '../../../src/chat/types.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import { serve } from '../../../src/http/serve.ts';
import { cutArguments, cutCall, messages, serveTurns, weather, weatherCall } from './engine.ts';

const url = 'http://engine/v1/chat/completions';
const post = (body: unknown, more: RequestInit = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: typeof body === 'string' ? body : JSON.stringify(body),
  ...more,
});

async function refused(engine: Engine, input: string, init?: RequestInit) {
  const response = await engine.fetch(input, init);
  expect(response.headers.get('content-type')).toContain('application/json');
  const { error } = (await response.json()) as { error: Record<string, unknown> };
  expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type']);
  return { status: response.status, headers: response.headers, ...error };
}

/** The data of each event, after a check that nothing else is in the stream. */
function dataOf(stream: string): string[] {
  expect(stream).toMatch(/^(data: [^\n]+\n\n)+$/);
  return stream
    .trimEnd()
    .split('\n\n')
    .map((event) => event.slice('data: '.length));
}

describe('requests', () => {
  it('may be what fetch takes: an address, a URL, a Request, a path', async () => {
    const { engine } = await serveTurns(['<think>\n2 + 2\n</think>\n\nFour.']);
    const inputs: Parameters<typeof fetch>[] = [
      [url, post({ messages })],
      [new URL(url), post({ messages })],
      [new Request(url, post({ messages }))],
      [new Request(url, { method: 'POST' }), post({ messages })],
      ['/v1/chat/completions', post({ messages })],
      [
        `${url}?api-version=1`,
        post({ messages }, { headers: { 'Content-Type': 'Application/JSON; charset=utf-8' } }),
      ],
    ];
    for (const input of inputs) {
      const response = await engine.fetch(...input);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toContain('application/json');
      const { choices } = (await response.json()) as ChatCompletion;
      expect(choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Four.' } });
    }
  });

  it('that fetch itself could not make are rejected as it rejects them', async () => {
    const { engine } = await serveTurns(['Four.']);
    await expect(engine.fetch('http://')).rejects.toBeInstanceOf(TypeError);
    await expect(engine.fetch(url, { method: 'GET', body: '{}' })).rejects.toBeInstanceOf(TypeError);
    const used = new Request(url, post({ messages }));
    await used.text();
    await expect(engine.fetch(used)).rejects.toBeInstanceOf(TypeError);
  });

  it('are refused with a body of OpenAI’s shape', async () => {
    const { engine } = await serveTurns(['Four.']);
    expect(await refused(engine, 'http://engine/v1/nothing')).toMatchObject({
      status: 404,
      code: 'unknown_url',
      type: 'invalid_request_error',
      message: expect.stringContaining('GET /v1/nothing'),
    });
    const surface = {
      completions: engine.chat.completions,
      models: engine.models,
      incompleteToolCalls: 'separate' as const,
    };
    // What a surface lacks has no route.
    for (const path of ['/v1/completions', '/tokenize', '/detokenize']) {
      const response = await serve(surface, path, post({ prompt: 'a' }));
      expect(response.status).toBe(404);
      expect(await response.text()).not.toContain('POST /v1/completions,');
    }
    const method = await refused(engine, url);
    expect(method).toMatchObject({ status: 405, code: 'method_not_allowed' });
    expect(method.headers.get('allow')).toBe('POST');
    expect(await refused(engine, 'http://engine/v1/models', { method: 'DELETE' })).toMatchObject({
      status: 405,
    });
    expect(await refused(engine, url, post('{"messages": ['))).toMatchObject({
      status: 400,
      code: 'invalid_json',
    });
    expect(await refused(engine, url, post(''))).toMatchObject({ status: 400, code: 'invalid_json' });
    for (const type of ['text/plain', '', 'application/jsonlines']) {
      const headers = { 'content-type': type };
      expect(await refused(engine, url, post({ messages }, { headers }))).toMatchObject({
        status: 400,
        code: 'unsupported_content_type',
      });
    }
    expect(await refused(engine, url, post('[]'))).toMatchObject({ status: 400, param: 'body' });
    expect(await refused(engine, url, post({ messages, n: 0 }))).toMatchObject({ status: 400, param: 'n' });
    expect(await refused(engine, url, post({ messages, model: 'other' }))).toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
    await engine.close();
    const closed = await refused(engine, url, post({ messages }));
    expect(closed).toMatchObject({ status: 503, type: 'server_error' });
    expect(closed.headers.get('x-should-retry')).toBe('false');
  });

  it('that turn out bad in the worker have their status in a stream too', async () => {
    const { engine } = await serveTurns(['Four.']);
    const long = [{ role: 'user', content: 'word '.repeat(400) }];
    const unfit = {
      type: 'json_schema',
      json_schema: { name: 'a', schema: { type: 'object', minProperties: 2, maxProperties: 1 } },
    };
    for (const stream of [false, true]) {
      expect(await refused(engine, url, post({ messages: long, stream }))).toMatchObject({
        status: 400,
        code: 'context_length_exceeded',
        param: 'messages',
      });
      expect(
        await refused(engine, url, post({ messages, response_format: unfit, stream, n: stream ? 3 : 1 })),
      ).toMatchObject({
        status: 400,
        param: expect.stringContaining('response_format'),
      });
    }
  });
});

describe('models', () => {
  it('are listed and found by their id, on the engine and over fetch', async () => {
    const { engine } = await serveTurns(['Four.']);
    const { data } = await engine.models.list();
    expect(data).toEqual([
      { id: 'scripted', object: 'model', created: expect.any(Number), owned_by: 'tokenprism' },
    ]);
    expect(await engine.models.retrieve('scripted')).toEqual(data[0]);
    await expect(engine.models.retrieve('other')).rejects.toMatchObject({
      name: 'ModelNotFoundError',
      status: 404,
    });
    expect(await (await engine.fetch('/v1/models')).json()).toEqual({ object: 'list', data });
    expect(await (await engine.fetch('/v1/models/scripted')).json()).toEqual(data[0]);
    expect(await refused(engine, '/v1/models/owner%2Fname')).toMatchObject({
      status: 404,
      code: 'model_not_found',
      message: expect.stringContaining('"owner/name"'),
    });
    expect(await refused(engine, '/v1/models/owner/100%')).toMatchObject({
      message: expect.stringContaining('"owner/100%"'),
    });
  });
});

describe('an event stream', () => {
  it('is data lines and a closing [DONE], and collects to the whole answer', async () => {
    const { engine } = await serveTurns([`<think>\nWhere?\n</think>\n\nRome — \u2028 é.\n${weatherCall}`]);
    const body = { messages, tools: [weather], n: 2, stream_options: { include_usage: true } };
    const response = await engine.fetch(url, post({ ...body, stream: true }));
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const data = dataOf(await response.text());
    expect(data.at(-1)).toBe('[DONE]');
    const chunks = data.slice(0, -1).map((text) => JSON.parse(text) as ServedChunk);
    const collected = await collectCompletion(
      (async function* () {
        yield* chunks;
      })(),
    );
    const whole = await engine.chat.completions.create({ messages, tools: [weather], n: 2 });
    expect(collected.choices.map(lasting)).toEqual(whole.choices.map(lasting));
    expect(collected.choices[1]?.message).toMatchObject({ reasoning: 'Where?', content: 'Rome — \u2028 é.' });
    expect(collected.usage).toMatchObject({ completion_tokens: whole.usage?.completion_tokens });
  });

  it('gives calls out whole, numbered without the cut ones, which stand on the last chunk', async () => {
    const broken = '<tool_call>\n{"name": "get_weather", "arguments": {"location": @@@}}\n</tool_call>';
    const turn = { text: `${broken}\n${weatherCall}\n${cutCall}`, open: true };
    const { engine } = await serveTurns([turn]);
    const body = { messages, tools: [weather], max_tokens: 60 };
    const response = await engine.fetch(url, post({ ...body, stream: true }));
    const chunks = dataOf(await response.text())
      .slice(0, -1)
      .map((text) => JSON.parse(text) as ServedChunk);
    const choices = chunks.flatMap((chunk) => chunk.choices);
    const deltas = choices.flatMap(({ delta }) => delta.tool_calls ?? []);
    const whole = (await engine.chat.completions.create(body)).choices[0]!;
    expect(whole.incomplete_tool_calls?.map((call) => call.function.arguments)).toEqual(['{', cutArguments]);
    expect(whole.message.tool_calls).toHaveLength(1);
    expect(deltas.map(({ index, function: called }) => [index, called])).toEqual(
      (whole.message.tool_calls ?? []).map(({ function: called }, index) => [index, called]),
    );
    expect(choices.at(-1)?.incomplete_tool_calls?.map((call) => call.function)).toEqual(
      whole.incomplete_tool_calls?.map((call) => call.function),
    );
    const collected = await collectCompletion(
      (async function* () {
        yield* chunks;
      })(),
    );
    expect(lasting(collected.choices[0]!)).toEqual(lasting(whole));
  });

  it('streams arguments as they come where the engine leaves cut calls as they are', async () => {
    const { engine } = await serveTurns([{ text: cutCall, open: true }], { incompleteToolCalls: 'raw' });
    const body = { messages, tools: [weather], max_tokens: 40, stream: true };
    const data = dataOf(await (await engine.fetch(url, post(body))).text());
    const calls = data
      .slice(0, -1)
      .flatMap((text) => (JSON.parse(text) as ServedChunk).choices)
      .flatMap(({ delta }) => delta.tool_calls ?? []);
    expect(calls.length).toBeGreaterThan(2);
  });

  it('ends in an error object without [DONE] where the answer breaks off', async () => {
    const { engine } = await serveTurns([
      {
        text: 'One two three four five six.',
        error: { name: 'InvalidLogitsError', message: 'no number', at: 4 },
      },
    ]);
    const response = await engine.fetch(url, post({ messages, stream: true }));
    expect(response.status).toBe(200);
    const data = dataOf(await response.text());
    expect(data.length).toBeGreaterThan(2);
    expect(JSON.parse(data.at(-1)!)).toMatchObject({
      error: { type: 'server_error', message: 'no number', param: null },
    });
  });
});

describe('an abort', () => {
  const slow = { text: 'word '.repeat(60), delay: 5 };

  /** Resolves when the worker was told to stop; fails by the test's time limit otherwise. */
  async function stopped(received: { type: string }[]): Promise<void> {
    while (!received.some(({ type }) => type === 'abort'))
      await new Promise((resolve) => setTimeout(resolve, 2));
  }

  it('of the signal rejects with its reason, before, during and for a whole answer', async () => {
    const { engine, worker } = await serveTurns([slow]);
    const reason = new Error('enough');
    await expect(engine.fetch(url, post({ messages }, { signal: AbortSignal.abort(reason) }))).rejects.toBe(
      reason,
    );
    expect(worker.received.filter(({ type }) => type === 'generate')).toEqual([]);
    const controller = new AbortController();
    const answer = engine.fetch(url, post({ messages }, { signal: controller.signal }));
    setTimeout(() => controller.abort(reason), 20);
    await expect(answer).rejects.toBe(reason);
    await stopped(worker.received);
  });

  it('of the signal breaks a stream off with its reason, also one that nobody reads', async () => {
    const { engine, worker } = await serveTurns([slow]);
    const controller = new AbortController();
    const { body } = await engine.fetch(url, post({ messages, stream: true }, { signal: controller.signal }));
    const reader = body!.getReader();
    await reader.read();
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(reader.read()).rejects.toBe(reason);
    await stopped(worker.received);
    const { choices } = await engine.chat.completions.create({ messages, max_tokens: 1 });
    expect(choices[0]?.finish_reason).toBe('length');
  });

  it('by cancelling the body stops the model', async () => {
    const { engine, worker } = await serveTurns([slow]);
    const { body } = await engine.fetch(url, post({ messages, stream: true }));
    const reader = body!.getReader();
    await reader.read();
    const waiting = reader.read();
    await reader.cancel();
    expect((await waiting).done).toBe(true);
    await stopped(worker.received);
  });
});

/** A choice without what is made anew each time. */
function lasting({ message, incomplete_tool_calls = [], ...choice }: ChatCompletion['choices'][number]) {
  return {
    ...choice,
    message: { ...message, tool_calls: message.tool_calls?.map((call) => call.function) },
    incomplete: incomplete_tool_calls.map((call) => call.function),
  };
}

describe('fields of an answer', () => {
  const text = `<think>\nWhere?\n</think>\n\nNow.\n${weatherCall}`;
  it.each(['reasoning', 'reasoning_content', 'both', 'content'])(
    'are the same in both ways, with reasoning_field %s',
    async (reasoning_field) => {
      const { engine } = await serveTurns([text]);
      const body = { messages, tools: [weather], reasoning_field, stop_token_ids: [5] };
      const whole = (await (await engine.fetch(url, post(body))).json()) as ChatCompletion;
      const response = await engine.fetch(url, post({ ...body, stream: true }));
      const chunks = dataOf(await response.text())
        .slice(0, -1)
        .map((data) => JSON.parse(data) as ServedChunk);
      const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
      const { message, finish_reason, stop_reason } = whole.choices[0]!;
      for (const field of ['content', 'reasoning', 'reasoning_content'] as const) {
        expect(deltas.map((delta) => delta[field] ?? '').join('')).toBe(message[field] ?? '');
      }
      expect(deltas.flatMap(({ tool_calls }) => tool_calls ?? [])).toHaveLength(1);
      expect(chunks.at(-1)!.choices[0]).toMatchObject({ finish_reason, stop_reason });
      expect(stop_reason).toBeNull();
    },
  );
});
