import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collectCompletion } from '../../../src/chat/collector.ts';
import type { ChatCompletionChunk, ChatCompletionCreateParamsStreaming } from '../../../src/chat/types.ts';
import { BadRequestError, DeviceLostError, EngineClosedError } from '../../../src/errors.ts';
import type { ParserEvent } from '../../../src/parser/events.ts';
import { device, done, ScriptedHost, ScriptedParser, send, started, timings, tokens } from './scripted.ts';

const body: ChatCompletionCreateParamsStreaming = {
  messages: [{ role: 'user', content: 'Hi' }],
  stream: true,
};
const word = (text: string, count: number): ParserEvent[] => [{ type: 'content', text, tokens: count }];
const words = [word('a', 1), word('b', 2), word('c', 3), word('d', 4)];
const newHost = (script: ParserEvent[][] = words) => new ScriptedHost(() => new ScriptedParser(script));

async function read(stream: AsyncIterable<ChatCompletionChunk>): Promise<ChatCompletionChunk[]> {
  const chunks: ChatCompletionChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

describe('chat.completions.create', () => {
  it('streams chunks: the role first, then deltas, then one finish reason', async () => {
    const host = newHost();
    const stream = await host.completions.create(body);
    send(await host.sent(), started, tokens(0, [0]), tokens(1, [1, 2]), done('eos', 4));
    const chunks = await read(stream);
    expect(chunks.map(({ choices }) => choices)).toEqual([
      [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }],
      [{ index: 0, delta: { content: 'a' }, finish_reason: null }],
      [{ index: 0, delta: { content: 'bc' }, finish_reason: null }],
      [{ index: 0, delta: {}, finish_reason: 'stop', stop_reason: null }],
    ]);
    for (const chunk of chunks) {
      expect(chunk).toMatchObject({ id: chunks[0]?.id, object: 'chat.completion.chunk', model: 'tiny' });
      expect(chunk.id).toMatch(/^chatcmpl-[0-9a-f]{32}$/);
      expect(chunk).not.toHaveProperty('usage');
    }
  });

  it('ends a stream with usage and details where they were asked for', async () => {
    const host = newHost();
    const stream = await host.completions.create({
      ...body,
      stream_options: { include_usage: true },
      include_details: true,
    });
    send(await host.sent(), started, tokens(0, [0], 0, [7]), done('length', 1));
    const chunks = await read(stream);
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: {
        prompt_tokens: 3,
        completion_tokens: 1,
        total_tokens: 4,
        prompt_tokens_details: { cached_tokens: 1 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
      tokenprism: {
        prompt: 'Hi',
        prompt_token_ids: [1, 2, 3],
        seed: 5,
        allowed_tokens: [[7]],
        timings,
        device,
      },
    });
  });

  it('answers without streaming', async () => {
    const host = newHost();
    const answer = host.completions.create({ messages: body.messages });
    send(await host.sent(), started, tokens(0, [0, 1]), done('eos', 3));
    expect(await answer).toMatchObject({
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'ab' }, finish_reason: 'stop' }],
      usage: { completion_tokens: 3, total_tokens: 6 },
    });
  });

  it('interleaves choices by index', async () => {
    const host = newHost();
    const answer = host.completions.create({ messages: body.messages, n: 2 });
    const request = await host.sent();
    expect(request.job.choices).toBe(2);
    send(request, started, tokens(0, [0], 1), tokens(0, [2], 0), tokens(1, [3], 1), done('eos', 2, 2));
    expect((await answer).choices.map(({ message }) => message.content)).toEqual(['c', 'ad']);
    expect(host.parsers).toHaveLength(2);
  });

  it('cuts in the worker at a stop string and corrects the usage of one that came too late', async () => {
    const host = newHost();
    const stream = await host.completions.create({
      ...body,
      stop: 'bc',
      stream_options: { include_usage: true },
    });
    const request = await host.sent();
    send(request, started, tokens(0, [0, 1, 2, 3]), tokens(4, [3]), done('eos', 5));
    const chunks = await read(stream);
    expect(request.cuts).toEqual([{ choice: 0, at: 3 }]);
    expect(chunks.at(-1)?.usage).toMatchObject({ completion_tokens: 3, total_tokens: 6 });
    expect(chunks.flatMap(({ choices }) => choices).filter((choice) => choice.finish_reason)).toHaveLength(1);
    expect(await collectCompletion(arrayStream(chunks))).toMatchObject({
      choices: [{ message: { content: 'a' }, finish_reason: 'stop' }],
    });
  });

  it('gives the end of a cut choice at once, before the worker is done', async () => {
    const host = newHost();
    const stream = await host.completions.create({ ...body, stop: 'b' });
    const chunks = stream[Symbol.asyncIterator]();
    send(await host.sent(), started, tokens(0, [0, 1]));
    const kinds = [await chunks.next(), await chunks.next(), await chunks.next()];
    expect(kinds.map(({ value }) => value?.choices[0]?.finish_reason)).toEqual([null, null, 'stop']);
  });

  it('sends requests in the order of the calls', async () => {
    const host = newHost();
    const calls = [
      host.completions.create({ ...body, seed: 1 }, { signal: new AbortController().signal }),
      host.completions.create({ ...body, seed: 2 }),
      host.completions.create({ ...body, seed: 3 }, { signal: new AbortController().signal }),
    ];
    await Promise.all(calls);
    expect(host.requests.map(({ job }) => job.sampling.seed)).toEqual([1, 2, 3]);
  });

  it('rejects a bad request before anything is sent', async () => {
    const host = newHost();
    await expect(host.completions.create({ ...body, temperature: 9 })).rejects.toBeInstanceOf(
      BadRequestError,
    );
    expect(host.requests).toHaveLength(0);
  });

  it('rejects where the engine is not ready', async () => {
    const host = newHost();
    host.notReady = new EngineClosedError('closed');
    await expect(host.completions.create(body)).rejects.toBe(host.notReady);
  });

  it('throws an error of the worker after the chunks before it', async () => {
    const host = newHost();
    const stream = await host.completions.create(body);
    const request = await host.sent();
    send(request, started, tokens(0, [0]));
    request.listener.fail(new DeviceLostError('lost'));
    const seen: unknown[] = [];
    await expect(
      (async () => {
        for await (const chunk of stream) seen.push(chunk.choices[0]?.delta);
      })(),
    ).rejects.toBeInstanceOf(DeviceLostError);
    expect(seen).toEqual([{ role: 'assistant' }, { content: 'a' }]);
  });

  it('throws where the worker leaves tokens out, and aborts the request', async () => {
    const host = newHost();
    const answer = host.completions.create({ messages: body.messages });
    const request = await host.sent();
    send(request, started, tokens(1, [1]));
    await expect(answer).rejects.toMatchObject({ name: 'WorkerError' });
    expect(request.aborted).toBe(true);
  });

  it('reports the way of the request to its first token', async () => {
    const host = newHost();
    const seen: unknown[] = [];
    const answer = host.completions.create(
      { messages: body.messages },
      { onProgress: (progress) => seen.push(progress) },
    );
    const request = await host.sent();
    send(
      request,
      { type: 'state', state: 'queued' },
      { type: 'state', state: 'prefilling', done: 64, total: 90 },
    );
    send(request, started, done('eos', 1));
    await answer;
    expect(seen).toEqual([
      { state: 'queued', done: null, total: null },
      { state: 'prefilling', done: 64, total: 90 },
    ]);
  });
});

