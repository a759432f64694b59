import { describe, expect, it } from 'vitest';
import { BadRequestError, InvalidLogitsError } from '../../../src/errors.ts';
import { type Turn, writtenTurns } from '../../../src/testing/turns.ts';
import { messages, serveTurns, weather } from '../http/engine.ts';

/** What the engine makes of each turn, through worker, protocol and parser. */
async function answers(turns: Turn[]) {
  const { engine } = await serveTurns(writtenTurns(turns));
  const choices = [];
  for (const _ of turns) {
    const {
      choices: [choice],
    } = await engine.chat.completions.create({ messages, tools: [weather] });
    choices.push(choice!);
  }
  return choices;
}

const rome = { name: 'get_weather', arguments: { location: 'Rome "E" 🌦' } };

describe('an answer by its parts', () => {
  it('is read as what it says', async () => {
    const [whole, plain, calls] = await answers([
      {
        reasoning: 'Where?\n\nRome.',
        content: 'A moment.',
        calls: [rome, { name: 'get_weather', arguments: '{}' }],
      },
      { content: 'Hello.' },
      { calls: [rome] },
    ]);
    expect(whole?.message).toMatchObject({ reasoning: 'Where?\n\nRome.', content: 'A moment.' });
    expect(whole?.message.tool_calls?.map((call) => JSON.parse(call.function.arguments))).toEqual([
      rome.arguments,
      {},
    ]);
    expect(plain).toMatchObject({ finish_reason: 'stop', message: { reasoning: null, content: 'Hello.' } });
    expect(calls).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
  });

  it('can be cut inside its last call', async () => {
    const [cut] = await answers([{ reasoning: 'Where?', calls: [rome, rome], cut: true }]);
    expect(cut?.message.tool_calls).toHaveLength(1);
    const text = JSON.stringify(rome.arguments);
    expect(cut?.incomplete_tool_calls?.[0]?.function.arguments).toBe(
      text.slice(0, Math.ceil(text.length / 2)),
    );
  });
});

describe('a turn that fails', () => {
  it('ends its request with the error that it names, behind what came before; the next one works', async () => {
    const turn = {
      content: 'One two three.',
      error: { name: 'InvalidLogitsError' as const, message: 'No token.', at: 7 },
    };
    const { engine } = await serveTurns(writtenTurns([turn, { content: 'Fine.' }]));
    let text = '';
    const read = async () => {
      for await (const chunk of await engine.chat.completions.create({ messages, stream: true })) {
        text += chunk.choices[0]?.delta.content ?? '';
      }
    };
    const failed = read();
    await expect(failed).rejects.toBeInstanceOf(InvalidLogitsError);
    await expect(failed).rejects.toThrow('No token.');
    expect(text).not.toBe('');
    expect('One two three.'.startsWith(text)).toBe(true);
    const next = await engine.chat.completions.create({ messages });
    expect(next.choices[0]?.message.content).toBe('Fine.');
  });
});

it('the first token waits for firstDelay', async () => {
  const { engine } = await serveTurns(writtenTurns([{ content: 'Late.', firstDelay: 60 }]));
  const { tokenprism } = await engine.chat.completions.create({ messages, include_details: true });
  expect(tokenprism?.timings.timeToFirstToken).toBeGreaterThan(50);
});

it.each<[string, unknown]>([
  ['turns', []],
  ['turns[0]', [7]],
  ['turns[0].txt', [{ txt: 'Hi' }]],
  ['turns[0].text', [{ text: 'Hi', content: 'Hi' }]],
  ['turns[0].content', [{ content: 'a </think> b' }]],
  ['turns[1].reasoning', ['Hi', { reasoning: 7 }]],
  ['turns[0].cut', [{ content: 'Hi', cut: true }]],
])('names %s where it is wrong', (param, turns) => {
  let thrown: unknown;
  try {
    writtenTurns(turns as Turn[]);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(BadRequestError);
  expect(thrown).toMatchObject({ param });
});
