/** Answers that the server has split. */
import { describe, expect, test } from 'vitest';
import type { RemoteCreateParams } from '../../../src/remote/index.ts';
import { broken, chunk, content, events, finish, reasoning, role, usage } from './replay-server.ts';
import { chunksOf, messages, parts, serve } from './served.ts';

const thought = [role(), reasoning('Let me '), reasoning('see.'), content('It is '), content('18.')];

describe('an answer', () => {
  test('has its parts in chunks of one kind, and its usage where asked for', async () => {
    const { engine, server } = await serve(events([...thought, finish('stop'), usage(7, 5)]));
    const chunks = await chunksOf(engine, { stream_options: { include_usage: true } });
    expect(parts(chunks)).toEqual([
      { role: 'assistant' },
      { reasoning: 'Let me ' },
      { reasoning: 'see.' },
      { content: 'It is ' },
      { content: '18.' },
      { end: 'stop' },
    ]);
    expect(chunks.map((one) => one.usage)).toEqual([
      ...chunks.slice(1).map(() => null),
      { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
    ]);
    expect(server.posts[0]!.path).toBe('/v1/chat/completions');
    expect(server.posts[0]!.body).toEqual({
      messages,
      model: 'served',
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  test('is the same whole', async () => {
    const { engine } = await serve(events([...thought, finish('stop'), usage(7, 5)]));
    const completion = await engine.chat.completions.create({ messages });
    expect(completion).toMatchObject({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      model: 'served',
      usage: { prompt_tokens: 7, completion_tokens: 5 },
    });
    expect(completion.choices).toEqual([
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'It is 18.',
          reasoning: 'Let me see.',
          refusal: null,
        },
        logprobs: null,
        finish_reason: 'stop',
        stop_reason: null,
      },
    ]);
  });

  test('tells no usage in a stream that did not ask for it', async () => {
    const { engine } = await serve(events([...thought, finish('stop'), usage(7, 5)]));
    const chunks = await chunksOf(engine);
    expect(chunks).toHaveLength(6);
    expect(chunks.some((one) => 'usage' in one)).toBe(false);
  });

  test("has its reasoning from either of the servers' names, and once where both are sent", async () => {
    const older = [
      role(),
      chunk({ reasoning_content: 'Old ' }),
      chunk({ reasoning: 'both', reasoning_content: 'both' }),
      chunk({ reasoning: '', reasoning_content: ' again' }),
      finish('stop'),
    ];
    const { engine } = await serve(events(older));
    const { choices } = await engine.chat.completions.create({ messages });
    expect(choices[0]!.message).toMatchObject({ reasoning: 'Old both again', content: null });
  });

  test.each([
    ['reasoning_content', { reasoning: null, reasoning_content: 'Let me see.', content: 'It is 18.' }],
    ['both', { reasoning: 'Let me see.', reasoning_content: 'Let me see.', content: 'It is 18.' }],
    ['content', { reasoning: null, content: '<think>\nLet me see.\n</think>\n\nIt is 18.' }],
  ] as const)('has its reasoning in %s where asked for', async (field, message) => {
    const { engine, server } = await serve(events([...thought, finish('stop')]), { reasoningField: field });
    const { choices } = await engine.chat.completions.create({ messages });
    expect(choices[0]!.message).toMatchObject(message);
    expect(server.posts[0]!.body).not.toHaveProperty('reasoning_field');
  });

  test('is without reasoning, and without what could show it, where that is not wanted', async () => {
    const { engine, server } = await serve(
      events([
        { ...role(), prompt_token_ids: [1, 2] },
        chunk({ reasoning: 'Hm' }, { token_ids: [3], logprobs: { content: [{ token: 'Hm' }] } }),
        chunk({ content: 'Yes' }, { token_ids: [4] }),
        finish('stop'),
      ]),
    );
    const chunks = await chunksOf(engine, { include_reasoning: false, return_token_ids: true });
    expect(parts(chunks)).toEqual([{ role: 'assistant' }, { content: 'Yes' }, { end: 'stop' }]);
    expect(JSON.stringify(chunks)).not.toMatch(/Hm|token_ids/);
    expect(server.posts[0]!.body.include_reasoning).toBe(false);
  });

  test('has the log probabilities and token ids that the server tells', async () => {
    const one = { token: 'Yes', logprob: -0.1, bytes: [89], top_logprobs: [] };
    const { engine } = await serve(
      events([
        { ...role(), prompt_token_ids: [1, 2] },
        // A token of a marker: no text.
        chunk({}, { token_ids: [3] }),
        chunk({ content: 'Yes' }, { token_ids: [4], logprobs: { content: [one] } }),
        finish('stop'),
      ]),
    );
    const completion = await engine.chat.completions.create({
      messages,
      logprobs: true,
      return_token_ids: true,
    });
    expect(completion.prompt_token_ids).toEqual([1, 2]);
    expect(completion.choices[0]).toMatchObject({ token_ids: [3, 4], logprobs: { content: [one] } });
  });

  test('has all choices', async () => {
    const { engine, server } = await serve(
      events([
        role(0),
        role(1),
        content('a', 0),
        content('b', 1),
        reasoning('B', 1),
        finish('length', null, 1),
        finish('stop', 42, 0),
        usage(3, 4),
      ]),
    );
    const { choices } = await engine.chat.completions.create({ messages, n: 2 });
    expect(
      choices.map(({ message, finish_reason, stop_reason }) => [
        message.content,
        message.reasoning,
        finish_reason,
        stop_reason,
      ]),
    ).toEqual([
      ['a', null, 'stop', 42],
      ['b', 'B', 'length', null],
    ]);
    expect(server.posts[0]!.body.n).toBe(2);
  });
});

describe('a request', () => {
  const ok = events([role(), content('Yes'), finish('stop')]);

  test("passes on the server's own fields, and nothing that is unset", async () => {
    const { engine, server } = await serve(ok, { apiKey: 'secret', headers: { 'X-Team': 'a' } });
    await engine.chat.completions.create({
      messages,
      temperature: 0.5,
      top_k: 20,
      seed: null,
      chat_template_kwargs: { enable_thinking: false },
      priority: 3,
      guided_decoding_backend: 'xgrammar',
    });
    const { body, headers } = server.posts[0]!;
    expect(body).toMatchObject({
      temperature: 0.5,
      top_k: 20,
      chat_template_kwargs: { enable_thinking: false },
      priority: 3,
      guided_decoding_backend: 'xgrammar',
    });
    expect(body).not.toHaveProperty('seed');
    expect(headers).toMatchObject({ authorization: 'Bearer secret', 'x-team': 'a' });
  });

  test('gives reasoning back under both of its names', async () => {
    const { engine, server } = await serve(ok);
    await engine.chat.completions.create({
      messages: [
        ...messages,
        { role: 'assistant', content: 'A', reasoning: 'r' },
        { role: 'assistant', content: 'B', reasoning_content: 's' },
        { role: 'assistant', content: 'C', reasoning: '', reasoning_content: 't' },
      ],
    });
    expect(server.posts[0]!.body.messages.slice(1)).toEqual([
      { role: 'assistant', content: 'A', reasoning: 'r', reasoning_content: 'r' },
      { role: 'assistant', content: 'B', reasoning: 's', reasoning_content: 's' },
      { role: 'assistant', content: 'C', reasoning: 't', reasoning_content: 't' },
    ]);
  });

  test('asks the server for its only model, once, where none is named', async () => {
    const { engine, server } = await serve(ok, { model: undefined });
    expect(engine.state.model).toEqual({ id: null, contextLength: null });
    let changes = 0;
    engine.addEventListener('state', () => changes++);
    await engine.chat.completions.create({ messages });
    await engine.chat.completions.create({ messages });
    await engine.chat.completions.create({ messages, model: 'adapter' });
    expect(server.posts.map(({ body }) => body.model)).toEqual(['served', 'served', 'adapter']);
    expect(server.requests).toHaveLength(4);
    expect(engine.state.model).toEqual({ id: 'served', contextLength: 4096 });
    expect(changes).toBe(1);
  });

  test.each([
    [{}, 'messages'],
    [{ messages: [] }, 'messages'],
    [{ messages, stream_options: { include_usage: true } }, 'stream_options'],
    [{ messages, include_details: true }, 'include_details'],
    [{ messages, reasoning_field: 'thoughts' }, 'reasoning_field'],
    [{ messages, n: 0 }, 'n'],
  ])('that is wrong is refused before it is sent: %j', async (body, param) => {
    const { engine, server } = await serve(ok);
    const error = await engine.chat.completions
      .create(body as RemoteCreateParams)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'BadRequestError', param });
    expect(server.requests).toEqual([]);
  });

  test('tells how far it is', async () => {
    const { engine } = await serve(ok);
    const states: string[] = [];
    await engine.chat.completions.create({ messages }, { onProgress: ({ state }) => states.push(state) });
    expect(states).toEqual(['queued', 'prefilling', 'decoding']);
  });
});

describe('models', () => {
  test('are those of the server', async () => {
    const { engine } = await serve(broken([]));
    expect((await engine.models.list()).data).toMatchObject([{ id: 'served', max_model_len: 4096 }]);
    expect(await engine.models.retrieve('served')).toMatchObject({ id: 'served' });
    await expect(engine.models.retrieve('other')).rejects.toMatchObject({
      name: 'ModelNotFoundError',
      message: expect.stringContaining('"served"'),
    });
  });
});
