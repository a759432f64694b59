import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import type { ChatCompletionChunk } from '../../../src/chat/types.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import { ModelLoadError } from '../../../src/errors.ts';
import type { ScriptedTurn } from '../../../src/protocol.ts';
import {
  type ChatEngine,
  type ChoiceFacts,
  createHybridEngine,
  createRemoteEngine,
  type HybridEngine,
  type HybridEngineOptions,
} from '../../../src/remote/index.ts';
import { cutCall, messages, serveTurns, weather } from '../http/engine.ts';
import {
  type Answer,
  argument,
  broken,
  call,
  content,
  events,
  finish,
  reasoning,
  refusal,
  role,
  stuck,
  usage,
} from './replay-server.ts';
import { closing, serve } from './served.ts';

const here = '<think>\nHm.\n</think>\n\nHere.';
const there = events([role(), reasoning('Hm.'), content('There.'), finish('stop'), usage(1, 2)]);
interface Parts {
  turn?: string | ScriptedTurn;
  answer?: Answer;
  local?: (engine: Engine) => HybridEngineOptions['local'];
  choose?: HybridEngineOptions['choose'];
}

async function hybridOf({ turn = here, answer = there, local = (engine) => engine, choose }: Parts = {}) {
  const { server, engine: remote } = await serve(answer, { maxRetries: 0 });
  const { engine } = await serveTurns([turn]);
  closing(engine);
  const hybrid = closing(await createHybridEngine({ local: local(engine), remote, choose }));
  return { hybrid, server, engine, remote };
}

async function said(hybrid: HybridEngine, body: object = {}): Promise<string | null> {
  const { choices } = await hybrid.chat.completions.create({ messages, ...body });
  return choices[0]!.message.content;
}

async function streamed(hybrid: HybridEngine, body: object = {}) {
  const chunks: ChatCompletionChunk[] = [];
  const stream = await hybrid.chat.completions.create({ messages, ...body, stream: true });
  let error: unknown = null;
  try {
    for await (const chunk of stream) chunks.push(chunk);
  } catch (thrown) {
    error = thrown;
  }
  return { chunks, error, text: chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('') };
}

/** Names and shape of what is in a chunk. */
const shapes = (chunks: readonly ChatCompletionChunk[]) =>
  chunks.map(({ choices }) => Object.keys(choices[0]?.delta ?? {}).join());

