import { describe, expect, test } from 'vitest';
import {
  Agent,
  type AgentEvent,
  type Complete,
  maximumRounds,
  type RunOptions,
} from '../../../demo/agent.ts';
import type { ChatCompletionChunk, ChatCompletionMessageParam } from '../../../src/index.ts';

type Choice = Partial<ChatCompletionChunk['choices'][number]>;

/** One scripted answer: its chunks' choices; an Error is thrown where it stands. */
type Turn = (Choice | Error)[];

function chunk(choice: Choice): ChatCompletionChunk {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 0,
    model: 'scripted',
    choices: [{ index: 0, delta: {}, finish_reason: null, ...choice }],
  };
}

const reasoning = (text: string): Choice => ({ delta: { reasoning: text } });
const content = (text: string): Choice => ({ delta: { content: text } });
const call = (index: number, name: string): Choice => ({
  delta: {
    tool_calls: [{ index, id: `call-${index}`, type: 'function', function: { name, arguments: '' } }],
  },
});
const args = (index: number, text: string): Choice => ({
  delta: { tool_calls: [{ index, function: { arguments: text } }] },
});
const finish = (reason: 'stop' | 'length' | 'tool_calls'): Choice => ({ finish_reason: reason });

/** An agent whose model gives the turns out in order, with what it was asked and which tools ran. */
function scripted(turns: Turn[]) {
  const requests: Parameters<Complete>[0][] = [];
  const ran: [string, unknown][] = [];
  const complete: Complete = async (body, { signal }) => {
    requests.push(structuredClone(body));
    const turn = turns[requests.length - 1] ?? [content('?'), finish('stop')];
    return (async function* () {
      for (const item of turn) {
        signal.throwIfAborted();
        if (item instanceof Error) throw item;
        yield chunk(item);
      }
      signal.throwIfAborted();
    })();
  };
  const tools = {
    definitions: [],
    async run(name: string, given: unknown) {
      ran.push([name, given]);
      return JSON.stringify({ ran: name });
    },
  };
  return { agent: new Agent(complete, tools), requests, ran };
}

const options = (signal = new AbortController().signal): RunOptions => ({ thinking: true, signal });

