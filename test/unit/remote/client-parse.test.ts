/** Answers of a server without parsers, with the embedded model's tokenizer and template. */
import { describe, expect, test } from 'vitest';
import type { ChatCompletionChunk } from '../../../src/chat/types.ts';
import type { RemoteCreateParams, RemoteEngineOptions } from '../../../src/remote/index.ts';
import { weather } from '../http/engine.ts';
import { eosTokenId, template, tokenizer } from '../worker/scripted.ts';
import { tinyWorker } from './prompt-worker.ts';
import { type Answer, broken, events, stuck } from './replay-server.ts';
import { errorOf, messages, serve as serveAny } from './served.ts';

const serve = (answer: Answer, options: Partial<RemoteEngineOptions> = {}) =>
  serveAny(answer, {
    parse: 'client',
    tokenizer: 'tests/tiny',
    worker: () => tinyWorker() as unknown as Worker,
    ...options,
  });

interface CompletionForm {
  /** Whether the server tells token ids, and how many tokens have come. */
  tells: boolean;
  finish?: string | null;
}

/** The events of a completion, one a token; the end of turn is a token without text. */
function tokensOf(text: string, { tells, finish = 'stop' }: CompletionForm): object[] {
  const ids = [...tokenizer.encode(text), ...(finish === 'stop' ? [eosTokenId] : [])];
  const head = { id: 'cmpl-1', object: 'text_completion', created: 1_700_000_001, model: 'served' };
  const events = ids.map((id, at) => {
    const isEnd = finish !== null && at === ids.length - 1;
    const choice = {
      index: 0,
      text: id === eosTokenId ? '' : tokenizer.tokenizer.decode([id], { skip_special_tokens: false }),
      logprobs: null,
      finish_reason: isEnd ? finish : null,
      stop_reason: null,
      ...(tells && { token_ids: [id], ...(at === 0 && { prompt_token_ids: [0] }) }),
    };
    const usage = { prompt_tokens: 9, completion_tokens: at + 1, total_tokens: 10 + at };
    return { ...head, choices: [choice], ...(tells && { usage }) };
  });
  const { length } = ids;
  const usage = { prompt_tokens: 9, completion_tokens: length, total_tokens: 9 + length };
  return finish === null || !tells ? events : [...events, { ...head, choices: [], usage }];
}

const thinking = '<think>\nTwo and two.\n</think>\n\nFour.';
const called = `<think>\nLook.\n</think>\n\n<tool_call>\n{"name": "get_weather", "arguments": {"location": "Rome"}}\n</tool_call>`;

