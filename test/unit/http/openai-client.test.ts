/** OpenAI's own client on `engine.fetch`, unmodified. */
import type OpenAI from 'openai';
import { APIError, APIUserAbortError, BadRequestError, InternalServerError, NotFoundError } from 'openai';
import { LengthFinishReasonError } from 'openai/core/error';
import { zodFunction, zodResponseFormat } from 'openai/helpers/zod';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { cutArguments, cutCall, messages, serveTurns, weather, weatherCall, weatherTool } from './engine.ts';

const model = 'scripted';
const thought = '<think>\nWhere is it?\n</think>\n\n';
const answer = `${thought}It is 18 degrees in Rome.`;

describe('create', () => {
  it('gives the completion, reasoning and calls included', async () => {
    const { client } = await serveTurns([`${thought}A moment.\n${weatherCall}`]);
    const completion = await client.chat.completions.create({ model, messages, tools: [weather] });
    expect(completion).toMatchObject({
      object: 'chat.completion',
      model,
      usage: { prompt_tokens: expect.any(Number) },
    });
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        reasoning: 'Where is it?',
        content: 'A moment.',
        tool_calls: [
          { type: 'function', function: { name: 'get_weather', arguments: '{"location": "Rome"}' } },
        ],
      },
    });
  });

  it('streams, and stops the model when the loop is left or the stream aborted', async () => {
    const { client, worker } = await serveTurns([answer, { text: answer, delay: 5 }]);
    let text = '';
    let reasoning = '';
    let usage: OpenAI.CompletionUsage | null | undefined;
    const options = { include_usage: true };
    for await (const chunk of await client.chat.completions.create({
      model,
      messages,
      stream: true,
      stream_options: options,
    })) {
      const delta: OpenAI.ChatCompletionChunk.Choice.Delta & { reasoning?: string } =
        chunk.choices[0]?.delta ?? {};
      text += delta.content ?? '';
      reasoning += delta.reasoning ?? '';
      usage = chunk.usage;
    }
    expect({ text, reasoning }).toEqual({ text: 'It is 18 degrees in Rome.', reasoning: 'Where is it?' });
    expect(usage?.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(0);

    const left = await client.chat.completions.create({ model, messages, stream: true });
    for await (const chunk of left) if (chunk.choices[0]?.delta.content) break;
    const aborted = await client.chat.completions.create({ model, messages, stream: true });
    for await (const chunk of aborted) if (chunk.choices[0]?.delta.content) aborted.controller.abort();
    while (worker.received.filter(({ type }) => type === 'abort').length < 2) {
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  });

  it('rejects with APIUserAbortError after an abort', async () => {
    const { client } = await serveTurns([{ text: answer, delay: 5 }]);
    const controller = new AbortController();
    const request = client.chat.completions.create({ model, messages }, { signal: controller.signal });
    setTimeout(() => controller.abort(), 20);
    await expect(request).rejects.toBeInstanceOf(APIUserAbortError);
  });

  it('lists and finds models', async () => {
    const { client } = await serveTurns([answer]);
    const ids: string[] = [];
    for await (const { id } of client.models.list()) ids.push(id);
    expect(ids).toEqual([model]);
    expect(await client.models.retrieve(model)).toMatchObject({ id: model, object: 'model' });
    await expect(client.models.retrieve('owner/other')).rejects.toBeInstanceOf(NotFoundError);
  });
});

describe('errors', () => {
  it('are of the client’s classes, with code and param', async () => {
    const { client, engine } = await serveTurns([answer]);
    const create = (more: object) => client.chat.completions.create({ model, messages, ...more });
    const bad = create({ temperature: 3 });
    await expect(bad).rejects.toBeInstanceOf(BadRequestError);
    await expect(bad).rejects.toMatchObject({
      status: 400,
      param: 'temperature',
      code: 'decimal_above_max_value',
      type: 'invalid_request_error',
    });
    const unknown = create({ model: 'gpt-4o' });
    await expect(unknown).rejects.toBeInstanceOf(NotFoundError);
    await expect(unknown).rejects.toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
    await expect(client.embeddings.create({ model, input: 'Hi' })).rejects.toMatchObject({
      status: 404,
      code: 'unknown_url',
    });
    await engine.close();
    await expect(create({})).rejects.toBeInstanceOf(InternalServerError);
  });

  it('in mid-stream are raised after the chunks before them; the next request works', async () => {
    const { client } = await serveTurns([
      { text: answer, error: { name: 'InvalidLogitsError', message: 'no number', at: 9 } },
      answer,
    ]);
    const request = { model, messages, stream: true } as const;
    let reasoning = 0;
    const read = async () => {
      for await (const _ of await client.chat.completions.create(request)) reasoning++;
    };
    const lost = read();
    await expect(lost).rejects.toBeInstanceOf(APIError);
    await expect(lost).rejects.toMatchObject({
      type: 'server_error',
      message: 'no number',
    });
    expect(reasoning).toBeGreaterThan(1);
    const { choices } = await client.chat.completions.create({ model, messages });
    expect(choices[0]?.message.content).toBe('It is 18 degrees in Rome.');
  });
});

