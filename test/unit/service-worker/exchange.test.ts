/** One request from the service worker's side to the engine's and back, over a real port. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Answer, exchange, type Front } from '../../../src/service-worker/exchange.ts';
import { requestType } from '../../../src/service-worker/messages.ts';
import { EngineServer } from '../../../src/shared-engine/engine-server.ts';
import { FakeLocks } from './locks.ts';

let locks: FakeLocks;
let closeTab: () => void;
let stopServiceWorker: () => void;

beforeEach(() => {
  locks = new FakeLocks();
  vi.stubGlobal('navigator', { locks });
  closeTab = locks.hold('tab');
  stopServiceWorker = locks.hold('service worker');
});
afterEach(() => {
  closeTab();
  stopServiceWorker();
  vi.unstubAllGlobals();
});

type Fetch = (request: Request) => Promise<Response>;
const engineOf = (fetch: Fetch) => ({ fetch: fetch as typeof globalThis.fetch, close: async () => {} });

function ask(server: EngineServer, signal = new AbortController().signal): Promise<Answer | null> {
  const front: Front = {
    lock: 'tab',
    send: ({ request, lock }, port) => server.answer(port, structuredClone(request), lock),
  };
  const body = new TextEncoder().encode('{"a":1}').buffer;
  const request = { method: 'POST', path: '/x?y=1', headers: [['a', 'b'] as [string, string]], body };
  return exchange(front, { type: requestType, basePath: '/ai/v1', request, lock: 'service worker' }, signal);
}

/** An answer in events, and how many of them were read. */
function events(texts: string[]): { response: Response; read: () => number } {
  let read = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const text = texts[read++];
        if (text === undefined) controller.close();
        else controller.enqueue(new TextEncoder().encode(`data: ${text}\n\n`));
      },
    },
    { highWaterMark: 0 },
  );
  const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  return { response, read: () => read };
}

test('the request is the one that was made, below /v1, and the answer is the one that was given', async () => {
  const server = new EngineServer(async () =>
    engineOf(async (request) => {
      const { method, url, headers } = request;
      const said = { method, url, a: headers.get('a'), body: await request.json() };
      return Response.json(said, { status: 418, headers: { 'x-mine': 'yes' } });
    }),
  );
  const { response, ended } = (await ask(server))!;
  await ended;
  expect([response.status, response.headers.get('x-mine')]).toEqual([418, 'yes']);
  expect(await response.json()).toEqual({
    method: 'POST',
    url: 'http://engine/v1/x?y=1',
    a: 'b',
    body: { a: 1 },
  });
});

test('an event is read when the reader wants it', async () => {
  const { response: given, read } = events(['1', '2', '3']);
  const { response, ended } = (await ask(new EngineServer(async () => engineOf(async () => given))))!;
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader.read()).value).toBe('data: 1\n\n');
  // One more is on its way to the decoder.
  await vi.waitFor(() => expect(read()).toBe(2));
  expect((await reader.read()).value).toBe('data: 2\n\n');
  expect((await reader.read()).value).toBe('data: 3\n\n');
  expect((await reader.read()).done).toBe(true);
  await ended;
});

test('an engine that can not be loaded is an answer, and the next request tries again', async () => {
  let loads = 0;
  const server = new EngineServer(async () => {
    if (++loads === 1) throw new Error('No network.');
    return engineOf(async () => new Response('there'));
  });
  const { response } = (await ask(server))!;
  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({ error: { message: 'No network.' } });
  expect(await (await ask(server))!.response.text()).toBe('there');
  await ask(server);
  expect(loads).toBe(2);
});

/** Never answers; gives the signals that it was asked with. */
function silent(): { server: EngineServer; signals: AbortSignal[] } {
  const signals: AbortSignal[] = [];
  const server = new EngineServer(async () =>
    engineOf(({ signal }) => {
      signals.push(signal);
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    }),
  );
  return { server, signals };
}

test('an abort reaches the engine, before the answer and in its middle', async () => {
  const { server, signals } = silent();
  const aborting = new AbortController();
  const answer = ask(server, aborting.signal);
  await vi.waitFor(() => expect(signals).toHaveLength(1));
  aborting.abort();
  await expect(answer).rejects.toThrow('aborted');
  await vi.waitFor(() => expect(signals[0]!.aborted).toBe(true));

  let signal: AbortSignal | undefined;
  const streaming = new EngineServer(async () =>
    engineOf(async (request) => {
      signal = request.signal;
      return events(['1', '2']).response;
    }),
  );
  const { response, ended } = (await ask(streaming))!;
  await response.body!.cancel();
  await ended;
  await vi.waitFor(() => expect(signal!.aborted).toBe(true));
});

test('a service worker that is gone leaves the model free', async () => {
  const { server, signals } = silent();
  void ask(server);
  await vi.waitFor(() => expect(signals).toHaveLength(1));
  stopServiceWorker();
  await vi.waitFor(() => expect(signals[0]!.aborted).toBe(true));
});

test('where the tab goes before the answer, or gives its place up, another one is to be asked', async () => {
  const { server, signals } = silent();
  const lost = ask(server);
  await vi.waitFor(() => expect(signals).toHaveLength(1));
  closeTab();
  expect(await lost).toBeNull();

  closeTab = locks.hold('tab');
  const left = ask(server);
  await vi.waitFor(() => expect(signals).toHaveLength(2));
  await server.close();
  await vi.waitFor(() => expect(signals[1]!.aborted).toBe(true));
  closeTab();
  expect(await left).toBeNull();
});

test('a stream whose tab goes ends in an error event', async () => {
  const { response: given } = events(['1', '2']);
  const { response, ended } = (await ask(new EngineServer(async () => engineOf(async () => given))))!;
  closeTab();
  await ended;
  const [first, last, rest] = (await response.text()).split('\n\n');
  expect([first, rest]).toEqual(['data: 1', '']);
  expect(JSON.parse(last!.slice('data: '.length))).toMatchObject({
    error: { code: 'engine_lost', type: 'server_error', message: expect.stringContaining('Ask again') },
  });
});

test('an answer without a body has none', async () => {
  const server = new EngineServer(async () => engineOf(async () => new Response(null, { status: 204 })));
  const { response } = (await ask(server))!;
  expect([response.status, response.body]).toEqual([204, null]);
});
