/** Answers that the server has split. */
import { afterEach, describe, expect, test } from 'vitest';
import type { ChatCompletionChunk } from '../../../src/chat/types.ts';
import {
  createRemoteEngine,
  type RemoteCreateParams,
  type RemoteEngine,
  type RemoteEngineOptions,
} from '../../../src/remote/index.ts';
import { runTools, tool } from '../../../src/tool-loop/run-tools.ts';
import {
  type Answer,
  argument,
  broken,
  call,
  chunk,
  content,
  events,
  finish,
  ReplayServer,
  reasoning,
  role,
  usage,
} from './replay-server.ts';

const messages = [{ role: 'user' as const, content: 'Hi' }];
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const thing of open.splice(0).reverse()) await thing.close();
});

async function serve(
  answers: Answer | Answer[],
  options: Partial<RemoteEngineOptions> = {},
): Promise<{ engine: RemoteEngine; server: ReplayServer }> {
  const server = await ReplayServer.start(...[answers].flat());
  const engine = await createRemoteEngine({ baseURL: server.baseURL, model: 'served', ...options });
  open.push(server, engine);
  return { engine, server };
}

async function chunksOf(
  engine: RemoteEngine,
  more: Partial<RemoteCreateParams> = {},
): Promise<ChatCompletionChunk[]> {
  const stream = await engine.chat.completions.create({ messages, ...more, stream: true });
  const chunks: ChatCompletionChunk[] = [];
  for await (const one of stream) chunks.push(one);
  return chunks;
}

/** What the chunks say of choice 0, without ids and times. */
const parts = (chunks: readonly ChatCompletionChunk[]) =>
  chunks.flatMap(({ choices }) =>
    choices.map(({ delta, finish_reason: end, ...more }) => ({
      ...delta,
      ...(end && { end }),
      ...(more.incomplete_tool_calls && { incomplete: more.incomplete_tool_calls }),
    })),
  );

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

