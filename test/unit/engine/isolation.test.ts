import { describe, expect, it } from 'vitest';
import { createEngine, type Engine } from '../../../src/index.ts';
import { scriptedWorker } from './in-process-worker.ts';

const call = (name: string) =>
  `<think>\nfor ${name}\n</think>\n\n<tool_call>\n{"name": "look", "arguments": {"place": "${name}"}}\n</tool_call>`;
const tools = [{ type: 'function' as const, function: { name: 'look', parameters: { type: 'object' } } }];

const engineOf = (texts: string[]) =>
  createEngine({
    reasoningParser: 'qwen3',
    toolParser: 'hermes',
    worker: () => scriptedWorker(texts.map((text) => ({ text }))) as unknown as Worker,
  });

const ask = async (engine: Engine, signal?: AbortSignal) => {
  const { choices } = await engine.chat.completions.create(
    { messages: [{ role: 'user', content: 'Hi' }], tools },
    signal && { signal },
  );
  const { reasoning, tool_calls } = choices[0]!.message;
  return [reasoning, tool_calls?.[0]?.function.arguments];
};
const expected = (name: string) => [`for ${name}`, `{"place": "${name}"}`];

describe('isolation', () => {
  it('two engines answer at once, each with its own; an abort and a close of one are nothing to the other', async () => {
    const [first, second] = await Promise.all([
      engineOf([call('a'), call('b'), call('c')]),
      engineOf([call('x'), call('y'), call('z')]),
    ]);
    const leave = new AbortController();
    const answers = [ask(first), ask(second), ask(first, leave.signal), ask(second), ask(first), ask(second)];
    leave.abort();
    const settled = await Promise.allSettled(answers);
    expect(settled.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ]);
    const values = settled.map((one) => (one.status === 'fulfilled' ? one.value : null));
    expect([values[1], values[3], values[5]]).toEqual(['x', 'y', 'z'].map(expected));
    expect(values[0]).toEqual(expected('a'));
    // The turn of the one that was aborted in the queue goes to the next.
    expect(values[4]).toEqual(expected('b'));
    await first.close();
    await expect(ask(first)).rejects.toThrow();
    await second.close();
  });
});
