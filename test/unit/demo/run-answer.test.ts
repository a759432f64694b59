import { beforeEach, describe, expect, test, vi } from 'vitest';
import { emptyAnswer, LiveAnswer } from '../../../demo/conversation/answer.ts';
import { runAnswer } from '../../../demo/conversation/run-answer.ts';
import type {
  ChatCompletionChunk,
  ChatCompletionCreateParamsStreaming,
  RunnableTool,
  ToolRunEngine,
} from '../../../src/index.ts';

beforeEach(() => {
  // A hidden page, which is drawn by a timer.
  vi.stubGlobal('document', { hidden: true });
});

type Choice = Partial<ChatCompletionChunk['choices'][number]>;

const reasoning = (text: string): Choice => ({ delta: { reasoning: text } });
const content = (text: string): Choice => ({ delta: { content: text } });
const call = (name: string, args: string): Choice => ({
  delta: {
    tool_calls: [{ index: 0, id: `call-${name}`, type: 'function', function: { name, arguments: args } }],
  },
});
const finish = (reason: 'stop' | 'length' | 'tool_calls'): Choice => ({ finish_reason: reason });

/** Answers with the turns in order; an Error is thrown where it stands. */
function scripted(turns: (Choice | Error)[][]) {
  const requests: ChatCompletionCreateParamsStreaming[] = [];
  const engine: ToolRunEngine = {
    chat: {
      completions: {
        async create(body, options) {
          requests.push(structuredClone(body));
          const turn = turns[requests.length - 1] ?? [];
          return (async function* () {
            for (const item of turn) {
              options?.signal?.throwIfAborted();
              if (item instanceof Error) throw item;
              yield {
                id: '1',
                object: 'chat.completion.chunk' as const,
                created: 0,
                model: 'scripted',
                choices: [{ index: 0, delta: {}, finish_reason: null, ...item }],
              };
            }
          })();
        },
      },
    },
  };
  return { engine, requests };
}

const look: RunnableTool = { name: 'look', run: () => ({ seen: true }) };

function run(answer: LiveAnswer, engine: ToolRunEngine, tools: RunnableTool[] = [look]) {
  return runAnswer(answer, {
    engine,
    history: [{ role: 'user', content: 'Look!' }],
    tools,
    params: {},
    maxRounds: 3,
    signal: new AbortController().signal,
  });
}

describe('runAnswer', () => {
  test('keeps what happened in its order, over all rounds', async () => {
    const { engine } = scripted([
      [reasoning('I '), reasoning('look.'), content('\n\n'), call('look', '{}'), finish('tool_calls')],
      [reasoning('Seen.'), content('\nIt is '), content('there.'), finish('stop')],
    ]);
    const answer = new LiveAnswer(emptyAnswer());
    expect(await run(answer, engine)).toBeNull();
    expect(answer.record.end).toBe('answered');
    expect(answer.record.parts).toMatchObject([
      { kind: 'reasoning', round: 1, text: 'I look.', milliseconds: expect.any(Number) },
      { kind: 'call', round: 1, name: 'look', arguments: '{}', state: 'done', result: '{"seen":true}' },
      { kind: 'reasoning', round: 2, text: 'Seen.' },
      { kind: 'content', round: 2, text: 'It is there.' },
    ]);
  });

  test('asks without tools where there are none', async () => {
    const { engine, requests } = scripted([[content('Hi.'), finish('stop')]]);
    await run(new LiveAnswer(emptyAnswer()), engine, []);
    expect(requests[0]).not.toHaveProperty('tools');
  });

  test('goes on inside a text that was cut, in the same part, and only in the first request', async () => {
    const { engine, requests } = scripted([
      [content('One two'), finish('length')],
      [content(' three.'), call('look', '{}'), finish('tool_calls')],
      [content('Four.'), finish('stop')],
    ]);
    const answer = new LiveAnswer(emptyAnswer());
    await run(answer, engine);
    expect(answer.record.end).toBe('length');
    await run(answer, engine);
    expect(requests.map((request) => request.continue_final_message)).toEqual([undefined, true, undefined]);
    expect(requests[1]!.messages.at(-1)).toEqual({ role: 'assistant', content: 'One two' });
    expect(answer.record.parts).toMatchObject([
      { kind: 'content', round: 1, text: 'One two three.' },
      { kind: 'call', round: 1, state: 'done' },
      { kind: 'content', round: 2, text: 'Four.' },
    ]);
  });

  test('never runs a call that was cut; the round is written anew', async () => {
    const tool = { name: 'look', run: vi.fn(() => 1) };
    const { engine, requests } = scripted([
      [call('look', '{"a'), { finish_reason: 'length', incomplete_tool_calls: [0] }],
      [content('Without.'), finish('stop')],
    ]);
    const answer = new LiveAnswer(emptyAnswer());
    await run(answer, engine, [tool]);
    expect(answer.record.parts).toMatchObject([{ kind: 'call', state: 'cut', result: null }]);
    await run(answer, engine, [tool]);
    expect(tool.run).not.toHaveBeenCalled();
    expect(requests[1]!.messages).toEqual([{ role: 'user', content: 'Look!' }]);
    expect(answer.record.parts).toMatchObject([{ kind: 'content', text: 'Without.' }]);
  });

  test('tells what went wrong, and tries again from the last whole round', async () => {
    const { engine, requests } = scripted([
      [call('look', '{}'), finish('tool_calls')],
      [content('It '), new Error('the device was lost')],
      [content('It is.'), finish('stop')],
    ]);
    const answer = new LiveAnswer(emptyAnswer());
    expect(await run(answer, engine)).toMatchObject({ message: 'the device was lost' });
    expect(answer.record).toMatchObject({ end: 'failed', error: 'the device was lost' });
    await run(answer, engine);
    expect(requests[2]!.messages).toEqual(requests[1]!.messages);
    expect(answer.record).toMatchObject({ end: 'answered', error: null });
    expect(answer.record.parts).toMatchObject([{ kind: 'call' }, { kind: 'content', text: 'It is.' }]);
  });

  test('shows that a call waits for a person, also when it is asked about before its events are here', async () => {
    const { engine } = scripted([
      [call('look', '{}'), finish('tool_calls')],
      [content('Yes.'), finish('stop')],
    ]);
    const answer = new LiveAnswer(emptyAnswer());
    let decide = () => {};
    const asking: RunnableTool = {
      name: 'look',
      async run(_args, { id }) {
        answer.setAsking(id, true);
        await new Promise<void>((resolve) => {
          decide = resolve;
        });
        answer.setAsking(id, false);
        return 1;
      },
    };
    const running = run(answer, engine, [asking]);
    await vi.waitFor(() => expect(answer.record.parts).toMatchObject([{ state: 'asking' }]));
    decide();
    await running;
    expect(answer.record.parts[0]).toMatchObject({ state: 'done', result: '1' });
  });
});
