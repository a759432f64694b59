/** An output that is cut at any token gives a beginning of what the whole one gives, and no markup. */
import { describe, expect, it } from 'vitest';
import { JsonCloser } from '../../src/chat/json-closer.ts';
import { createOutputParser } from '../../src/chat/output-parser.ts';
import { loadFormat } from '../../src/formats/index.ts';
import { spellings } from '../../src/parser/format.ts';
import type { Case } from './case.ts';
import { kindsOf } from './kinds.ts';
import { optionsOf, tokenize } from './replay.ts';
import { WRITERS } from './writers.ts';

/** Characters that may be half of a marker which is spelled in ordinary tokens. */
async function longestHalf({ reasoning_parser, tool_parser }: Case): Promise<(text: string) => number> {
  const { terminals } = await loadFormat({ reasoning: reasoning_parser, tools: tool_parser });
  const spelled = Object.values(terminals)
    .filter(({ token }) => token === 'never')
    .flatMap(spellings);
  return (text) =>
    Math.max(
      0,
      ...spelled.flatMap((marker) =>
        Array.from(marker, (_, length) => (text.endsWith(marker.slice(0, length)) ? length : 0)),
      ),
    );
}

/** Whether `part` is how `whole` begins, half a marker at its end and white space aside. */
function begins(part: string, whole: string, half: (text: string) => number): boolean {
  const cut = part.slice(0, part.length - half(part));
  return whole.startsWith(part.trimEnd()) || whole.startsWith(cut.trimEnd());
}

function closed(text: string): Record<string, unknown> {
  const closer = new JsonCloser();
  closer.push(text);
  return JSON.parse(text + closer.closers()) as Record<string, unknown>;
}

/** Whether arguments are a beginning of others: no key, number or literal that is not there in the end. */
function isBeginning(part: Record<string, unknown>, whole: Record<string, unknown>): boolean {
  return Object.entries(part).every(([key, value]) => {
    const final = whole[key];
    if (typeof value === 'string') return typeof final === 'string' && final.startsWith(value);
    return typeof value === 'object' ? Object.hasOwn(whole, key) : value === final;
  });
}

const isWhole = ({ finish, request }: Case) => finish === 'stop' && request?.tool_choice === undefined;

describe.each(WRITERS.map((writer) => [writer.tools, writer] as const))('%s', (_name, writer) => {
  const cases = kindsOf(writer).filter(isWhole);
  it.each(cases.map((test) => [test.id, test] as const))('%s', async (_id, test) => {
    const { ids, table } = await tokenize(test);
    const half = await longestHalf(test);
    const { reasoning, content, tool_calls, incomplete_tool_calls = [] } = test.expected;
    const all = [...tool_calls, ...incomplete_tool_calls];
    for (let length = 1; length < ids.length; length++) {
      const parser = await createOutputParser({ ...optionsOf(test), tokens: table });
      parser.feed({ ids: ids.slice(0, length) });
      parser.finish('length');
      const { message, incomplete_tool_calls: cut = [] } = parser.choice;
      const where = `cut at token ${length}`;
      expect(begins(message.reasoning ?? '', reasoning ?? '', half), where).toBe(true);
      expect(begins(message.content ?? '', content ?? '', half), where).toBe(true);
      const calls = message.tool_calls ?? [];
      calls.forEach(({ function: call }, index) => {
        expect({ name: call.name, arguments: JSON.parse(call.arguments) }, where).toEqual(tool_calls[index]);
      });
      expect(cut.length, where).toBeLessThanOrEqual(1);
      for (const { function: call } of cut) {
        const final = all[calls.length]!;
        expect(call.name, where).toBe(final.name);
        const values = final.arguments as Record<string, unknown>;
        expect(isBeginning(closed(call.arguments || '{}'), values), `${where}: ${call.arguments}`).toBe(true);
      }
    }
  });
});