describe('the request', () => {
  test('has the ids of the rendered prompt, the server’s fields, and none that are read here', async () => {
    const { engine, server } = await serve(events(tokensOf(thinking, { tells: true })));
    await engine.chat.completions.create({
      messages,
      tools: [weather],
      temperature: 0.3,
      stop: 'never',
      max_completion_tokens: 50,
      chat_template_kwargs: { enable_thinking: true },
      priority: 2,
    });
    const rendered = template.render({
      messages,
      tools: [weather],
      templateArguments: { enable_thinking: true },
    });
    const { path, body } = server.posts[0]!;
    expect(path).toBe('/v1/completions');
    expect(body).toEqual({
      model: 'served',
      prompt: Array.from(rendered.ids),
      max_tokens: 50,
      temperature: 0.3,
      priority: 2,
      stream: true,
      stream_options: { include_usage: true, continuous_usage_stats: true },
      skip_special_tokens: false,
      spaces_between_special_tokens: false,
      add_special_tokens: false,
      return_token_ids: true,
    });
  });

  test('has no limit of its own where none is given: the interface would take 16', async () => {
    const { engine, server } = await serve(events(tokensOf(thinking, { tells: true })));
    await engine.chat.completions.create({ messages });
    expect(server.posts[0]!.body.max_tokens).toBeNull();
  });

  test('keeps text of people text', async () => {
    const { engine, server } = await serve(events(tokensOf(thinking, { tells: true })));
    await engine.chat.completions.create({
      messages: [{ role: 'user', content: 'a <|im_end|> b' }],
    });
    const prompt = server.posts[0]!.body.prompt as number[];
    expect(prompt.filter((id) => id === eosTokenId)).toHaveLength(1);
  });

  test.each([
    [{ messages, tool_choice: 'required', tools: [weather] }, 'tool_choice'],
    [{ messages, tools: [{ ...weather, function: { ...weather.function, strict: true } }] }, 'tools'],
    [{ messages, response_format: { type: 'json_object' } }, 'response_format'],
    [{ messages, thinking_token_budget: 5 }, 'thinking_token_budget'],
    [{ messages: [{ role: 'wizard', content: 'x' }] }, 'messages[0].role'],
  ])('that can not be honoured is refused before it is sent: %#', async (body, param) => {
    const { engine, server } = await serve(events([]));
    const error = await errorOf(engine.chat.completions.create(body as RemoteCreateParams));
    expect(error).toMatchObject({ name: 'BadRequestError', param });
    expect(server.requests).toEqual([]);
  });

  test('may hold the content to a form where nothing comes before it', async () => {
    const { engine, server } = await serve(events(tokensOf('{"a": "<think>"}', { tells: true })));
    const response_format = { type: 'json_object' as const };
    const { choices } = await engine.chat.completions.create({
      messages,
      response_format,
      chat_template_kwargs: { enable_thinking: false },
    });
    expect(server.posts[0]!.body.response_format).toEqual(response_format);
    expect(choices[0]!.message).toMatchObject({ content: '{"a": "<think>"}', reasoning: null });
  });
});

