/** Streams that break off or hold what is no chunk: an error where they are read, never an answer that looks finished. */
import { describe, expect, test } from 'vitest';
import { argument, broken, call, content, events, finish, reasoning, role } from './replay-server.ts';
import { errorOf, messages, read, serve } from './served.ts';

describe('a stream that breaks off', () => {
  const states = [
    ['behind the role', [role()], ''],
    ['in reasoning', [role(), reasoning('Hm')], 'Hm'],
    ['in content', [role(), reasoning('Hm'), content('Ye')], 'HmYe'],
    ['behind the name of a call', [role(), call('f')], ''],
    ['in a call', [role(), call('f'), argument('{"a": ')], ''],
    ['behind a call', [role(), call('f'), argument('{}')], ''],
    ['in the middle of an event', [role(), content('Ye'), 'data: {"id": "chatc'], 'Ye'],
  ] as const;

  test.each(states)('%s, with its connection, is an error', async (_, chunks, text) => {
    const { engine, server } = await serve(broken(chunks));
    expect(await read(engine)).toEqual({
      text,
      error: expect.objectContaining({ name: 'RemoteServerError', code: 'connection_failed' }),
      last: null,
    });
    const whole = await errorOf(engine.chat.completions.create({ messages }));
    expect(whole).toMatchObject({ name: 'RemoteServerError', code: 'connection_failed' });
    expect(server.posts).toHaveLength(2);
  });

  test.each(states)('%s, without a word, is an error', async (_, chunks, text) => {
    const isInEvent = typeof chunks.at(-1) === 'string';
    for (const done of isInEvent ? [false] : [true, false]) {
      const { engine } = await serve(events(chunks, { done }));
      expect(await read(engine)).toEqual({
        text,
        error: expect.objectContaining({ name: 'RemoteServerError', code: 'incomplete_stream' }),
        last: null,
      });
    }
  });

  test.each(states.slice(0, -1))(
    '%s, with an error of the server, is that error',
    async (_, chunks, text) => {
      const { engine } = await serve(
        events([...chunks, { error: { message: 'Out of memory', type: 'InternalServerError', code: 500 } }]),
      );
      expect(await read(engine)).toEqual({
        text,
        error: expect.objectContaining({ name: 'RemoteServerError', message: 'Out of memory' }),
        last: null,
      });
    },
  );

  test('for one of its choices is an error', async () => {
    const { engine } = await serve(events([role(0), role(1), finish('stop', null, 0)]));
    const error = await errorOf(engine.chat.completions.create({ messages, n: 2 }));
    expect(error).toMatchObject({ code: 'incomplete_stream', message: expect.stringContaining('choice 1') });
  });

  test('behind the last finish reason is whole, its usage unknown', async () => {
    for (const answer of [
      broken([role(), content('Yes'), finish('stop')]),
      events([role(), content('Yes'), finish('stop')], { done: false }),
    ]) {
      const { engine } = await serve(answer);
      const completion = await engine.chat.completions.create({ messages });
      expect(completion.choices[0]).toMatchObject({ message: { content: 'Yes' }, finish_reason: 'stop' });
      expect(completion).not.toHaveProperty('usage');
    }
  });

  test.each(['abort', 'error', 'repetition'])('with the finish reason %s is an error', async (reason) => {
    const { engine } = await serve(events([role(), content('Ye'), finish(reason)]));
    expect(await read(engine)).toEqual({
      text: 'Ye',
      error: expect.objectContaining({ name: 'RemoteServerError', code: 'answer_aborted' }),
      last: null,
    });
  });
});

describe('an event', () => {
  test.each([
    ['no JSON', 'data: {"choices": [\n\n'],
    ['no object', 'data: 3\n\n'],
    ['no choices', 'data: {"id": "x"}\n\n'],
    ['a delta that is no object', 'data: {"choices": [{"index": 0, "delta": "x"}]}\n\n'],
    ['a content that is no text', 'data: {"choices": [{"index": 0, "delta": {"content": 3}}]}\n\n'],
    ['a choice too many', 'data: {"choices": [{"index": 1, "delta": {}}]}\n\n'],
    ['calls that are no array', 'data: {"choices": [{"index": 0, "delta": {"tool_calls": {}}}]}\n\n'],
    [
      'arguments that are no text',
      'data: {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": {}}}]}}]}\n\n',
    ],
  ])('with %s is an error', async (_, event) => {
    const { engine, server } = await serve(events([role(), event, finish('stop')]));
    const error = await errorOf(engine.chat.completions.create({ messages }));
    expect(error).toMatchObject({ name: 'RemoteServerError', code: 'invalid_chunk' });
    expect(server.posts).toHaveLength(1);
  });

  test.each([
    ['in one line', 'data: ', 'x'.repeat(2 ** 20)],
    ['in many lines', '', `data: ${'x'.repeat(2 ** 20)}\n`],
    ['in a name without an end', '', 'x'.repeat(2 ** 20)],
  ])('without an end, %s, is an error', async (_, start, piece) => {
    const { engine } = await serve(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(role())}\n\n${start}`);
      while (!response.destroyed) {
        await new Promise<void>((resolve) => {
          response.write(piece, () => resolve());
        });
      }
    });
    const error = await errorOf(engine.chat.completions.create({ messages }));
    expect(error).toMatchObject({ name: 'RemoteServerError', code: 'invalid_chunk' });
    expect(String(error)).toContain('more than 16777216 characters');
  });

  test('may come in pieces, with comments, other line ends and any spacing', async () => {
    const text = JSON.stringify(content('Yés'));
    const bytes = Buffer.from(
      `: ping\r\n\r\ndata:${text}\r\n\r\ndata: ${JSON.stringify(finish('stop'))}\n\n`,
    );
    const { engine } = await serve(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const byte of bytes) {
        await new Promise<void>((resolve) => {
          response.write(Uint8Array.of(byte), () => resolve());
        });
      }
      response.end();
    });
    expect(await read(engine)).toEqual({ text: 'Yés', error: null, last: 'stop' });
  });
});
