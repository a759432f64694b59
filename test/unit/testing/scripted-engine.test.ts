import { describe, expect, it } from 'vitest';
import { BadRequestError } from '../../../src/errors.ts';
import { createScriptedEngine } from '../../../src/testing/index.ts';
import { scriptedWorker } from '../engine/in-process-worker.ts';
import { messages } from '../http/engine.ts';

/** Of the worker it counts only which format its model has. */
const worker = () => scriptedWorker([{ text: '' }]) as unknown as Worker;

describe('createScriptedEngine', () => {
  it('refuses an answer by its parts where the engine reads another format than the embedded model’s', async () => {
    const turns = ['Hi', { content: 'Hi' }];
    const other = createScriptedEngine(turns, { worker, toolParser: 'llama3_json' });
    await expect(other).rejects.toBeInstanceOf(BadRequestError);
    await expect(other).rejects.toMatchObject({ param: 'turns[1]' });
    const given = await createScriptedEngine(['Hi'], { worker, toolParser: 'llama3_json' });
    expect(given.state.format.tools).toBe('llama3_json');
    await given.close();
  });

  it('sends the turns to the worker as they are written', async () => {
    const inner = scriptedWorker([{ text: '<think>\n\n</think>\n\nHi' }]);
    const engine = await createScriptedEngine([{ content: 'Hi', delay: 3 }], {
      worker: () => inner as unknown as Worker,
    });
    const load = inner.received.find(({ type }) => type === 'load');
    expect(load).toMatchObject({
      backend: { kind: 'scripted', turns: [{ text: '<think>\n\n</think>\n\nHi', delay: 3 }] },
    });
    const answer = await engine.chat.completions.create({ messages });
    expect(answer.choices[0]?.message).toMatchObject({ reasoning: null, content: 'Hi' });
  });
});
