/** What servers and networks do wrong: always a named error, never an answer that looks finished. */
import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createRemoteEngine } from '../../../src/remote/index.ts';
import {
  type Answer,
  broken,
  content,
  events,
  finish,
  json,
  refusal,
  role,
  stuck,
  usage,
} from './replay-server.ts';
import { errorOf, messages, read, serve } from './served.ts';

const ok = events([role(), content('Yes'), finish('stop'), usage(1, 1)]);
const hurry = { 'retry-after-ms': '5' };

describe('a status', () => {
  test.each([
    [400, 'BadRequestError', 'temperature must be non-negative'],
    [413, 'BadRequestError', 'too large'],
    [422, 'BadRequestError', 'no'],
    [401, 'AuthenticationError', 'Unauthorized'],
    [403, 'PermissionDeniedError', 'not for you'],
    [404, 'ModelNotFoundError', 'The model `served` does not exist.'],
  ])('%i is a %s with the words of the server, and not tried again', async (status, name, message) => {
    const { engine, server } = await serve(refusal(status, message));
    const error = await errorOf(engine.chat.completions.create({ messages }));
    expect(error).toMatchObject({ name, message: expect.stringContaining(message) });
    expect(server.posts).toHaveLength(1);
  });

  test.each([
    ['OpenAI', { error: { message: 'Too hot', type: 'x', param: 'temperature', code: 'above_max' } }],
    ['older vLLM', { object: 'error', message: 'Too hot', type: 'x', param: 'temperature', code: 400 }],
  ])('400 of %s has its param', async (_, body) => {
    const { engine } = await serve(json(400, body));
    const error = await errorOf(engine.chat.completions.create({ messages }));
    expect(error).toMatchObject({ name: 'BadRequestError', message: 'Too hot', param: 'temperature' });
  });

  test("400 of a prompt that is too long has OpenAI's code, which vLLM does not send", async () => {
    const message =
      "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens in the messages.";
    const { engine } = await serve(refusal(400, message));
    const error = await errorOf(engine.chat.completions.create({ messages }));
    expect(error).toMatchObject({ name: 'BadRequestError', code: 'context_length_exceeded' });
  });

  test('422 of FastAPI names the fields', async () => {
    const detail = [{ loc: ['body', 'messages', 0], msg: 'Field required', type: 'missing' }];
    const { engine } = await serve(json(422, { detail }));
    const error = await errorOf(engine.chat.completions.create({ messages }));
    expect(error).toMatchObject({ name: 'BadRequestError', message: 'messages.0: Field required' });
  });

  test('404 of a path that is not there says what the address must be', async () => {
    const { engine } = await serve(json(404, { detail: 'Not Found' }));
    const error = await errorOf(engine.chat.completions.create({ messages }));
    expect(error).toMatchObject({
      name: 'RemoteServerError',
      code: 'unknown_url',
      message: expect.stringContaining('baseURL'),
    });
  });

  test('200 with a web page, or without a stream, is no answer', async () => {
    const page: Answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><p>Welcome');
    };
    const whole = json(200, { object: 'chat.completion', choices: [] });
    for (const answer of [page, whole]) {
      const { engine, server } = await serve(answer);
      const error = await errorOf(engine.chat.completions.create({ messages }));
      expect(error).toMatchObject({
        name: 'RemoteServerError',
        code: 'invalid_answer',
        message: expect.stringContaining('baseURL'),
      });
      expect(server.posts).toHaveLength(1);
    }
  });

  test('503 with a web page does not show its markup', async () => {
    const page: Answer = (response) => {
      response.writeHead(503, { 'content-type': 'text/html', ...hurry }).end('<h1>Bad gateway</h1>');
    };
    const { engine } = await serve(page, { maxRetries: 0 });
    const error = await errorOf(engine.chat.completions.create({ messages }));
    expect(error).toMatchObject({ name: 'RemoteServerError', message: expect.stringContaining('503') });
    expect(String(error)).not.toContain('<h1>');
  });
});