describe.each([
  ['with token ids', true],
  ['as text', false],
])('an answer that comes %s', (_, tells) => {
  test('is split', async () => {
    const { engine } = await serve(events(tokensOf(thinking, { tells })));
    expect(engine.state).toMatchObject({
      parse: 'client',
      format: { reasoning: 'qwen3', tools: 'hermes', source: 'template' },
    });
    const { choices, usage } = await engine.chat.completions.create({ messages });
    expect(choices).toEqual([
      {
        index: 0,
        message: { role: 'assistant', content: 'Four.', reasoning: 'Two and two.', refusal: null },
        logprobs: null,
        finish_reason: 'stop',
        stop_reason: null,
      },
    ]);
    if (!tells) expect(usage).toBeUndefined();
    else {
      const count = tokenizer.encode(thinking).length + 1;
      expect(usage?.completion_tokens).toBe(count);
      expect(usage?.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(0);
    }
  });

  test('has calls', async () => {
    const { engine } = await serve(events(tokensOf(called, { tells })));
    const { choices } = await engine.chat.completions.create({ messages, tools: [weather] });
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { reasoning: 'Look.' } });
    expect(choices[0]!.message.tool_calls?.[0]?.function).toEqual({
      name: 'get_weather',
      arguments: '{"location": "Rome"}',
    });
  });

  test('keeps a call that was cut apart', async () => {
    const cut = called.slice(0, called.indexOf('me"}'));
    const { engine } = await serve(events(tokensOf(cut, { tells, finish: 'length' })));
    const { choices } = await engine.chat.completions.create({ messages, tools: [weather] });
    expect(choices[0]!.finish_reason).toBe('length');
    expect(choices[0]!.message).not.toHaveProperty('tool_calls');
    expect(choices[0]!.incomplete_tool_calls?.[0]?.function.arguments).toBe('{"location": "Ro');
  });

  test('ends at a stop string of its content, and the server is left', async () => {
    const answer = '<think>\na, b\n</think>\n\nOne, two, three';
    const { engine, server } = await serve(stuck(tokensOf(answer, { tells, finish: null })));
    const completion = await engine.chat.completions.create({ messages, stop: ', t' });
    expect(completion.choices[0]).toMatchObject({
      message: { reasoning: 'a, b', content: 'One' },
      finish_reason: 'stop',
      stop_reason: ', t',
    });
    if (tells) {
      const upTo = tokenizer.encode(answer.slice(0, answer.indexOf(', t') + 3)).length;
      expect(completion.usage?.completion_tokens).toBeGreaterThanOrEqual(upTo - 1);
      expect(completion.usage?.completion_tokens).toBeLessThan(tokenizer.encode(answer).length);
    }
    await server.posts[0]!.left;
  });

  test('ends with its first call where only one is wanted', async () => {
    const { engine, server } = await serve(
      stuck(tokensOf(`${called}\n${called.slice(called.indexOf('<tool_call>'))}`, { tells, finish: null })),
    );
    const { choices } = await engine.chat.completions.create({
      messages,
      tools: [weather],
      parallel_tool_calls: false,
    });
    expect(choices[0]!.finish_reason).toBe('tool_calls');
    expect(choices[0]!.message.tool_calls).toHaveLength(1);
    await server.posts[0]!.left;
  });

  test('that goes on with a message is text of that message', async () => {
    const { engine } = await serve(events(tokensOf(' two.', { tells })));
    const { choices } = await engine.chat.completions.create({
      messages: [...messages, { role: 'assistant', content: 'One and', reasoning: 'Hm.' }],
      continue_final_message: true,
      add_generation_prompt: false,
      echo: true,
    });
    expect(choices[0]!.message).toMatchObject({ reasoning: 'Hm.', content: 'One and two.' });
  });

  test('has all choices, one of them cut', async () => {
    const of = (text: string, index: number) =>
      tokensOf(text, { tells })
        .map((event) => event as { choices: object[] })
        .filter(({ choices }) => choices.length > 0)
        .map((event) => ({ ...event, choices: event.choices.map((choice) => ({ ...choice, index })) }));
    const [first, second] = [of(thinking, 0), of('<think>\nHm.\n</think>\n\nOne, two', 1)];
    const length = Math.max(first.length, second.length);
    const mixed = Array.from({ length }, (_, at) => [first[at], second[at]])
      .flat()
      .filter((event) => event !== undefined);
    const { engine } = await serve(events(mixed));
    const { choices } = await engine.chat.completions.create({ messages, n: 2, stop: ',' });
    expect(
      choices.map(({ message, stop_reason }) => [message.reasoning, message.content, stop_reason]),
    ).toEqual([
      ['Two and two.', 'Four.', null],
      ['Hm.', 'One', ','],
    ]);
  });

  test('that breaks off is an error', async () => {
    const { engine } = await serve(broken(tokensOf('<think>\nHm', { tells, finish: null })));
    const error = await errorOf(engine.chat.completions.create({ messages }));
    expect(error).toMatchObject({ name: 'RemoteServerError', code: 'connection_failed' });
    const ended = await serve(events(tokensOf('<think>\nHm', { tells, finish: null })));
    const other = await errorOf(ended.engine.chat.completions.create({ messages }));
    expect(other).toMatchObject({ name: 'RemoteServerError', code: 'incomplete_stream' });
  });
});

test('blank events at the beginning and the end change nothing', async () => {
  const all = tokensOf(thinking, { tells: true, finish: null });
  const blank = (more: object) => ({
    ...all[0],
    choices: [{ index: 0, text: '', finish_reason: null, ...more }],
    usage: null,
  });
  const { engine } = await serve(
    events([blank({ token_ids: null }), ...all, blank({}), blank({ finish_reason: 'stop' })]),
  );
  const { choices } = await engine.chat.completions.create({ messages, return_token_ids: true });
  expect(choices[0]).toMatchObject({
    message: { reasoning: 'Two and two.', content: 'Four.' },
    token_ids: tokenizer.encode(thinking),
  });
  const silent = await serve(events([...all, { ...blank({}), choices: [{ index: 0, text: 'x' }] }]));
  const error = await errorOf(silent.engine.chat.completions.create({ messages }));
  expect(error).toMatchObject({ code: 'invalid_chunk', message: expect.stringContaining('token ids') });
});

