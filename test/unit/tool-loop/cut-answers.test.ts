/** Answers of `runTools` that are cut, on a real engine whose answers are written down. */
import { describe, expect, it } from 'vitest';
import { runTools } from '../../../src/tool-loop/run-tools.ts';
import { cutCall, messages, serveTurns, weather } from '../http/engine.ts';
import { callWith, collect, noting, thought } from './tools.ts';

describe('an answer that is cut', () => {
  const whole = callWith('{"location": "Oslo"}');

  it.each([
    { end: 'length', cut: 'inside its only call', turn: cutCall, dropped: [true] },
    { end: 'length', cut: 'behind a whole call', turn: `${whole}\n${cutCall}`, dropped: [false, true] },
    { end: 'incomplete', cut: 'inside its only call', turn: cutCall, dropped: [true] },
    { end: 'incomplete', cut: 'behind a whole call', turn: `${whole}\n${cutCall}`, dropped: [false, true] },
  ])('has none of its calls run: $end, $cut', async ({ end, turn, dropped }) => {
    const { engine } = await serveTurns([thought + turn]);
    const usage = (
      await engine.chat.completions.create({
        messages,
        tools: [weather],
      })
    ).usage;
    // The last token that counts is the one by which the model ends its turn.
    const max_tokens = end === 'length' ? usage!.completion_tokens - 1 : null;
    const ran: unknown[] = [];
    const run = runTools(engine, { messages, tools: [noting(ran)], max_tokens });
    const events = await collect(run);
    const result = await run.result();
    expect(ran).toEqual([]);
    expect(result.reason).toBe(end);
    expect(result.dropped.map(({ isCut }) => isCut)).toEqual(dropped);
    expect(result.dropped.at(-1)?.call.function.arguments).toBe('{"location": "Ro');
    expect(result.messages.at(-1)).toEqual({ role: 'assistant', content: '', reasoning: 'Where is it?' });
    expect(events.filter(({ type }) => type.startsWith('tool-'))).toEqual([]);
    expect(events.filter(({ type }) => type === 'call-dropped')).toMatchObject(
      dropped.map((isCut) => ({ isCut })),
    );
  });

  it.each([
    ['raw', 'length'],
    ['raw', 'incomplete'],
    ['close', 'length'],
    ['close', 'incomplete'],
  ] as const)('nor where the engine leaves cut calls in place: %s, %s', async (mode, end) => {
    const { engine } = await serveTurns([thought + cutCall], { incompleteToolCalls: mode });
    const ran: unknown[] = [];
    const { usage } = await engine.chat.completions.create({ messages, tools: [weather] });
    const max_tokens = end === 'length' ? usage!.completion_tokens - 1 : null;
    const result = await runTools(engine, { messages, tools: [noting(ran)], max_tokens }).result();
    expect({ ran, reason: result.reason }).toEqual({ ran: [], reason: end });
  });
});