describe('calls', () => {
  const weather = [
    role(),
    reasoning('Two.'),
    call('get_weather', 0),
    argument('{"city": ', 0),
    argument('"Rome"}', 0),
    call('get_time', 1),
    argument('{}', 1),
  ];

  test('have their names once, and their arguments as they come', async () => {
    const { engine } = await serve(events([...weather, finish('tool_calls')]));
    const chunks = await chunksOf(engine);
    expect(parts(chunks)).toEqual([
      { role: 'assistant' },
      { reasoning: 'Two.' },
      {
        tool_calls: [
          {
            index: 0,
            id: 'chatcmpl-tool-0',
            type: 'function',
            function: { name: 'get_weather', arguments: '' },
          },
        ],
      },
      { tool_calls: [{ index: 0, function: { arguments: '{"city": ' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '"Rome"}' } }] },
      {
        tool_calls: [
          {
            index: 1,
            id: 'chatcmpl-tool-1',
            type: 'function',
            function: { name: 'get_time', arguments: '' },
          },
        ],
      },
      { tool_calls: [{ index: 1, function: { arguments: '{}' } }] },
      { end: 'tool_calls' },
    ]);
  });

  test.each([
    ['stop', 'a named choice ends with stop on these servers'],
    ['tool_calls', 'an automatic one does not'],
  ])('end the answer with tool_calls after %s: %s', async (reason) => {
    const { engine } = await serve(events([...weather, finish(reason)]));
    const { choices } = await engine.chat.completions.create({ messages });
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls' });
    expect(choices[0]!.message.tool_calls?.map(({ function: called }) => called)).toEqual([
      { name: 'get_weather', arguments: '{"city": "Rome"}' },
      { name: 'get_time', arguments: '{}' },
    ]);
  });

  test.each([
    ['in the middle of a text', [argument('{"city": "Ro', 1)]],
    ['and completed by the server, which can not be told from a whole one', [argument('{"city": "Ro"}', 1)]],
    ['before its arguments', []],
  ])('that were cut by length are not among the whole ones: %s', async (_, cut) => {
    const chunks = [
      role(),
      call('get_time', 0),
      argument('{}', 0),
      call('get_weather', 1),
      ...cut,
      finish('length'),
    ];
    const { engine } = await serve(events(chunks));
    const { choices } = await engine.chat.completions.create({ messages });
    expect(choices[0]!.finish_reason).toBe('length');
    expect(choices[0]!.message.tool_calls?.map((one) => one.function.name)).toEqual(['get_time']);
    expect(choices[0]!.incomplete_tool_calls?.map((one) => one.function.name)).toEqual(['get_weather']);
    const streamed = await chunksOf(engine);
    expect(parts(streamed).at(-1)).toEqual({ end: 'length', incomplete: [1] });
  });

  test('before a text that was cut are whole', async () => {
    const { engine } = await serve(
      events([role(), call('get_time'), argument('{}'), content('And'), finish('length')]),
    );
    const { choices } = await engine.chat.completions.create({ messages });
    expect(choices[0]!.message.tool_calls).toHaveLength(1);
    expect(choices[0]).not.toHaveProperty('incomplete_tool_calls');
  });

  test('that a stop string ended are not whole', async () => {
    const { engine } = await serve(
      events([role(), call('get_weather'), argument('{"city": "R"}'), finish('stop', 'o')]),
    );
    const { choices } = await engine.chat.completions.create({ messages, stop: 'o' });
    expect(choices[0]).toMatchObject({ finish_reason: 'stop', stop_reason: 'o' });
    expect(choices[0]!.incomplete_tool_calls).toHaveLength(1);
    expect(choices[0]!.message).not.toHaveProperty('tool_calls');
  });

  test('are whole before an end that a server names in its own words', async () => {
    const { engine } = await serve(
      events([role(), call('get_weather'), argument('{"city": "R"}'), finish('tool_calls', 'end_turn')]),
    );
    const { choices } = await engine.chat.completions.create({ messages, stop: 'o' });
    expect(choices[0]!.message.tool_calls).toHaveLength(1);
    expect(choices[0]!.finish_reason).toBe('tool_calls');
  });

  test('whose arguments are no JSON object are not whole, whatever the server says', async () => {
    const { engine } = await serve(
      events([role(), call('get_weather'), argument('{"city": '), finish('tool_calls')]),
    );
    const { choices } = await engine.chat.completions.create({ messages });
    expect(choices[0]!.finish_reason).toBe('stop');
    expect(choices[0]!.incomplete_tool_calls).toHaveLength(1);
  });

  test.each([
    ['raw', '{"city": "Ro'],
    ['close', '{"city": "Ro"}'],
  ] as const)('that were cut stand among the others with incompleteToolCalls: %s', async (mode, text) => {
    const { engine } = await serve(
      events([role(), call('get_weather'), argument('{"city": "Ro'), finish('length')]),
      { incompleteToolCalls: mode },
    );
    const { choices } = await engine.chat.completions.create({ messages });
    expect(choices[0]!.message.tool_calls?.[0]?.function.arguments).toBe(text);
    expect(choices[0]!.finish_reason).toBe('length');
  });

  test('that were cut are apart where the request wants it, whatever the engine does', async () => {
    const { engine } = await serve(
      events([role(), call('get_weather'), argument('{"city": "Ro'), finish('length')]),
      { incompleteToolCalls: 'close' },
    );
    const { completions } = engine.chat;
    const { choices } = await completions.create({ messages }, { incompleteToolCalls: 'separate' });
    expect(choices[0]!.message).not.toHaveProperty('tool_calls');
    await expect(
      completions.create({ messages }, { incompleteToolCalls: 'drop' as never }),
    ).rejects.toMatchObject({ name: 'BadRequestError', param: 'incompleteToolCalls' });
  });

  test('are run by runTools, but for one that was cut', async () => {
    const { engine } = await serve([
      events([role(), call('get_weather'), argument('{"city": "Rome"}'), finish('tool_calls')]),
      events([role(), call('get_weather'), argument('{"city": "Par"}'), finish('length')]),
    ]);
    const cities: string[] = [];
    const weather = tool({
      name: 'get_weather',
      description: 'The weather in a city.',
      parameters: { type: 'object', properties: { city: { type: 'string' } } },
      run: (input: unknown) => {
        cities.push((input as { city: string }).city);
        return '18 degrees';
      },
    });
    const { reason, dropped } = await runTools(engine, { messages, tools: [weather] }).result();
    expect(cities).toEqual(['Rome']);
    expect(reason).toBe('length');
    expect(dropped).toMatchObject([{ isCut: true }]);
  });

  test("come in other servers' ways: whole, at one index, without arguments, without ids", async () => {
    const whole = (name: string, text: string | undefined, id: string | undefined) =>
      chunk({ tool_calls: [{ index: 0, id, type: 'function', function: { name, arguments: text } }] });
    const { engine } = await serve(
      events([
        role(),
        whole('a', '{"n":1}', 'call_1'),
        whole('b', undefined, 'call_2'),
        chunk({ tool_calls: [{ function: { name: 'c', arguments: '{}' } }] }),
        finish('tool_calls'),
      ]),
    );
    const { choices } = await engine.chat.completions.create({ messages });
    const calls = choices[0]!.message.tool_calls ?? [];
    expect(calls.map(({ function: { name, arguments: text } }) => [name, text])).toEqual([
      ['a', '{"n":1}'],
      ['b', '{}'],
      ['c', '{}'],
    ]);
    expect(calls.slice(0, 2).map(({ id }) => id)).toEqual(['call_1', 'call_2']);
    expect(calls[2]!.id).toMatch(/^chatcmpl-tool-[0-9a-f]{32}$/);
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
      ],
    });
    expect(server.posts[0]!.body.messages.slice(1)).toEqual([
      { role: 'assistant', content: 'A', reasoning: 'r', reasoning_content: 'r' },
      { role: 'assistant', content: 'B', reasoning: 's', reasoning_content: 's' },
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
