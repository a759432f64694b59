import { describe, expect, test } from 'vitest';
import { type AnswerRecord, emptyAnswer } from '../../../demo/conversation/answer.ts';
import {
  addExchange,
  historyOf,
  messagesOf,
  newConversation,
  path,
  showBranch,
  siblings,
  titleOf,
} from '../../../demo/conversation/conversation.ts';
import {
  answerMessages,
  canContinueText,
  type Part,
  withoutBrokenRound,
} from '../../../demo/conversation/parts.ts';
import { exportText, importText } from '../../../demo/conversation/portable.ts';

const content = (text: string, round = 1): Part => ({ kind: 'content', round, text });
const thought = (text: string, round = 1): Part => ({ kind: 'reasoning', round, text, milliseconds: 5 });
const call = (id: string, result: string | null, round = 1): Part => ({
  kind: 'call',
  round,
  id,
  name: 'look',
  arguments: '{"at": 1}',
  state: result === null ? 'cut' : 'done',
  result,
  milliseconds: null,
});
const answered = (...parts: Part[]): AnswerRecord => ({ ...emptyAnswer(), parts, end: 'answered' });

const toolCall = (id: string) => ({
  id,
  type: 'function' as const,
  function: { name: 'look', arguments: '{"at": 1}' },
});

describe('the messages of an answer', () => {
  test('are whole rounds with the results of their calls', () => {
    expect(
      answerMessages([
        thought('Hm.'),
        call('a', '1'),
        call('b', '2'),
        thought('So.', 2),
        content('Three.', 2),
      ]),
    ).toEqual([
      { role: 'assistant', content: null, reasoning: 'Hm.', tool_calls: [toolCall('a'), toolCall('b')] },
      { role: 'tool', tool_call_id: 'a', content: '1' },
      { role: 'tool', tool_call_id: 'b', content: '2' },
      { role: 'assistant', content: 'Three.', reasoning: 'So.' },
    ]);
  });

  test('have no call that was not run', () => {
    expect(answerMessages([content('I look.'), call('a', null)])).toEqual([
      { role: 'assistant', content: 'I look.' },
    ]);
  });
});

describe('going on with an answer', () => {
  test('happens inside its last text, where that was cut', () => {
    expect(canContinueText([content('Half a')], 'length')).toBe(true);
    expect(canContinueText([thought('Half a')], 'stopped')).toBe(true);
    expect(canContinueText([content('Whole.')], 'answered')).toBe(false);
    expect(canContinueText([content('I look.'), call('a', null)], 'length')).toBe(false);
    expect(canContinueText([], 'stopped')).toBe(false);
  });

  test('writes a round anew whose call was cut, and keeps one whose calls were run', () => {
    const whole = [thought('Hm.'), call('a', '1')];
    expect(withoutBrokenRound([...whole, content('And', 2), call('b', null, 2)])).toEqual(whole);
    expect(withoutBrokenRound(whole)).toEqual(whole);
  });
});

describe('a conversation', () => {
  test('branches where a question is asked instead of another', () => {
    const conversation = newConversation();
    const first = addExchange(conversation, null, 'One?', answered(content('1')));
    const second = addExchange(conversation, first.id, 'Two?', answered(content('2')));
    const other = addExchange(conversation, null, 'Uno?', answered(content('I')));
    expect(path(conversation)).toEqual([other]);
    expect(siblings(conversation, other)).toEqual([first, other]);
    showBranch(conversation, first);
    expect(path(conversation)).toEqual([first, second]);
    expect(conversation.title).toBe('One?');
  });

  test('gives the model the branch before a question, without what nothing came of', () => {
    const conversation = { ...newConversation(), system: 'Be brief.' };
    const first = addExchange(conversation, null, 'One?', answered(content('1')));
    const stopped = addExchange(conversation, first.id, 'Two?', {
      ...answered(thought('Hm')),
      end: 'stopped',
    });
    const third = addExchange(conversation, stopped.id, 'Three?');
    expect(historyOf(conversation, third)).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'One?' },
      { role: 'assistant', content: '1' },
      { role: 'user', content: 'Three?' },
    ]);
  });

  test('is named by its first question, on one line', () => {
    expect(titleOf(' What\n is  it? ')).toBe('What is it?');
    expect(titleOf('x'.repeat(100))).toHaveLength(60);
  });
});

describe('conversations as files', () => {
  test('come back as they went, in the messages of OpenAI', () => {
    const conversation = { ...newConversation(), system: 'Be brief.' };
    const first = addExchange(
      conversation,
      null,
      'Look?',
      answered(thought('Hm.'), call('a', '1'), content('One.', 2)),
    );
    addExchange(conversation, first.id, 'And?', answered(content('No.')));
    const [back] = importText(exportText([conversation]));
    expect(back).toMatchObject({ title: 'Look?', system: 'Be brief.' });
    expect(messagesOf(back!)).toEqual(messagesOf(conversation));
  });

  test('are also read from bare messages, with text in parts and the older name of reasoning', () => {
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'Hello!' }] },
      { role: 'assistant', content: 'Hi.', reasoning_content: 'A greeting.' },
    ];
    for (const file of [messages, { messages }, [{ messages }]]) {
      const [conversation] = importText(JSON.stringify(file));
      expect(messagesOf(conversation!)).toEqual([
        { role: 'user', content: 'Hello!' },
        { role: 'assistant', content: 'Hi.', reasoning: 'A greeting.' },
      ]);
    }
  });

  test.each([
    ['{', 'not JSON'],
    ['{}', "no 'messages'"],
    ['[]', 'no question'],
    ['{"conversations": []}', 'no conversation'],
    ['{"messages": 1}', "'messages' must be a list"],
    ['{"messages": []}', 'no question'],
    ['{"messages": [{"role": "assistant", "content": "Hi."}]}', "'messages[0]': the first message must be"],
    ['{"messages": [{"role": "wizard", "content": ""}]}', "'messages[0].role' must be"],
    [
      '{"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}',
      "'messages[0].content' must be text",
    ],
    [
      '{"messages": [{"role": "user", "content": ""}, {"role": "tool", "tool_call_id": "x", "content": ""}]}',
      'no call before it has the id "x"',
    ],
    [
      '[{"messages": [{"role": "user", "content": ""}]}, {"messages": [{"role": "user"}]}]',
      "'conversations[1].messages[0].content'",
    ],
  ])('%s is refused', (text, message) => {
    expect(() => importText(text)).toThrow(message);
  });
});
