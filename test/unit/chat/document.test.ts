/** docs/api.md names each field of a request, and no other; what it says of arguments is so. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { honoured, withoutEffect } from '../../../src/chat/field-names.ts';
import { createOutputParser } from '../../../src/chat/output-parser.ts';
import { textFields } from '../../../src/chat/text-request.ts';

const document = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8');

/** The part under a heading. */
function section(heading: string): string {
  const start = document.indexOf(`\n${heading}\n`);
  expect(start, heading).toBeGreaterThan(0);
  const end = document.indexOf('\n## ', start + heading.length + 2);
  return document.slice(start, end);
}

/** Names in the first column of its tables. */
const fieldsIn = (text: string) =>
  [...text.matchAll(/^\| (`[^|]+) \|/gm)]
    .flatMap(([, cell]) => [...cell!.matchAll(/`([a-z_]+)(?:\.[a-z_]+)?`/g)].map(([, name]) => name!))
    .sort();

describe('docs/api.md', () => {
  it('has a line for each field of a chat request', () => {
    const told = new Set(fieldsIn(section('## `chat.completions.create`')));
    expect([...told].sort()).toEqual([...honoured, ...withoutEffect].sort());
  });

  it('names each field of a request for a raw prompt', () => {
    const text = section('## `completions.create`');
    const listed = /Fields as in the tables above: ([^;]+);/.exec(text)![1]!;
    const shared = [...listed.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name!);
    expect([...shared, ...fieldsIn(text)].sort()).toEqual([...textFields].sort());
  });

  it('shows arguments as they are delivered', async () => {
    const rows = [...section('## Answers').matchAll(/^\| `(\{.*\})` \| `(.+)` \| `(.+)` \|$/gm)];
    expect(rows.length).toBeGreaterThan(10);
    for (const [row, schema, written, delivered] of rows) {
      const parameters = { type: 'object', properties: { value: JSON.parse(schema!) as object } };
      const parser = await createOutputParser({
        reasoningParser: null,
        toolParser: 'hermes',
        tools: [{ type: 'function', function: { name: 'f', parameters } }],
      });
      const call = `{"name": "f", "arguments": {"value": ${written}}}`;
      parser.feed({ text: `<tool_call>\n${call}\n</tool_call>` });
      parser.finish('stop');
      const text = parser.choice.message.tool_calls![0]!.function.arguments;
      expect([row, JSON.parse(text)]).toEqual([row, { value: JSON.parse(delivered!) as unknown }]);
    }
  });
});
