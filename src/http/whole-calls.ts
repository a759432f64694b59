import { CompletionCollector } from '../chat/collector.ts';
import type { ChatCompletionChunk, ServedChunk } from '../chat/types.ts';

/**
 * Holds calls back until their choice has ended, when it is known which of them are whole: those go out in one piece
 * each, and the others stand on the choice's last chunk as they do in an answer that is not streamed. A client that
 * knows nothing of cut calls would run one that it has seen begin.
 */
export async function* wholeCalls(chunks: AsyncIterable<ChatCompletionChunk>): AsyncGenerator<ServedChunk> {
  const collectors = new Map<number, CompletionCollector>();
  for await (const chunk of chunks) {
    if (chunk.choices.length === 0) yield { ...chunk, choices: [] };
    for (const choice of chunk.choices) {
      const { index, delta: given, finish_reason, incomplete_tool_calls, ...more } = choice;
      const { tool_calls, ...delta } = given;
      let calls = collectors.get(index);
      if (!calls) {
        calls = new CompletionCollector();
        collectors.set(index, calls);
      }
      calls.add({
        ...chunk,
        choices: [{ index, delta: { tool_calls }, finish_reason, incomplete_tool_calls }],
      });
      if (finish_reason === null) {
        const said = { ...more, ...delta };
        if (tool_calls && Object.keys(said).length === 0) continue;
        yield { ...chunk, choices: [{ ...more, index, delta, finish_reason }] };
        continue;
      }
      const [ended] = calls.finish().choices;
      for (const [number, call] of (ended?.message.tool_calls ?? []).entries()) {
        const called = { tool_calls: [{ index: number, ...call }] };
        yield { ...chunk, choices: [{ index, delta: called, finish_reason: null }] };
      }
      const cut = ended?.incomplete_tool_calls;
      const last = { ...more, index, delta, finish_reason, ...(cut && { incomplete_tool_calls: cut }) };
      yield { ...chunk, choices: [last] };
    }
  }
}