describe('helpers', () => {
  it('.stream() fires its events', async () => {
    const { client } = await serveTurns([`${thought}A moment.\n${weatherCall}`]);
    const fired: [string, unknown][] = [];
    const stream = client.chat.completions
      .stream({ model, messages, tools: [weather] })
      .on('content.done', ({ content }) => fired.push(['content.done', content]))
      .on('tool_calls.function.arguments.done', (call) =>
        fired.push(['call', `${call.name} ${call.arguments}`]),
      )
      .on('finalContent', (content) => fired.push(['finalContent', content]));
    let content = '';
    stream.on('content.delta', ({ delta }) => {
      content += delta;
    });
    const completion = await stream.finalChatCompletion();
    expect(fired).toEqual([
      ['content.done', 'A moment.'],
      ['call', 'get_weather {"location": "Rome"}'],
      ['finalContent', 'A moment.'],
    ]);
    expect(content).toBe('A moment.');
    expect(completion.choices[0]?.message.tool_calls?.[0]?.function.arguments).toBe('{"location": "Rome"}');
  });

  it('.parse() reads what a zod schema describes, content and calls', async () => {
    const { client } = await serveTurns([`${thought}{"celsius": 18}`, `${thought}${weatherCall}`]);
    const degrees = zodResponseFormat(z.object({ celsius: z.number() }), 'degrees');
    const first = await client.chat.completions.parse({ model, messages, response_format: degrees });
    expect(first.choices[0]?.message.parsed).toEqual({ celsius: 18 });
    const tool = zodFunction({ name: 'get_weather', parameters: z.object({ location: z.string() }) });
    const second = await client.chat.completions.parse({ model, messages, tools: [tool] });
    expect(second.choices[0]?.message.tool_calls?.[0]?.function.parsed_arguments).toEqual({
      location: 'Rome',
    });
  });

  it.each([false, true])(
    '.runTools() runs the tool and gives its result back, stream: %s',
    async (stream) => {
      const { client, worker } = await serveTurns([`${thought}${weatherCall}`, answer]);
      const calls: string[] = [];
      const params = { model, messages, tools: [weatherTool(calls)] };
      const runner = stream
        ? client.chat.completions.runTools({ ...params, stream: true })
        : client.chat.completions.runTools(params);
      expect(await runner.finalContent()).toBe('It is 18 degrees in Rome.');
      expect(calls).toEqual(['{"location": "Rome"}']);
      const jobs = worker.received.flatMap((message) => (message.type === 'generate' ? [message.job] : []));
      expect(jobs.map((job) => job.messages.map(({ role }) => role))).toEqual([
        ['user'],
        ['user', 'assistant', 'tool'],
      ]);
      expect(jobs[1]?.messages.at(-1)).toMatchObject({ content: '18 degrees' });
    },
  );
});

describe('a call that is cut inside its arguments', () => {
  describe.each(['length', 'stop'])('and ends with finish_reason %s', (finish) => {
    it.each([false, true])('runs no tool, and the completion says why, stream: %s', async (stream) => {
      const { client, engine } = await serveTurns([thought + cutCall]);
      const whole = await engine.chat.completions.create({ messages, tools: [weather] });
      // The last token that counts is the one by which the model ends its turn.
      const max_tokens = finish === 'length' ? whole.usage!.completion_tokens - 1 : null;
      const calls: string[] = [];
      const params = { model, messages, tools: [weatherTool(calls)], max_tokens };
      const runner = stream
        ? client.chat.completions.runTools({ ...params, stream: true })
        : client.chat.completions.runTools(params);
      if (finish === 'length' && !stream) {
        // The client's own way of saying why.
        await expect(runner.done()).rejects.toBeInstanceOf(LengthFinishReasonError);
        expect(calls).toEqual([]);
        return;
      }
      const { choices } = await runner.finalChatCompletion();
      expect(calls).toEqual([]);
      expect(runner.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
      expect(choices[0]?.message.tool_calls).toBeUndefined();
      expect(choices[0]).toMatchObject({
        finish_reason: finish,
        incomplete_tool_calls: [{ function: { name: 'get_weather', arguments: cutArguments } }],
      });
    });
  });

  it('is run by the streaming helper where the engine leaves it in tool_calls', async () => {
    const { client } = await serveTurns([thought + cutCall, answer], { incompleteToolCalls: 'raw' });
    const calls: string[] = [];
    const runner = client.chat.completions.runTools({
      model,
      messages,
      tools: [weatherTool(calls)],
      stream: true,
    });
    await runner.done();
    expect(calls).toEqual([cutArguments]);
  });
});