describe('aborting', () => {
  it('rejects at once with an AbortError and frees the worker', async () => {
    const host = newHost();
    const controller = new AbortController();
    const answer = host.completions.create({ messages: body.messages }, { signal: controller.signal });
    const request = await host.sent();
    send(request, started, tokens(0, [0]));
    controller.abort('enough');
    await expect(answer).rejects.toMatchObject({ name: 'AbortError', status: 499, cause: 'enough' });
    expect(request.aborted).toBe(true);
    send(request, tokens(1, [1]), done('abort', 2));
  });

  it('sends nothing where the signal was aborted before', async () => {
    const host = newHost();
    await expect(host.completions.create(body, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(host.requests).toHaveLength(0);
  });

  it('does not wait for an engine that is coming up again', async () => {
    const host = newHost();
    host.ready = () => new Promise(() => {});
    const controller = new AbortController();
    const answer = host.completions.create(body, { signal: controller.signal });
    controller.abort();
    await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
    expect(host.requests).toHaveLength(0);
  });

  it.each([
    ['signal', { signal: 'stop' }],
    ['onProgress', { onProgress: 1 }],
  ])('names a %s that is none', async (param, options) => {
    await expect(newHost().completions.create(body, options as never)).rejects.toMatchObject({ param });
  });

  it('lets go of the signal when the request is over', async () => {
    const host = newHost();
    const controller = new AbortController();
    const answer = host.completions.create({ messages: body.messages }, { signal: controller.signal });
    const request = await host.sent();
    send(request, started, done('eos', 1));
    await answer;
    controller.abort();
    expect(request.aborted).toBe(false);
  });

  it('aborts when the loop over a stream is left', async () => {
    const host = newHost();
    const stream = await host.completions.create(body);
    const request = await host.sent();
    send(request, started, tokens(0, [0, 1, 2]));
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content) break;
    }
    expect(request.aborted).toBe(true);
    expect(stream.controller.signal.aborted).toBe(true);
  });

  it('aborts when the reader leaves while it waits for a chunk', async () => {
    const host = newHost();
    const chunks = (await host.completions.create(body))[Symbol.asyncIterator]();
    const waiting = chunks.next();
    await chunks.return?.();
    expect(await waiting).toEqual({ value: undefined, done: true });
    expect((await host.sent()).aborted).toBe(true);
  });

  it('throws from a stream whose controller was aborted', async () => {
    const host = newHost();
    const stream = await host.completions.create(body);
    send(await host.sent(), started);
    stream.controller.abort();
    await expect(read(stream)).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('does not abort a stream that was read to its end, which can be read once', async () => {
    const host = newHost();
    const stream = await host.completions.create(body);
    const request = await host.sent();
    send(request, started, done('eos', 1));
    await read(stream);
    expect(request.aborted).toBe(false);
    expect(stream.controller.signal.aborted).toBe(false);
    await expect(read(stream)).rejects.toMatchObject({ code: 'stream_already_read' });
  });
});

describe('streamed and collected', () => {
  /** Steps of a model's turn, one a token. */
  const step = fc.oneof(
    fc.record({ kind: fc.constant('reasoning' as const), text: fc.string({ maxLength: 4 }) }),
    fc.record({ kind: fc.constant('content' as const), text: fc.string({ maxLength: 4 }) }),
    fc.record({ kind: fc.constant('call' as const), whole: fc.boolean(), pieces: fc.array(fc.string()) }),
    fc.record({ kind: fc.constant('silent' as const) }),
  );

  type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

  function scriptOf(steps: Step[]): ParserEvent[][] {
    const script: ParserEvent[][] = [];
    let calls = 0;
    const add = (event: (tokens: number) => ParserEvent[]) => script.push(event(script.length + 1));
    for (const one of steps) {
      if (one.kind === 'silent') add(() => []);
      else if (one.kind !== 'call') add((count) => [{ type: one.kind, text: one.text, tokens: count }]);
      else {
        const index = calls++;
        add((count) => [{ type: 'call-start', index, id: `id${index}`, name: 'f', tokens: count }]);
        for (const text of one.pieces) {
          add((count) => [{ type: 'call-arguments', index, text: JSON.stringify(text), tokens: count }]);
        }
        const type = one.whole ? 'call-end' : 'call-incomplete';
        add((count) => [{ type, index, tokens: count }]);
      }
    }
    return script;
  }

  /** The message by its definition: texts joined, whole calls, cut calls apart. */
  function messageOf(script: ParserEvent[][]) {
    const events = script.flat();
    const text = (type: 'reasoning' | 'content') =>
      events.map((event) => (event.type === type ? event.text : '')).join('') || null;
    const calls = events.flatMap((event) => (event.type === 'call-start' ? [event] : []));
    const finished = (end: 'call-end' | 'call-incomplete') =>
      calls
        .filter(({ index }) => events.some((event) => event.type === end && event.index === index))
        .map(({ id, name, index }) => ({
          id,
          type: 'function',
          function: {
            name,
            arguments: events
              .map((event) => (event.type === 'call-arguments' && event.index === index ? event.text : ''))
              .join(''),
          },
        }));
    return {
      reasoning: text('reasoning'),
      content: text('content'),
      whole: finished('call-end'),
      cut: finished('call-incomplete'),
    };
  }

  it('are equal for every way to cut the tokens into messages', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 }),
        fc.constantFrom('eos' as const, 'length' as const),
        async (steps, sizes, end) => {
          const script = scriptOf(steps);
          const host = newHost(script);
          const streamed = await host.completions.create({
            ...body,
            stream_options: { include_usage: true },
          });
          const first = await host.sent();
          const collected = host.completions.create({ messages: body.messages });
          while (host.requests.length < 2) await Promise.resolve();
          const second = host.requests[1]!;
          send(first, started);
          let at = 0;
          for (let turn = 0; at < script.length; turn++) {
            const size = Math.min(sizes[turn % sizes.length]!, script.length - at);
            send(
              first,
              tokens(
                at,
                Array.from({ length: size }, (_, index) => at + index),
              ),
            );
            at += size;
          }
          send(first, done(end, at));
          send(second, started, tokens(0, [...script.keys()]), done(end, at));

          const chunks = await read(streamed);
          const fromStream = await collectCompletion(arrayStream(chunks));
          const answer = await collected;
          const neutral = { id: '', created: 0 };
          expect({ ...fromStream, ...neutral }).toEqual({ ...answer, ...neutral });

          const expected = messageOf(script);
          const choice = answer.choices[0]!;
          expect(choice.message.reasoning).toBe(expected.reasoning);
          expect(choice.message.content).toBe(expected.content);
          expect(choice.message.tool_calls ?? []).toEqual(expected.whole);
          expect(choice.incomplete_tool_calls ?? []).toEqual(expected.cut);
          const stop = expected.whole.length > 0 ? 'tool_calls' : 'stop';
          expect(choice.finish_reason).toBe(end === 'length' ? 'length' : stop);
          for (const chunk of chunks.slice(1, -2)) {
            expect(Object.keys(chunk.choices[0]!.delta)).toHaveLength(1);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

async function* arrayStream(chunks: ChatCompletionChunk[]): AsyncGenerator<ChatCompletionChunk> {
  yield* chunks;
}