describe('another try', () => {
  test.each([
    ['429', refusal(429, 'Slow down', 'RateLimitError', { 'retry-after': '0' })],
    ['503', refusal(503, 'Loading', 'ServiceUnavailable', hurry)],
    ['500 in the words of the first event', events([{ error: { message: 'Engine died', code: 500 } }])],
    ['a connection that breaks before the first chunk', broken([])],
    ['a stream that ends before the first chunk', events([])],
  ])('follows %s', async (_, failure) => {
    const { engine, server } = await serve([failure, ok]);
    expect(await read(engine)).toEqual({ text: 'Yes', error: null, last: 'stop' });
    expect(server.posts).toHaveLength(2);
  });

  test.each([
    ['in seconds', () => '1'],
    ['up to a date', () => new Date(Date.now() + 2000).toUTCString()],
  ])('waits as long as the server asks, %s', async (_, after) => {
    let refusedAt = 0;
    let askedAt = 0;
    const { engine } = await serve([
      (response, request) => {
        refusedAt = Date.now();
        refusal(429, 'Slow down', 'RateLimitError', { 'retry-after': after() })(response, request);
      },
      (response, request) => {
        askedAt = Date.now();
        return ok(response, request);
      },
    ]);
    await engine.chat.completions.create({ messages });
    // A date has whole seconds. Its own waiting would be half a second at most.
    expect(askedAt - refusedAt).toBeGreaterThan(990);
  });

  test('is not made where the server asks to wait longer than allowed', async () => {
    const { engine, server } = await serve(
      refusal(429, 'Slow down', 'RateLimitError', { 'retry-after': '120' }),
    );
    const error = await errorOf(engine.chat.completions.create({ messages }));
    expect(error).toMatchObject({
      name: 'RateLimitError',
      message: 'Slow down. It asks to wait 120 s.',
    });
    expect(server.posts).toHaveLength(1);
  });

  test('is made no more often than allowed; then the last failure counts', async () => {
    const { engine, server } = await serve(
      [
        refusal(503, 'one', 'x', hurry),
        refusal(429, 'two', 'x', hurry),
        refusal(503, 'three', 'x', hurry),
        ok,
      ],
      { maxRetries: 2 },
    );
    const error = await errorOf(engine.chat.completions.create({ messages }));
    expect(error).toMatchObject({ name: 'RemoteServerError', message: 'three' });
    expect(server.posts).toHaveLength(3);
  });

  test('is not made where the server advises against it', async () => {
    const { engine, server } = await serve(
      refusal(503, 'Closed', 'x', { ...hurry, 'x-should-retry': 'false' }),
    );
    await errorOf(engine.chat.completions.create({ messages }));
    expect(server.posts).toHaveLength(1);
  });

  test('is not waited for after an abort', async () => {
    const controller = new AbortController();
    const { engine } = await serve([
      (response, request) => {
        refusal(429, 'Slow down', 'x', { 'retry-after': '50' })(response, request);
        setTimeout(() => controller.abort('enough'), 20);
      },
      ok,
    ]);
    const error = await errorOf(engine.chat.completions.create({ messages }, { signal: controller.signal }));
    expect(error).toMatchObject({ name: 'AbortError', cause: 'enough' });
  });
});