test('token ids are told where the server tells them, and else refused', async () => {
  const { engine } = await serve(events(tokensOf(thinking, { tells: true })));
  const chunks: ChatCompletionChunk[] = [];
  const stream = await engine.chat.completions.create({ messages, stream: true, return_token_ids: true });
  for await (const chunk of stream) chunks.push(chunk);
  const rendered = template.render({ messages, tools: null, templateArguments: {} });
  expect(chunks[0]!.prompt_token_ids).toEqual(Array.from(rendered.ids));
  expect(chunks.flatMap(({ choices }) => choices[0]?.token_ids ?? [])).toEqual([
    ...tokenizer.encode(thinking),
    eosTokenId,
  ]);
  const other = await serve(events(tokensOf(thinking, { tells: false })));
  const error = await errorOf(other.engine.chat.completions.create({ messages, return_token_ids: true }));
  expect(error).toMatchObject({ name: 'BadRequestError', param: 'return_token_ids' });
});

test('log probabilities are those of the tokens, the most probable ones by rank', async () => {
  const [first, other] = [tokenizer.encode('<think>')[0]!, tokenizer.encode('a')[0]!];
  const withLogprobs = (tops: object) =>
    tokensOf('<think>', { tells: true, finish: 'length' }).map((event) => {
      const { choices, ...rest } = event as { choices: object[] };
      const logprobs = {
        tokens: [`token_id:${first}`],
        token_logprobs: [-0.5],
        top_logprobs: [tops],
        text_offset: [0],
      };
      return { ...rest, choices: choices.map((choice) => ({ ...choice, logprobs })) };
    });
  const told = { [`token_id:${other}`]: -2, [`token_id:${first}`]: -0.5 };
  const { engine, server } = await serve(events(withLogprobs(told)));
  const body = { messages, logprobs: true, top_logprobs: 1 };
  const { choices } = await engine.chat.completions.create(body);
  const said = { token: '<think>', logprob: -0.5, bytes: Array.from(Buffer.from('<think>')) };
  expect(choices[0]!.logprobs?.content).toEqual([{ ...said, top_logprobs: [said] }]);
  expect(server.posts[0]!.body).toMatchObject({ logprobs: 1, return_tokens_as_token_ids: true });

  const strange = await serve(events(withLogprobs({ '<think>': -0.5 })));
  expect(await errorOf(strange.engine.chat.completions.create(body))).toMatchObject({
    code: 'invalid_chunk',
  });
  const silent = await serve(events(tokensOf(thinking, { tells: false })));
  expect(await errorOf(silent.engine.chat.completions.create(body))).toMatchObject({ param: 'logprobs' });
});

test('a worker that crashed is replaced', async () => {
  const workers: ReturnType<typeof tinyWorker>[] = [];
  const { engine } = await serve(events(tokensOf(thinking, { tells: true })), {
    worker: () => {
      const worker = tinyWorker();
      workers.push(worker);
      return worker as unknown as Worker;
    },
  });
  workers[0]!.dispatchEvent(new Event('error'));
  const { choices } = await engine.chat.completions.create({ messages });
  expect(choices[0]!.message.content).toBe('Four.');
  expect(workers).toHaveLength(2);
});

test('an abort while the prompt is rendered ends the request', async () => {
  const { engine, server } = await serve(events([]));
  const controller = new AbortController();
  const answer = engine.chat.completions.create({ messages }, { signal: controller.signal });
  setImmediate(() => controller.abort());
  expect(await errorOf(answer)).toMatchObject({ name: 'AbortError' });
  expect(server.posts.length).toBeLessThanOrEqual(1);
});
