/** An engine of ours as the server of another one: what comes out is what went in. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import OpenAI from 'openai';
import { afterEach, expect, test } from 'vitest';
import { collectCompletion } from '../../../src/chat/collector.ts';
import type { ChatCompletion } from '../../../src/chat/types.ts';
import { createRemoteEngine, type RemoteEngine } from '../../../src/remote/index.ts';
import { cutCall, messages, serveTurns, weather, weatherCall } from '../http/engine.ts';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** A `fetch` behind a port. */
async function listen(fetch: typeof globalThis.fetch): Promise<string> {
  const server: Server = createServer(async (incoming, outgoing) => {
    const left = new AbortController();
    outgoing.on('close', () => left.abort());
    try {
      const response = await fetch(`http://engine${incoming.url}`, {
        method: incoming.method,
        headers: incoming.headers as Record<string, string>,
        body: incoming.method === 'POST' ? await text(incoming.setEncoding('utf8')) : null,
        signal: left.signal,
      });
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      if (response.body)
        Readable.fromWeb(response.body as never)
          .on('error', () => {})
          .pipe(outgoing);
      else outgoing.end();
    } catch {
      outgoing.destroy();
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

async function text(stream: AsyncIterable<unknown>): Promise<string> {
  let read = '';
  for await (const part of stream) read += String(part);
  return read;
}

async function remoteOf(turn: string): Promise<{ remote: RemoteEngine; local: ChatCompletion }> {
  const { engine } = await serveTurns([turn]);
  open.push(() => engine.close());
  const local = await engine.chat.completions.create({ messages, tools: [weather] });
  const remote = await createRemoteEngine({ baseURL: await listen(engine.fetch) });
  open.push(() => remote.close());
  return { remote, local };
}

/** Without what is another for each request. */
function comparable({ id, created, usage, ...completion }: ChatCompletion) {
  const { prompt_tokens, completion_tokens } = usage!;
  const ids = /chatcmpl-tool-[0-9a-f]{32}/g;
  return { ...JSON.parse(JSON.stringify(completion).replace(ids, 'call')), prompt_tokens, completion_tokens };
}

test.each([
  ['thoughts and content', '<think>\nHm.\n</think>\n\nFour.'],
  ['calls', `<think>\nHm.\n</think>\n\nLook: ${weatherCall}${weatherCall}`],
  ['a call that was cut', `Look: ${weatherCall}${cutCall}`],
])('%s', async (_, turn) => {
  const { remote, local } = await remoteOf(turn);
  const { completions } = remote.chat;
  const whole = await completions.create({ messages, tools: [weather] });
  expect(comparable(whole)).toEqual(comparable(local));
  const stream = await completions.create({
    messages,
    tools: [weather],
    stream: true,
    stream_options: { include_usage: true },
  });
  expect(comparable(await collectCompletion(stream))).toEqual(comparable(local));
});

test('errors keep their names, and models theirs', async () => {
  const { remote } = await remoteOf('Four.');
  expect((await remote.models.list()).data.map(({ id }) => id)).toEqual(['scripted']);
  await expect(remote.chat.completions.create({ messages, top_p: 3 })).rejects.toMatchObject({
    name: 'BadRequestError',
    param: 'top_p',
  });
  await expect(remote.chat.completions.create({ messages, model: 'other' })).rejects.toMatchObject({
    name: 'ModelNotFoundError',
  });
});

test("OpenAI's client works on a remote engine's fetch", async () => {
  const { remote } = await remoteOf(`<think>\nHm.\n</think>\n\n${cutCall}`);
  const client = new OpenAI({
    baseURL: 'http://engine/v1',
    apiKey: '-',
    fetch: remote.fetch,
    maxRetries: 0,
  });
  expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['scripted']);
  const stream = await client.chat.completions.create({
    model: 'scripted',
    messages,
    tools: [weather],
    stream: true,
  });
  let reasoning = '';
  const seen: unknown[] = [];
  for await (const { choices } of stream) {
    const [choice] = choices;
    reasoning += (choice?.delta as { reasoning?: string } | undefined)?.reasoning ?? '';
    if (choice?.delta.tool_calls) seen.push(choice.delta.tool_calls);
  }
  expect(reasoning).toBe('Hm.');
  // A client that saw it begin would run it.
  expect(seen).toEqual([]);
  const error = await client.chat.completions
    .create({ model: 'other', messages })
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(OpenAI.NotFoundError);
});
