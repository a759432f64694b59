import { describe, expect, test } from 'vitest';
import { piecesOf, stepsOf } from '../../../demo/pages/inspector/steps.ts';
import { createOutputParser, formatNames } from '../../../src/index.ts';

const output =
  '<think>\nHm.\n</think>\n\nLook:\n<tool_call>\n{"name": "look", "arguments": {"at": 1}}\n</tool_call>';
const options = { format: { reasoning: 'qwen3', tools: 'hermes' }, prompt: '\n', end: 'stop' as const };

describe.each(['characters', 'words'] as const)('an output in %s', (cutting) => {
  test('loses nothing', () => {
    expect(
      piecesOf(output, cutting)
        .map(({ text }) => text)
        .join(''),
    ).toBe(output);
  });

  test('goes through the states, and gives what the engine would', async () => {
    const steps = await stepsOf(piecesOf(output, cutting), options);
    const states = steps.map(({ state }) => state);
    expect(states.filter((state, index) => state !== states[index - 1])).toEqual([
      'start',
      'reasoning',
      'content',
      'call',
      'end',
    ]);
    const said = (kind: string) =>
      steps
        .flatMap(({ events }) => events)
        .filter((event) => event.kind === kind)
        .map(({ text }) => text)
        .join('');
    expect(said('reasoning').trim()).toBe('Hm.');
    expect(said('content').trim()).toBe('Look:');
    expect(said('call')).toBe('look');
    expect(JSON.parse(said('arguments'))).toEqual({ at: 1 });
    expect(said('end')).toBe('tool_calls');
    // Of a marker nothing becomes, until it is whole and what follows it has come.
    expect(steps[0]!.events).toEqual([]);
  });
});

test('a cut call is named at the end', async () => {
  const steps = await stepsOf(piecesOf(output.slice(0, -20), 'words'), { ...options, end: 'length' });
  expect(steps.at(-1)!.events.map(({ kind }) => kind)).toEqual(['cut', 'end']);
});

test('a format that there is not is refused', async () => {
  await expect(stepsOf([], { ...options, format: { reasoning: 'abacus', tools: null } })).rejects.toThrow(
    'abacus',
  );
});

test('all formats of the lists are there', async () => {
  for (const name of formatNames.reasoning)
    await createOutputParser({ reasoningParser: name, toolParser: null });
  for (const name of formatNames.tools) await createOutputParser({ reasoningParser: null, toolParser: name });
});
