/** The whole way of a request in one process: page, protocol, the worker's real loop, a scripted backend. */
import { describe, expect, it } from 'vitest';
import type { ChatCompletionChunk, ChatCompletionTool } from '../../../src/chat/types.ts';
import { createEngine } from '../../../src/engine/engine.ts';
import type { EngineOptions } from '../../../src/engine/options.ts';
import type { ScriptedTurn } from '../../../src/protocol.ts';
import { eosTokenId, tokenizer } from '../worker/scripted.ts';
import { type InProcessWorker, scriptedWorker } from './in-process-worker.ts';

async function start(turns: ScriptedTurn[], options: EngineOptions = {}) {
  const workers: InProcessWorker[] = [];
  const worker = () => {
    workers.push(scriptedWorker(turns));
    return workers.at(-1) as unknown as Worker;
  };
  const engine = await createEngine({ ...options, worker });
  return { engine, worker: workers[0]!, completions: engine.chat.completions };
}

const messages = [{ role: 'user' as const, content: 'Weather in Rome?' }];
const tools: ChatCompletionTool[] = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      parameters: { type: 'object', properties: { city: { type: 'string' } } },
    },
  },
];
const callText = (city: string) =>
  `<tool_call>\n{"name": "get_weather", "arguments": {"city": "${city}"}}\n</tool_call>`;
const thought = '<think>\nI look it up.\n</think>\n\n';

