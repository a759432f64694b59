/** What servers send that OpenAI does not: understood where it has one meaning, else an error that shows it. */
import { describe, expect, test } from 'vitest';
import { chunk, content, events, finish, json, reasoning, role, usage } from './replay-server.ts';
import { errorOf, messages, serve } from './served.ts';

type Sent = readonly (object | string)[];

async function answerTo(sent: Sent, body: object = {}) {
  const { engine } = await serve(events(sent));
  return engine.chat.completions.create({ messages, ...body });
}

async function choiceOf(sent: Sent, body: object = {}) {
  return (await answerTo(sent, body)).choices[0]!;
}

const calls = (...tool_calls: unknown[]) => chunk({ tool_calls });
const piece = (id: string | undefined, name: string | undefined, text?: string) => ({
  ...(id && { id, type: 'function' }),
  function: { ...(name && { name }), ...(text !== undefined && { arguments: text }) },
});
const named = ({ message }: { message: { tool_calls?: { function: object; id: string }[] } }) =>
  message.tool_calls?.map(({ id, function: called }) => ({ id, ...called }));

describe('a stream that says little', () => {
  test.each<[string, Sent]>([
    [
      'llama.cpp: a null content, an empty last delta with usage and timings, usage alone',
      [
        chunk({ role: 'assistant', content: null }),
        content('Yes'),
        { ...chunk({}, { finish_reason: 'stop' }), timings: { predicted_n: 1 } },
        usage(1, 1),
      ],
    ],
    [
      'Ollama: the role and empty texts in each chunk, the last one as well',
      [
        chunk({ role: 'assistant', content: '', reasoning: '' }),
        chunk({ role: 'assistant', content: 'Yes' }),
        chunk({ role: 'assistant', content: '' }, { finish_reason: 'stop' }),
        usage(1, 1),
      ],
    ],
    [
      'SGLang: null for all that is not there, the token that ended the answer',
      [
        {
          ...chunk({ role: 'assistant', content: '', reasoning_content: null, tool_calls: null }),
          usage: null,
        },
        chunk({ role: null, content: 'Yes', reasoning_content: null, tool_calls: null }),
        chunk({ content: null, tool_calls: null }, { finish_reason: 'stop', matched_stop: 151645 }),
        usage(1, 1),
      ],
    ],
    [
      'OpenRouter: comments, both forms of reasoning, a chunk with usage behind the end',
      [
        ': OPENROUTER PROCESSING\n\n',
        chunk({ role: 'assistant', content: '' }),
        content('Yes'),
        chunk({ role: 'assistant', content: '', reasoning: null }, { finish_reason: 'stop' }),
        { ...chunk({ role: 'assistant', content: '' }), usage: usage(1, 1).usage },
      ],
    ],
    [
      'DeepSeek: comments that keep the connection, usage with the end',
      [
        ': keep-alive\n\n',
        chunk({ role: 'assistant', content: null, reasoning_content: '' }),
        chunk({ content: 'Yes', reasoning_content: null }),
        {
          ...chunk({ content: '', reasoning_content: null }, { finish_reason: 'stop' }),
          usage: usage(1, 1).usage,
        },
      ],
    ],
    [
      'Together: the text beside the delta, a word of its own for the end',
      [
        chunk(
          { role: 'assistant', content: 'Yes', token_id: 9, tool_calls: [] },
          { text: 'Yes', finish_reason: '' },
        ),
        chunk({ role: 'assistant', content: '', token_id: 2 }, { text: '', finish_reason: 'eos' }),
        usage(1, 1),
      ],
    ],
    [
      'LM Studio: a null delta, empty calls behind the end',
      [
        role(),
        content('Yes'),
        chunk({}, { finish_reason: 'stop' }),
        chunk({ tool_calls: [] }),
        chunk({ tool_calls: [piece('', '', '')] }),
        { ...chunk({}), choices: [{ index: 0, delta: null, finish_reason: 'stop' }] },
        usage(1, 1),
      ],
    ],
    [
      'Azure: no choice in the first chunk; others: null or no choices beside the usage',
      [
        { id: '', object: '', model: '', created: 0, choices: [], prompt_filter_results: [] },
        content('Yes'),
        { ...role(), choices: null },
        finish('stop'),
        { usage: usage(1, 1).usage },
      ],
    ],
    [
      'events without data, with data that is blank, with a name of their own',
      [
        'event: ping\ndata: {"type": "ping"}\n\n',
        'data: \n\n',
        'event: message\n',
        content('Yes'),
        finish('stop'),
        usage(1, 1),
        'data:[DONE] \n\n',
      ],
    ],
  ])('%s', async (_, sent) => {
    const completion = await answerTo(sent);
    expect(completion.choices).toHaveLength(1);
    expect(completion.choices[0]).toMatchObject({
      message: { content: 'Yes', reasoning: null, refusal: null },
      finish_reason: 'stop',
      stop_reason: null,
    });
    expect(completion.choices[0]!.message).not.toHaveProperty('tool_calls');
    expect(completion.usage).toMatchObject({ prompt_tokens: 1, completion_tokens: 1 });
  });

  test("SGLang's name for what a stop string matched", async () => {
    const choice = await choiceOf([content('a'), chunk({}, { finish_reason: 'stop', matched_stop: 'b' })], {
      stop: 'b',
    });
    expect(choice.stop_reason).toBe('b');
  });
});