describe('a server that is slow', () => {
  test('to answer is given up', async () => {
    const { engine, server } = await serve(() => {}, { timeout: 50 });
    const error = await errorOf(engine.chat.completions.create({ messages }));
    expect(error).toMatchObject({ name: 'RemoteTimeoutError', message: expect.stringContaining('0.05 s') });
    expect(server.posts.length).toBeLessThanOrEqual(1);
  });

  test('to begin, comments aside, is given up', async () => {
    const { engine } = await serve(
      async (response, request) => {
        await stuck([])(response, request);
        const timer = setInterval(() => response.write(': ping\n\n'), 10);
        void request.left.then(() => clearInterval(timer));
      },
      { timeout: 100, idleTimeout: 50_000 },
    );
    const error = await errorOf(engine.chat.completions.create({ messages }));
    expect(error).toMatchObject({ name: 'RemoteTimeoutError' });
  });

  test('in the middle of its answer is given up there', async () => {
    const { engine, server } = await serve(stuck([role(), content('Ye')]), { idleTimeout: 200 });
    const { text, error, last } = await read(engine);
    expect(error).toMatchObject({ name: 'RemoteTimeoutError' });
    // On a busy machine, what was sent may come too late.
    expect(['Ye', '']).toContain(text);
    expect(last ?? null).toBeNull();
    await server.posts[0]!.left;
  });

  test('but alive is waited for', async () => {
    const { engine } = await serve(
      async (response, request) => {
        await stuck([role()])(response, request);
        for (let pings = 0; pings < 25; pings++) {
          await new Promise((resolve) => setTimeout(resolve, 100));
          response.write(': ping\n\n');
        }
        for (const one of [content('Yes'), finish('stop')]) {
          response.write(`data: ${JSON.stringify(one)}\n\n`);
        }
        response.end('data: [DONE]\n\n');
      },
      { idleTimeout: 2000 },
    );
    expect(await read(engine)).toEqual({ text: 'Yes', error: null, last: 'stop' });
  });
});

describe('an abort', () => {
  test('before the request sends nothing', async () => {
    const { engine, server } = await serve(ok);
    const error = await errorOf(
      engine.chat.completions.create({ messages }, { signal: AbortSignal.abort('no') }),
    );
    expect(error).toMatchObject({ name: 'AbortError', cause: 'no' });
    expect(server.requests).toEqual([]);
  });

  test('while the server thinks closes the connection', async () => {
    const controller = new AbortController();
    const { engine, server } = await serve(() => controller.abort());
    const error = await errorOf(
      engine.chat.completions.create({ messages, stream: true }, { signal: controller.signal }),
    );
    expect(error).toMatchObject({ name: 'AbortError' });
    await server.posts[0]!.left;
  });

  test.each(['signal', 'controller', 'leaving', 'close'] as const)('in mid-stream by %s', async (way) => {
    const { engine, server } = await serve(stuck([role(), content('Ye')]));
    const caller = new AbortController();
    const stream = await engine.chat.completions.create(
      { messages, stream: true },
      { signal: caller.signal },
    );
    let error: unknown = null;
    try {
      for await (const one of stream) {
        if (one.choices[0]?.delta.content !== 'Ye') continue;
        if (way === 'leaving') break;
        if (way === 'signal') caller.abort();
        if (way === 'controller') stream.controller.abort();
        if (way === 'close') void engine.close();
      }
    } catch (thrown) {
      error = thrown;
    }
    const name = {
      signal: 'AbortError',
      controller: 'AbortError',
      leaving: null,
      close: 'EngineClosedError',
    };
    expect((error as Error | null)?.name ?? null).toBe(name[way]);
    await server.posts[0]!.left;
  });

  test('after close there is no request', async () => {
    const { engine, server } = await serve(ok);
    await engine.close();
    await engine.close();
    expect(engine.state.status).toBe('closed');
    const error = await errorOf(engine.chat.completions.create({ messages }));
    expect(error).toMatchObject({ name: 'EngineClosedError' });
    await expect(engine.models.list()).rejects.toMatchObject({ name: 'EngineClosedError' });
    expect(server.requests).toEqual([]);
  });
});

test('a server that is not there is said so', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  const engine = await createRemoteEngine({
    baseURL: `http://127.0.0.1:${port}/v1`,
    model: 'served',
    maxRetries: 1,
    maxRetryDelay: 1000,
  });
  const error = await errorOf(engine.chat.completions.create({ messages }));
  expect(error).toMatchObject({
    name: 'RemoteServerError',
    code: 'connection_failed',
    message: expect.stringMatching(/can't be reached.*ECONNREFUSED/),
  });
});