describe('the default policy', () => {
  test('prefers the local engine', async () => {
    const { hybrid, server } = await hybridOf();
    expect(await said(hybrid)).toBe('Here.');
    expect((await streamed(hybrid)).text).toBe('Here.');
    expect(server.requests).toEqual([]);
  });

  test('goes to the remote one for its model, and for any other that the local one is not', async () => {
    const { hybrid, server } = await hybridOf();
    expect(await said(hybrid, { model: 'served' })).toBe('There.');
    expect(await said(hybrid, { model: 'adapter' })).toBe('There.');
    expect(await said(hybrid, { model: 'scripted' })).toBe('Here.');
    expect(server.posts.map(({ body }) => body.model)).toEqual(['served', 'adapter']);
  });

  test('goes to the remote one while the local one loads, and no longer', async () => {
    let load = (_: Engine) => {};
    const { hybrid, engine } = await hybridOf({
      local: () => () =>
        new Promise<Engine>((resolve) => {
          load = resolve;
        }),
    });
    expect(hybrid.state).toMatchObject({ local: null, localError: null, remote: { status: 'ready' } });
    expect(await said(hybrid)).toBe('There.');
    const changed = new Promise((resolve) => hybrid.addEventListener('state', resolve, { once: true }));
    load(engine);
    await changed;
    expect(hybrid.state.local?.model.id).toBe('scripted');
    expect(await said(hybrid)).toBe('Here.');
  });

  test('goes to the remote one where the local one can not be loaded', async () => {
    const { hybrid } = await hybridOf({ local: () => Promise.reject(new ModelLoadError('no room')) });
    expect(await said(hybrid)).toBe('There.');
    expect(hybrid.state).toMatchObject({ local: null, localError: { name: 'ModelLoadError' } });
    const throwing = await hybridOf({
      local: () => () => {
        throw new TypeError('no WebGPU');
      },
    });
    expect(await said(throwing.hybrid)).toBe('There.');
    expect(throwing.hybrid.state.localError?.message).toBe('no WebGPU');
  });

  test('goes to the remote one without a local one', async () => {
    const { hybrid } = await hybridOf({ local: () => null });
    expect(await said(hybrid)).toBe('There.');
  });

  test.each([
    [
      'a conversation longer than its context',
      { messages: [{ role: 'user', content: 'word '.repeat(3000) }] },
    ],
    [
      'a picture',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:,' } }] }] },
    ],
    ["a server's field", { priority: 1 }],
  ])('gives on what the local one can not do: %s', async (_, body) => {
    const { hybrid, server } = await hybridOf();
    expect(await said(hybrid, body)).toBe('There.');
    const { text, chunks } = await streamed(hybrid, body);
    expect(text).toBe('There.');
    expect(new Set(chunks.map(({ model }) => model))).toEqual(new Set(['served']));
    expect(server.posts).toHaveLength(2);
  });

  test('gives on a request that failed before its answer began, without a seam', async () => {
    const { hybrid } = await hybridOf({
      turn: { text: here, error: { name: 'InvalidLogitsError', message: 'no number', at: 0 } },
    });
    const { chunks, error } = await streamed(hybrid);
    expect(error).toBeNull();
    expect(shapes(chunks)).toEqual(['role', 'reasoning', 'content', '']);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  test('leaves a stream that has begun with the engine that began it', async () => {
    const { hybrid, server } = await hybridOf({
      turn: { text: here, error: { name: 'InvalidLogitsError', message: 'no number', at: 8 } },
    });
    const { chunks, error } = await streamed(hybrid);
    expect(error).toMatchObject({ name: 'InvalidLogitsError' });
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBeNull();
    expect(server.posts).toEqual([]);
  });

  test.each([
    ['refused', refusal(503, 'Loading')],
    ['out of requests', refusal(429, 'Slow down', 'x', { 'retry-after': '99' })],
    ['broken behind its first chunk', broken([role()])],
  ])('takes a request back from a server that is %s', async (_, answer) => {
    const { hybrid } = await hybridOf({ answer, choose: remoteFirst });
    expect(await said(hybrid)).toBe('Here.');
    const { chunks, text } = await streamed(hybrid);
    expect(text).toBe('Here.');
    expect(shapes(chunks).filter((shape) => shape === 'role')).toHaveLength(1);
  });

  test('does not pass on a request that is wrong', async () => {
    const { hybrid, server } = await hybridOf();
    await expect(said(hybrid, { top_p: 3 })).rejects.toMatchObject({ param: 'top_p' });
    await expect(said(hybrid, { messages: [] })).rejects.toMatchObject({ name: 'BadRequestError' });
    expect(server.requests).toEqual([]);
  });

  test('ends with the failure of the engine that was asked last', async () => {
    const { hybrid } = await hybridOf({
      turn: { text: here, error: { name: 'InvalidLogitsError', message: 'no number', at: 0 } },
      answer: refusal(500, 'Out of order'),
    });
    const error = await said(hybrid).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'RemoteServerError', message: 'Out of order' });
  });
});

/** As the default, the other way round. */
const remoteFirst = ({ failed }: ChoiceFacts) => (failed ? 'local' : 'remote');

describe('a policy of its own', () => {
  test('is told the request, the engines and what failed', async () => {
    const seen: ChoiceFacts[] = [];
    const { hybrid } = await hybridOf({
      turn: { text: here, error: { name: 'InvalidLogitsError', message: 'no number', at: 0 } },
      choose: async (facts) => {
        seen.push(facts);
        return facts.failed ? 'remote' : 'local';
      },
    });
    expect(await said(hybrid, { model: 'scripted' })).toBe('There.');
    expect(seen).toMatchObject([
      { body: { model: 'scripted' }, local: { status: 'ready' }, remote: { status: 'ready' }, failed: null },
      { failed: { side: 'local', error: { name: 'InvalidLogitsError' } } },
    ]);
  });

  test('may leave it at a failure', async () => {
    const { hybrid, server } = await hybridOf({
      turn: { text: here, error: { name: 'InvalidLogitsError', message: 'no number', at: 0 } },
      choose: ({ failed }) => (failed ? null : 'local'),
    });
    await expect(said(hybrid)).rejects.toMatchObject({ name: 'InvalidLogitsError' });
    expect(server.requests).toEqual([]);
  });

  test('that chooses nothing, or an engine that is not there, is told so', async () => {
    const nothing = await hybridOf({ choose: () => 'both' as never });
    await expect(said(nothing.hybrid)).rejects.toMatchObject({ name: 'BadRequestError', param: 'choose' });
    const missing = await hybridOf({ local: () => null, choose: () => 'local' });
    await expect(said(missing.hybrid)).rejects.toMatchObject({ name: 'BadRequestError', param: 'choose' });
  });
});