test.each([
  ['eos', 'stop'],
  ['eos_token', 'stop'],
  ['model_length', 'length'],
  ['content_filter', 'content_filter'],
])('the end %s is %s', async (sent, told) => {
  const choice = await choiceOf([content('a'), finish(sent)]);
  expect(choice.finish_reason).toBe(told);
});

describe('a content in parts', () => {
  const text = (said: string) => ({ type: 'text', text: said });
  const parts = [{ type: 'thinking', thinking: [text('Hm')] }, text('Ye')];

  test('is its texts, those that are thought apart', async () => {
    const choice = await choiceOf([chunk({ content: parts }), content('s'), finish('stop')]);
    expect(choice.message).toMatchObject({ reasoning: 'Hm', content: 'Yes' });
    const end = { ...role(), choices: [{ index: 0, message: { content: parts }, finish_reason: 'stop' }] };
    const whole = await choiceOf([end]);
    expect(whole.message).toMatchObject({ reasoning: 'Hm', content: 'Ye' });
    const again = await choiceOf([reasoning('Hm'), content('Ye'), end]);
    expect(again.message).toMatchObject({ reasoning: 'Hm', content: 'Ye' });
  });

  test('that are no text is an error that shows them', async () => {
    const image = { type: 'image_url', image_url: { url: 'x' } };
    const error = await errorOf(answerTo([chunk({ content: [image] }), finish('stop')]));
    expect(error).toMatchObject({ code: 'invalid_chunk', message: expect.stringContaining('"image_url"') });
  });
});

describe('a message', () => {
  const whole = { role: 'assistant', content: 'Yes', reasoning_content: 'Hm' };
  const called = { role: 'assistant', content: null, tool_calls: [piece('a', 'f', '{}')] };

  test('in place of all deltas is the answer', async () => {
    const choice = await choiceOf([
      { ...role(), choices: [{ index: 0, message: whole, finish_reason: 'stop' }] },
    ]);
    expect(choice.message).toMatchObject({ content: 'Yes', reasoning: 'Hm' });
  });

  test('of a server that does not stream is the answer', async () => {
    const answer = { id: 'x', created: 1, model: 'served', usage: usage(1, 2).usage };
    const { engine } = await serve(
      json(200, { ...answer, choices: [{ index: 0, message: called, finish_reason: 'tool_calls' }] }),
    );
    const { id, choices, usage: told } = await engine.chat.completions.create({ messages });
    expect(id).toBe('x');
    expect(named(choices[0]!)).toEqual([{ id: 'a', name: 'f', arguments: '{}' }]);
    expect(told).toMatchObject({ completion_tokens: 2 });
  });

  test('that says all once more changes nothing', async () => {
    const end = { ...role(), choices: [{ index: 0, message: whole, finish_reason: 'stop' }] };
    for (const last of [[end], [finish('stop'), end]]) {
      const choice = await choiceOf([reasoning('Hm'), content('Y'), content('es'), ...last]);
      expect(choice.message).toMatchObject({ content: 'Yes', reasoning: 'Hm' });
    }
  });

  test('that has the calls of an answer behind its text brings them', async () => {
    const end = {
      ...role(),
      choices: [{ index: 0, delta: {}, message: called, finish_reason: 'tool_calls' }],
    };
    const choice = await choiceOf([content('Look.'), end]);
    expect(choice.message.content).toBe('Look.');
    expect(named(choice)).toHaveLength(1);
  });

  test.each<[string, Sent]>([
    ['that is none of the end', [{ ...role(), choices: [{ index: 0, message: { content: 'Yes' } }] }]],
    [
      'that says something else',
      [
        content('No'),
        { ...role(), choices: [{ index: 0, message: { content: 'Yes' }, finish_reason: 'stop' }] },
      ],
    ],
  ])('%s is an error that shows it', async (_, sent) => {
    const error = await errorOf(answerTo([...sent, finish('stop')]));
    expect(error).toMatchObject({
      name: 'RemoteServerError',
      code: 'invalid_chunk',
      message: expect.stringContaining('{"content":"Yes"}'),
    });
  });
});