async function collect(events: AsyncGenerator<AgentEvent>): Promise<AgentEvent[]> {
  const all: AgentEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

const names = (events: AgentEvent[]) =>
  events.map((event) => ('index' in event ? `${event.type} ${event.index}` : event.type));

describe('Agent', () => {
  test('runs calls and gives their results back until the model answers', async () => {
    const { agent, requests, ran } = scripted([
      [
        reasoning('I '),
        reasoning('look.'),
        call(0, 'get_weather'),
        args(0, '{"location": "Pa'),
        args(0, 'ris"}'),
        call(1, 'get_time'),
        args(1, '{"city": "Oslo"}'),
        finish('tool_calls'),
      ],
      [reasoning('Good.'), content('Cloudy, '), content('14:05.'), finish('stop')],
    ]);
    const events = await collect(agent.ask('Weather and time?', options()));
    expect(names(events)).toEqual([
      'round-start',
      'reasoning',
      'reasoning',
      'call-start 0',
      'call-arguments 0',
      'call-arguments 0',
      'call-start 1',
      'call-arguments 1',
      'round-end',
      'call-running 0',
      'call-result 0',
      'call-running 1',
      'call-result 1',
      'round-start',
      'reasoning',
      'content',
      'content',
      'round-end',
      'end',
    ]);
    expect(ran).toEqual([
      ['get_weather', { location: 'Paris' }],
      ['get_time', { city: 'Oslo' }],
    ]);
    const firstRound: ChatCompletionMessageParam[] = [
      { role: 'user', content: 'Weather and time?' },
      {
        role: 'assistant',
        content: null,
        reasoning: 'I look.',
        tool_calls: [
          {
            id: 'call-0',
            type: 'function',
            function: { name: 'get_weather', arguments: '{"location": "Paris"}' },
          },
          { id: 'call-1', type: 'function', function: { name: 'get_time', arguments: '{"city": "Oslo"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call-0', content: '{"ran":"get_weather"}' },
      { role: 'tool', tool_call_id: 'call-1', content: '{"ran":"get_time"}' },
    ];
    expect(requests[1]!.messages).toEqual(firstRound);
    expect(agent.messages).toEqual([
      ...firstRound,
      { role: 'assistant', content: 'Cloudy, 14:05.', reasoning: 'Good.' },
    ]);
  });

  test('never runs a call that was cut, and keeps it out of the history', async () => {
    const { agent, ran } = scripted([
      [
        call(0, 'get_time'),
        args(0, '{"city": "Oslo"}'),
        call(1, 'get_weather'),
        args(1, '{"location": "Par'),
        { finish_reason: 'length', incomplete_tool_calls: [1] },
      ],
      [content('Done.'), finish('stop')],
    ]);
    const events = await collect(agent.ask('?', options()));
    expect(names(events)).toContain('call-incomplete 1');
    expect(ran).toEqual([['get_time', { city: 'Oslo' }]]);
    expect(agent.messages[1]).toMatchObject({ tool_calls: [{ id: 'call-0' }] });
    expect(agent.messages.filter(({ role }) => role === 'tool')).toHaveLength(1);
  });

  test('says when only the limit ended the answer', async () => {
    const { agent } = scripted([
      [call(0, 'get_weather'), args(0, '{'), { finish_reason: 'length', incomplete_tool_calls: [0] }],
    ]);
    expect((await collect(agent.ask('?', options()))).at(-1)).toEqual({ type: 'end', reason: 'length' });
  });

  test('stops a model that calls in circles', async () => {
    const turn: Turn = [call(0, 'get_time'), args(0, '{}'), finish('tool_calls')];
    const { agent, requests } = scripted(Array<Turn>(20).fill(turn));
    expect((await collect(agent.ask('?', options()))).at(-1)).toEqual({ type: 'end', reason: 'rounds' });
    expect(requests).toHaveLength(maximumRounds);
  });

  test('passes the thinking switch on', async () => {
    const { agent, requests } = scripted([]);
    await collect(agent.ask('?', { ...options(), thinking: false }));
    expect(requests[0]!.chat_template_kwargs).toEqual({ enable_thinking: false });
  });

  /** Reads until the event has come, then aborts and reads on. */
  async function abortAt(agent: Agent, type: AgentEvent['type'], question = '?'): Promise<void> {
    const abort = new AbortController();
    for await (const event of agent.ask(question, options(abort.signal)))
      if (event.type === type) abort.abort();
  }

  test('keeps the text of a stopped answer', async () => {
    const { agent } = scripted([[content('It is '), content('18 degrees.'), finish('stop')]]);
    await expect(abortAt(agent, 'content')).rejects.toThrow('abort');
    expect(agent.messages).toEqual([
      { role: 'user', content: '?' },
      { role: 'assistant', content: 'It is ' },
    ]);
  });

  test('forgets a question that was stopped before any answer', async () => {
    const { agent } = scripted([[reasoning('Hm.'), content('Yes.'), finish('stop')]]);
    await expect(abortAt(agent, 'reasoning')).rejects.toThrow('abort');
    expect(agent.messages).toEqual([]);
  });

  test('every call in the history has its result, also after a stop between two', async () => {
    const { agent, requests } = scripted([
      [call(0, 'one'), args(0, '{}'), call(1, 'two'), args(1, '{}'), finish('tool_calls')],
    ]);
    await expect(abortAt(agent, 'call-result')).rejects.toThrow('abort');
    expect(requests).toHaveLength(1);
    expect(agent.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool']);
  });

  test('goes on after an error from where it was', async () => {
    const { agent, requests, ran } = scripted([
      [call(0, 'one'), args(0, '{}'), finish('tool_calls')],
      [content('It '), new Error('the device was lost')],
      [content('It is.'), finish('stop')],
    ]);
    await expect(collect(agent.ask('?', options()))).rejects.toThrow('the device was lost');
    await collect(agent.resume(options()));
    expect(ran).toHaveLength(1);
    expect(requests[2]!.messages).toEqual(requests[1]!.messages);
    expect(agent.messages.at(-1)).toEqual({ role: 'assistant', content: 'It is.' });
  });
});