describe('an abort', () => {
  test('does not make the other engine answer', async () => {
    const controller = new AbortController();
    const { hybrid } = await hybridOf({ answer: () => controller.abort(), choose: remoteFirst });
    const answer = hybrid.chat.completions.create({ messages }, { signal: controller.signal });
    await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('by leaving the stream ends the request', async () => {
    const { hybrid, server } = await hybridOf({
      answer: stuck([role(), content('There')]),
      choose: remoteFirst,
    });
    const stream = await hybrid.chat.completions.create({ messages, stream: true });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    await server.posts[0]!.left;
  });

  test('by closing does not wait for an engine that loads, and closes it when it has', async () => {
    let load = (_: Engine) => {};
    const loading = new Promise<Engine>((resolve) => {
      load = resolve;
    });
    const { hybrid, engine } = await hybridOf({ local: () => loading });
    await hybrid.close();
    expect(hybrid.state.status).toBe('closed');
    load(engine);
    while (engine.state.status !== 'closed') await new Promise((resolve) => setImmediate(resolve));
  });

  test('by closing ends both engines', async () => {
    const { hybrid, engine, remote } = await hybridOf();
    await hybrid.close();
    await hybrid.close();
    expect([hybrid.state.status, engine.state.status, remote.state.status]).toEqual([
      'closed',
      'closed',
      'closed',
    ]);
    await expect(said(hybrid)).rejects.toMatchObject({ name: 'EngineClosedError' });
  });
});

test('its models are those of both', async () => {
  const { hybrid, server } = await hybridOf();
  expect((await hybrid.models.list()).data.map(({ id }) => id)).toEqual(['scripted', 'served']);
  expect(await hybrid.models.retrieve('served')).toMatchObject({ owned_by: 'vllm' });
  await expect(hybrid.models.retrieve('other')).rejects.toMatchObject({ name: 'ModelNotFoundError' });
  await server.close();
  expect((await hybrid.models.list()).data.map(({ id }) => id)).toEqual(['scripted']);
});

test("OpenAI's client works on its fetch, and sees no call that was cut", async () => {
  const cut = [role(), call('get_weather'), argument('{"location": "Ro"}'), finish('length')];
  const { hybrid } = await hybridOf({ turn: cutCall, answer: events(cut) });
  const client = new OpenAI({ baseURL: 'http://engine/v1', apiKey: '-', fetch: hybrid.fetch });
  for (const model of ['scripted', 'served']) {
    const stream = await client.chat.completions.create({ model, messages, tools: [weather], stream: true });
    const calls: unknown[] = [];
    for await (const { choices } of stream) {
      if (choices[0]?.delta.tool_calls) calls.push(choices[0].delta.tool_calls);
    }
    expect(calls).toEqual([]);
    const { choices } = await client.chat.completions.create({ model, messages, tools: [weather] });
    expect(choices[0]!.message.tool_calls).toBeUndefined();
  }
});

test('all engines have one interface', async () => {
  const { hybrid, engine, remote } = await hybridOf();
  const all: ChatEngine[] = [engine, remote, hybrid];
  for (const one of all) expect(one.state.status).toBe('ready');
});

test.each([
  [{}, 'remote'],
  [{ local: null, remote: {} }, 'remote'],
  [{ local: 3, remote: null }, 'remote'],
])('%j is refused by its name', async (options, param) => {
  await expect(createHybridEngine(options as never)).rejects.toMatchObject({
    name: 'BadRequestError',
    param,
  });
});

test('an unknown option, a local engine or a policy that are none, are refused', async () => {
  const remote = await createRemoteEngine({ baseURL: 'http://localhost/v1' });
  const cases = [
    [{ local: null, remote, prefer: 'local' }, 'prefer'],
    [{ local: 3, remote }, 'local'],
    [{ local: null, remote, choose: 'local' }, 'choose'],
  ] as const;
  for (const [options, param] of cases) {
    await expect(createHybridEngine(options as never)).rejects.toMatchObject({ param });
  }
});