describe('calls', () => {
  test("in OpenAI's older form are calls", async () => {
    const older = (function_call: object) => chunk({ function_call });
    const choice = await choiceOf([
      role(),
      older({ name: 'f', arguments: '' }),
      older({ arguments: '{"a":' }),
      older({ name: '', arguments: '1}' }),
      finish('function_call'),
    ]);
    expect(choice.finish_reason).toBe('tool_calls');
    expect(named(choice)).toMatchObject([{ name: 'f', arguments: '{"a":1}' }]);
  });

  test('told in both forms count once', async () => {
    const both = { tool_calls: [piece('a', 'f', '{}')], function_call: { name: 'f', arguments: '{}' } };
    const choice = await choiceOf([chunk(both), finish('tool_calls')]);
    expect(named(choice)).toEqual([{ id: 'a', name: 'f', arguments: '{}' }]);
  });

  test.each<[string, Sent]>([
    [
      'by id alone, in turns',
      [
        calls(piece('a', 'f'), piece('b', 'g')),
        calls(piece('a', '', '{"x"')),
        calls(piece('b', '', '{}'), piece('a', '', ':1}')),
      ],
    ],
    [
      'by id alone, the pieces behind without one',
      [calls(piece('a', 'f', '{"x"')), calls(piece('', '', ':1}')), calls(piece('b', 'g', '{}'))],
    ],
    [
      'by id, all with one index',
      [
        calls({ index: 0, ...piece('a', 'f') }),
        calls({ index: 0, ...piece('b', 'g', '{}') }),
        calls({ index: 0, ...piece('a', '', '{"x":1}') }),
      ],
    ],
    [
      'by index, with another id in each piece',
      [
        calls({ index: 0, ...piece('a', 'f', '{"x"') }, { index: 1, ...piece('b', 'g') }),
        calls({ index: 0, ...piece('c', '', ':1}') }),
        calls({ index: 1, ...piece('d', '', '{}') }),
      ],
    ],
    [
      'by name, repeated with each piece',
      [
        calls({ index: 0, ...piece('a', 'f', '{"x"') }),
        calls({ index: 0, ...piece('a', 'f', ':1}') }),
        calls({ index: 1, ...piece('b', 'g', '{') }),
        calls({ index: 1, ...piece('', 'g', '}') }),
      ],
    ],
    [
      'with a null function',
      [
        calls({ index: 0, ...piece('a', 'f', '{"x":1}') }),
        calls({ index: 0, function: null }),
        calls({ index: 1, ...piece('b', 'g', '{}') }),
      ],
    ],
  ])('are told apart %s', async (_, sent) => {
    const choice = await choiceOf([role(), ...sent, finish('tool_calls')]);
    expect(named(choice)).toEqual([
      { id: 'a', name: 'f', arguments: '{"x":1}' },
      { id: 'b', name: 'g', arguments: '{}' },
    ]);
  });

  test('of one function, whole, with neither ids nor other indices, are several', async () => {
    const one = (text: string) => calls({ index: 0, ...piece('', 'f', text) });
    const choice = await choiceOf([one('{"x":1}'), one('{"x":2}'), finish('tool_calls')]);
    expect(named(choice)).toMatchObject([{ arguments: '{"x":1}' }, { arguments: '{"x":2}' }]);
  });

  test.each<[string, Sent, string]>([
    ['without a name', [calls({ index: 0, ...piece('a', '', '{"x":1}') })], '{\\"x\\":1}'],
    [
      'that are pieces of nobody knows which',
      [calls(piece('a', 'f'), piece('b', 'g')), calls(piece('', '', '{'), piece('', '', '{'))],
      'not of which',
    ],
    ['of another type', [calls({ index: 0, type: 'custom', custom: { name: 'f' } })], '"custom"'],
  ])('%s are an error that shows them', async (_, sent, shown) => {
    const error = await errorOf(answerTo([role(), ...sent, finish('tool_calls')]));
    expect(error).toMatchObject({ code: 'invalid_chunk', message: expect.stringContaining(shown) });
  });

  test('that were cut before their name are no calls', async () => {
    const choice = await choiceOf([content('a'), calls({ index: 0, ...piece('a', '') }), finish('length')]);
    expect(choice).toMatchObject({ finish_reason: 'length', message: { content: 'a' } });
    expect(choice).not.toHaveProperty('incomplete_tool_calls');
  });
});