async function read(stream: AsyncIterable<ChatCompletionChunk>): Promise<ChatCompletionChunk[]> {
  const chunks: ChatCompletionChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

describe('an engine over the real worker loop', () => {
  it('recognises the format of the embedded model', async () => {
    const { engine } = await start([{ text: 'Hi' }]);
    expect(engine.state.format).toEqual({
      reasoning: 'qwen3',
      tools: 'hermes',
      source: 'template',
      warning: null,
    });
  });

  it('splits reasoning, content and calls, and gives the usage', async () => {
    const text = `${thought}Moment.\n${callText('Rome')}\n${callText('Pisa')}`;
    const { completions } = await start([{ text }]);
    const answer = await completions.create({ messages, tools, include_details: true });
    expect(answer.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        reasoning: 'I look it up.',
        content: 'Moment.',
        tool_calls: [
          { type: 'function', function: { name: 'get_weather' } },
          { type: 'function', function: { name: 'get_weather' } },
        ],
      },
    });
    const calls = answer.choices[0]?.message.tool_calls ?? [];
    expect(calls.map((call) => JSON.parse(call.function.arguments))).toEqual([
      { city: 'Rome' },
      { city: 'Pisa' },
    ]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
    const ids = tokenizer.encode(text);
    const details = answer.tokenprism!;
    expect(answer.usage).toEqual({
      prompt_tokens: details.prompt_token_ids.length,
      completion_tokens: ids.length + 1,
      total_tokens: details.prompt_token_ids.length + ids.length + 1,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: tokenizer.encode('\nI look it up.\n').length },
    });
    expect(details.prompt).toContain('get_weather');
    expect(details.prompt).toMatch(/<\|im_start\|>assistant\n(<think>\n)?$/);
  });

  it('carries reasoning, calls and results of the history into the prompt', async () => {
    const { completions } = await start([
      { text: `${thought}${callText('Rome')}` },
      { text: `${thought}18 degrees.` },
    ]);
    const first = (await completions.create({ messages, tools })).choices[0]!.message;
    const second = await completions.create({
      messages: [
        ...messages,
        first,
        { role: 'tool', tool_call_id: first.tool_calls![0]!.id, content: '{"temperature": 18}' },
      ],
      tools,
      include_details: true,
    });
    expect(second.choices[0]?.message.content).toBe('18 degrees.');
    const { prompt } = second.tokenprism!;
    expect(prompt).toContain('I look it up.');
    expect(prompt).toContain('{"name": "get_weather", "arguments": {"city": "Rome"}}');
    expect(prompt).toContain('{"temperature": 18}');
  });

  it('streams the same as it answers at once', async () => {
    const turns = [{ text: `${thought}Moment.\n${callText('Rome')}` }];
    const { completions } = await start(turns);
    const collected = await completions.create({ messages, tools });
    const chunks = await read(await completions.create({ messages, tools, stream: true }));
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
    const { message } = collected.choices[0]!;
    expect(deltas.map(({ reasoning }) => reasoning ?? '').join('')).toBe(message.reasoning);
    expect(deltas.map(({ content }) => content ?? '').join('')).toBe(message.content);
    const pieces = deltas.flatMap(({ tool_calls }) => tool_calls ?? []);
    expect(pieces.map((piece) => piece.function?.arguments).join('')).toBe(
      message.tool_calls?.[0]?.function.arguments,
    );
    expect(deltas.filter(({ content }) => content).length).toBeGreaterThan(1);
  });

  it('cuts at a stop string: text before it, tokens up to it, and the worker stops', async () => {
    const text = `${thought}One two three four five six seven eight nine ten.`;
    const { completions, worker } = await start([{ text, delay: 3 }]);
    const answer = await completions.create({ messages, stop: [' four'] });
    expect(answer.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'One two three' } });
    const cut = worker.received.find((message) => message.type === 'cut');
    expect(cut).toMatchObject({ choice: 0 });
    const at = cut?.type === 'cut' ? cut.at : 0;
    expect(answer.usage?.completion_tokens).toBe(at);
    expect(at).toBe(tokenizer.encode(`${thought}One two three four`).length);
  });

  it('gives the same usage at a stop string however late the cut comes', async () => {
    const text = `${thought}One two three four five.`;
    const usages = [];
    for (const delay of [0, 5]) {
      const { completions } = await start([{ text, delay }]);
      usages.push((await completions.create({ messages, stop: 'two' })).usage);
    }
    expect(usages[0]).toEqual(usages[1]);
  });

  it('ends after the first call without parallel calls', async () => {
    const { completions } = await start([{ text: `${callText('Rome')}\n${callText('Pisa')}` }]);
    const answer = await completions.create({
      messages,
      tools,
      parallel_tool_calls: false,
      chat_template_kwargs: { enable_thinking: false },
    });
    expect(answer.choices[0]?.message.tool_calls).toHaveLength(1);
    expect(answer.choices[0]?.finish_reason).toBe('tool_calls');
  });

  it('names a call that max_tokens cut as incomplete', async () => {
    const text = callText('Rome');
    const limit = tokenizer.encode(text.slice(0, text.indexOf('ome'))).length;
    const { completions } = await start([{ text }]);
    const request = { messages, tools, max_tokens: limit, reasoning_effort: 'none' as const };
    const { choices } = await completions.create(request);
    expect(choices[0]).toMatchObject({
      finish_reason: 'length',
      incomplete_tool_calls: [
        { function: { name: 'get_weather', arguments: expect.stringMatching(/^\{"city": "R/) } },
      ],
    });
    expect(choices[0]?.message.tool_calls).toBeUndefined();
    const chunks = await read(await completions.create({ ...request, stream: true }));
    expect(chunks.at(-1)?.choices[0]).toMatchObject({ finish_reason: 'length', incomplete_tool_calls: [0] });
  });

  it('removes calls with tool_choice none, and leaves them as text with tool calling off', async () => {
    const turns = [{ text: `Moment.\n${callText('Rome')}` }];
    const thinking = { chat_template_kwargs: { enable_thinking: false } };
    const none = await (await start(turns)).completions.create({
      messages,
      tools,
      tool_choice: 'none',
      include_details: true,
      ...thinking,
    });
    expect(none.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Moment.' } });
    expect(none.choices[0]?.message.tool_calls).toBeUndefined();
    expect(none.tokenprism?.prompt).not.toContain('get_weather');
    const off = await (await start(turns, { toolCalling: false })).completions.create({
      messages,
      tools,
      include_details: true,
      ...thinking,
    });
    expect(off.choices[0]?.message.content).toBe(`Moment.\n${callText('Rome')}`);
    expect(off.tokenprism?.prompt).not.toContain('get_weather');
  });

  it('withholds reasoning and counts it', async () => {
    const { completions } = await start([{ text: `${thought}Done.` }]);
    const answer = await completions.create({ messages, include_reasoning: false });
    expect(answer.choices[0]?.message).toMatchObject({ reasoning: null, content: 'Done.' });
    expect(answer.usage?.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(3);
  });

  it('answers with several choices, each with its own text', async () => {
    const { completions } = await start([
      { text: '<think>\n\n</think>\n\nA' },
      { text: '<think>\n\n</think>\n\nB' },
    ]);
    const { choices } = await completions.create({ messages, n: 2 });
    expect(choices.map(({ message }) => message.content)).toEqual(['A', 'B']);
  });

  it('rejects a prompt longer than the context, which the worker finds', async () => {
    const { completions } = await start([{ text: 'Hi' }]);
    const long = [{ role: 'user' as const, content: 'long '.repeat(400) }];
    const expected = { name: 'BadRequestError', code: 'context_length_exceeded', status: 400 };
    await expect(completions.create({ messages: long })).rejects.toMatchObject(expected);
    const stream = await completions.create({ messages: long, stream: true });
    await expect(read(stream)).rejects.toMatchObject(expected);
    await completions.create({ messages });
  });

  it('runs one request after the other, and frees the model when one is left', async () => {
    const { completions } = await start([{ text: `${thought}One two three four five six.`, delay: 5 }]);
    const stream = await completions.create({ messages, stream: true });
    const waiting = completions.create({ messages });
    const aborting = new AbortController();
    const aborted = completions.create({ messages }, { signal: aborting.signal });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.reasoning) break;
    aborting.abort();
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
    expect((await waiting).choices[0]?.message.content).toBe('One two three four five six.');
  });

  it('goes on with an answer whose device was lost, and with the turns behind it', async () => {
    const { engine, completions } = await start([
      { text: `${thought}First.` },
      { text: `${thought}One.`, loseDeviceAt: 3 },
    ]);
    await completions.create({ messages });
    const { choices } = await completions.create({ messages });
    expect(choices[0]?.message.content).toBe('One.');
    expect((await completions.create({ messages })).choices[0]?.message.content).toBe('First.');
    expect(engine.state).toMatchObject({ status: 'ready', recoveries: 1 });
  });

  it('gives an answer up whose device never comes back, and answers the next request', async () => {
    const error = { name: 'DeviceLostError' as const, message: 'The device was lost.', at: 5 };
    const { engine, worker, completions } = await start([
      { text: `${thought}Lost.`, error },
      { text: `${thought}Found.` },
    ]);
    await expect(completions.create({ messages })).rejects.toMatchObject({
      name: 'DeviceLostError',
      status: 503,
      message: expect.stringContaining('3 new workers'),
    });
    expect(engine.state).toMatchObject({ status: 'failed', recoveries: 3 });
    expect((await completions.create({ messages })).choices[0]?.message.content).toBe('Found.');
    expect(worker.received.filter(({ type }) => type === 'generate')).toHaveLength(1);
  });

  it('replays token ids as they are', async () => {
    const ids = tokenizer.encode(`${thought}As they are.`);
    const { completions } = await start([{ ids: [...ids, eosTokenId], open: true }]);
    expect((await completions.create({ messages })).choices[0]?.message.content).toBe('As they are.');
  });
});
