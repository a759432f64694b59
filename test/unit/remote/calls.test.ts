/** Calls in answers that the server has split. */
import { describe, expect, test } from 'vitest';
import { runTools, tool } from '../../../src/tool-loop/run-tools.ts';
import { argument, call, chunk, content, events, finish, reasoning, role } from './replay-server.ts';
import { chunksOf, messages, parts, serve } from './served.ts';

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