describe('an answer with nothing in it', () => {
  test('is one where the model said nothing', async () => {
    expect(await choiceOf([role(), finish('stop')])).toMatchObject({
      message: { content: null },
      finish_reason: 'stop',
    });
  });

  test.each<[string, Sent, string]>([
    ['ends for calls that did not come', [role(), finish('tool_calls')], '"tool_calls"'],
    ['has fields that are not known', [chunk({ thinking: 'Hm' }), finish('stop')], 'thinking'],
    [
      'has its text beside the delta',
      [{ ...role(), choices: [{ index: 0, text: 'Yes' }] }, finish('stop')],
      'text',
    ],
    ['has audio only', [chunk({ audio: { data: 'AAAA' } }), finish('stop')], 'audio'],
  ])('is an error where it %s', async (_, sent, shown) => {
    const error = await errorOf(answerTo(sent));
    expect(error).toMatchObject({ code: 'invalid_chunk', message: expect.stringContaining(shown) });
  });
});

describe('an error', () => {
  const told = { message: 'Out of memory', type: 'server_error' };

  test.each<[string, Sent]>([
    ['as its own event', [`event: error\ndata: ${JSON.stringify({ error: told, message: 'x' })}\n\n`]],
    ['as a text of its own event', ['event: error\ndata: Out of memory\n\n']],
    ['as a text', [{ error: 'Out of memory' }]],
    ['beside a message', [{ error: true, message: 'Out of memory' }]],
    ["in vLLM's older form", [{ object: 'error', ...told, code: 500 }]],
    [
      "on llama.cpp's older line",
      ['error: {"code":500,"message":"Out of memory","type":"server_error"}\n\n'],
    ],
    ['on a choice', [{ ...role(), choices: [{ index: 0, delta: {}, finish_reason: 'error', error: told }] }]],
    [
      'beside a choice',
      [{ ...chunk({ content: '' }, { finish_reason: 'error' }), error: { ...told, code: 502 } }],
    ],
    ['as JSON without an event, unfinished', [`{"error":${JSON.stringify(told)}}`]],
  ])('%s, in mid-stream, keeps its words', async (_, sent) => {
    const { engine } = await serve(events([content('Ye'), ...sent], { done: false }));
    const error = await errorOf(engine.chat.completions.create({ messages }));
    expect(error).toMatchObject({ name: 'RemoteServerError', message: 'Out of memory' });
  });

  test.each([
    ["of OpenAI's form", { error: { ...told, code: 'overloaded' } }, 'Out of memory', 'overloaded'],
    ['that is a text', { error: 'Out of memory' }, 'Out of memory', 'server_error'],
    [
      'without a message',
      { error: { type: 'overloaded_error' } },
      '{"type":"overloaded_error"}',
      'server_error',
    ],
    ['beside a message', { error: true, message: 'Out of memory' }, 'Out of memory', 'server_error'],
  ])('%s with the status 200 keeps its words', async (_, body, message, code) => {
    const { engine, server } = await serve(json(200, body), { maxRetries: 0 });
    const error = await errorOf(engine.chat.completions.create({ messages }));
    expect(error).toMatchObject({ name: 'RemoteServerError', message, code });
    expect(server.posts).toHaveLength(1);
  });

  test.each([
    ['invalid_request_error', 'BadRequestError'],
    ['authentication_error', 'AuthenticationError'],
    ['rate_limit_error', 'RateLimitError'],
  ])('of type %s is a %s, whatever its status', async (type, name) => {
    const { engine } = await serve(json(200, { error: { message: 'No', type, param: 'top_p' } }), {
      maxRetries: 0,
    });
    expect(await errorOf(engine.chat.completions.create({ messages }))).toMatchObject({ name });
  });

  test('of a status keeps words of any form', async () => {
    const { engine } = await serve(json(400, { reason: 'too hot' }));
    expect(await errorOf(engine.chat.completions.create({ messages }))).toMatchObject({
      name: 'BadRequestError',
      message: '{"reason":"too hot"}',
    });
  });

  test('that is no answer at all shows what came', async () => {
    const { engine } = await serve(json(200, { status: 'warming up' }));
    expect(await errorOf(engine.chat.completions.create({ messages }))).toMatchObject({
      code: 'invalid_answer',
      message: expect.stringContaining('{"status":"warming up"}'),
    });
  });
});
