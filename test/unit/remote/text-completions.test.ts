/** Raw prompts and token ids by a server that has routes for them. */
import { describe, expect, test } from 'vitest';
import type { TextCompletion } from '../../../src/chat/text-types.ts';
import type { RemoteTextCreateParams } from '../../../src/remote/index.ts';
import { broken, events, json, refusal } from './replay-server.ts';
import { errorOf, serve } from './served.ts';

const head = { id: 'cmpl-1', object: 'text_completion', created: 1_700_000_001, model: 'served' };
const text = (said: string, more: object = {}, index = 0) => ({
  ...head,
  choices: [{ index, text: said, logprobs: null, finish_reason: null, stop_reason: null, ...more }],
});
const usage = { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 };
const told = { ...head, choices: [], usage };
const end = (finish_reason = 'stop', index = 0) => text('', { finish_reason }, index);

async function chunksOf(given: AsyncIterable<TextCompletion>): Promise<TextCompletion[]> {
  const chunks: TextCompletion[] = [];
  for await (const chunk of given) chunks.push(chunk);
  return chunks;
}

describe('completions.create', () => {
  test('goes on with a prompt, whole and streamed', async () => {
    const scored = (token: string) => ({
      token_ids: [7],
      logprobs: { tokens: [token], token_logprobs: [-1], top_logprobs: null, text_offset: [0] },
    });
    const { engine, server } = await serve(
      events([
        text('One', { ...scored('One'), prompt_token_ids: [1, 2] }),
        text(' two', scored(' two')),
        text('', { finish_reason: 'stop', stop_reason: 'x', token_ids: [9] }),
        told,
      ]),
    );
    const body = { prompt: 'Count:', max_tokens: 9, stop: 'x', use_beam_search: false, seed: null };
    const whole = await engine.completions.create(body);
    expect(whole).toEqual({
      ...head,
      choices: [
        {
          index: 0,
          text: 'One two',
          logprobs: {
            tokens: ['One', ' two'],
            token_logprobs: [-1, -1],
            top_logprobs: null,
            text_offset: [0, 0],
          },
          finish_reason: 'stop',
          stop_reason: 'x',
          token_ids: [7, 7, 9],
          prompt_token_ids: [1, 2],
        },
      ],
      usage,
    });
    expect(server.posts[0]).toMatchObject({ path: '/v1/completions' });
    expect(server.posts[0]!.body).toEqual({
      prompt: 'Count:',
      max_tokens: 9,
      stop: 'x',
      use_beam_search: false,
      model: 'served',
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await chunksOf(await engine.completions.create({ ...body, stream: true }));
    expect(chunks.map(({ choices }) => choices[0]?.text)).toEqual(['One', ' two', '']);
    expect(chunks.some((chunk) => 'usage' in chunk)).toBe(false);
    const stream_options = { include_usage: true };
    const counted = await chunksOf(
      await engine.completions.create({ ...body, stream: true, stream_options }),
    );
    expect(counted.map((chunk) => chunk.usage)).toEqual([null, null, null, usage]);
  });

  test('has the choices of all prompts', async () => {
    const all = [0, 1, 2, 3].flatMap((index) => [text(String(index), {}, index), end('length', index)]);
    for (const prompt of [
      ['a', 'b'],
      [[1, 2], [3]],
    ]) {
      const { engine } = await serve(events([...all, told]));
      const { choices } = await engine.completions.create({ prompt, n: 2 });
      expect(choices.map(({ text: said, finish_reason: why }) => [said, why])).toEqual(
        ['0', '1', '2', '3'].map((said) => [said, 'length']),
      );
    }
    const { engine } = await serve(events([text('a'), end()]));
    expect((await engine.completions.create({ prompt: [1, 2, 3] })).choices).toHaveLength(1);
  });

  test('reads a server that does not stream, and one without usage', async () => {
    const { engine } = await serve(json(200, text('One', { finish_reason: 'eos' })));
    const { choices, ...rest } = await engine.completions.create({ prompt: 'a' });
    expect(choices).toMatchObject([{ text: 'One', finish_reason: 'stop' }]);
    expect(rest).toEqual(head);
  });

  test.each([
    ['breaks off', broken([text('One')]), 'connection_failed'],
    ['ends before its finish reason', events([text('One')]), 'incomplete_stream'],
    ['gives up', events([text('One'), end('abort')]), 'answer_aborted'],
    ['goes on behind its end', events([end(), text('One')]), 'invalid_chunk'],
    [
      'is one of a chat',
      events([{ ...head, choices: [{ index: 0, delta: { content: 'a' } }] }, end()]),
      'invalid_chunk',
    ],
  ])('that %s is an error', async (_, answer, code) => {
    const { engine } = await serve(answer);
    const error = await errorOf(engine.completions.create({ prompt: 'a' }));
    expect(error).toMatchObject({ name: 'RemoteServerError', code });
  });

  test.each([
    [null, 'body'],
    [{}, 'prompt'],
    [{ prompt: [] }, 'prompt'],
    [{ prompt: 'a', n: 0 }, 'n'],
    [{ prompt: 'a', stream: 1 }, 'stream'],
    [{ prompt: 'a', stream_options: {} }, 'stream_options'],
  ])('with %j is refused before anything is sent', async (body, param) => {
    const { engine, server } = await serve(events([]), { model: undefined });
    const error = await errorOf(engine.completions.create(body as RemoteTextCreateParams));
    expect(error).toMatchObject({ name: 'BadRequestError', param });
    expect(server.requests).toEqual([]);
  });

  test('stops with the reader, and with the engine', async () => {
    const { engine } = await serve(events([text('One'), text('two')]));
    const stream = await engine.completions.create({ prompt: 'a', stream: true });
    for await (const _ of stream) break;
    expect(stream.controller.signal.aborted).toBe(true);
    await engine.close();
    expect(await errorOf(engine.completions.create({ prompt: 'a' }))).toMatchObject({
      name: 'EngineClosedError',
    });
  });
});

describe('tokenize and detokenize', () => {
  const tokens = { count: 2, max_model_len: 4096, tokens: [1, 2], token_strs: null };

  test('ask beside the version of the interface', async () => {
    const { engine, server } = await serve([
      json(200, tokens),
      json(200, tokens),
      json(200, { prompt: 'Hi' }),
    ]);
    expect(await engine.tokenize({ prompt: 'Hi' })).toEqual(tokens);
    const messages = [{ role: 'assistant' as const, content: 'a', reasoning: 'r' }];
    await engine.tokenize({ messages, add_generation_prompt: false });
    expect(await engine.detokenize({ tokens: [1, 2] })).toEqual({ prompt: 'Hi' });
    expect(server.posts.map(({ path, body }) => [path, body])).toEqual([
      ['/tokenize', { prompt: 'Hi', model: 'served' }],
      [
        '/tokenize',
        {
          messages: [{ ...messages[0], reasoning_content: 'r' }],
          add_generation_prompt: false,
          model: 'served',
        },
      ],
      ['/detokenize', { tokens: [1, 2], model: 'served' }],
    ]);
  });

  test.each([
    ['no such route', json(404, { detail: 'Not Found' }), 'unknown_url'],
    ['another form', json(200, { tokens: 'Hi' }), 'invalid_answer'],
    ['an error', refusal(400, 'too long'), null],
    ['an error and the status of success', json(200, { error: 'too long' }), 'server_error'],
  ])('%s is an error', async (_, answer, code) => {
    const { engine } = await serve(answer, { maxRetries: 0 });
    expect(await errorOf(engine.tokenize({ prompt: 'Hi' }))).toMatchObject({ code });
    expect(await errorOf(engine.detokenize({ tokens: [] }))).toMatchObject({ code });
  });

  test('are routes of fetch, as raw prompts are', async () => {
    const { engine } = await serve([json(200, tokens), events([text('One'), end(), told])]);
    const post = (path: string, body: object) =>
      engine.fetch(`http://engine${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    expect(await (await post('/tokenize', { prompt: 'Hi' })).json()).toEqual(tokens);
    const answer = await (await post('/v1/completions', { prompt: 'a' })).json();
    expect(answer).toMatchObject({ choices: [{ text: 'One' }], usage });
    const streamed = await (await post('/v1/completions', { prompt: 'a', stream: true })).text();
    expect(streamed.trim().split('\n\n')).toHaveLength(3);
    expect(streamed).toContain('data: [DONE]');
  });
});
