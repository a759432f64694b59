import { expect, test } from 'vitest';
import { BlockReader } from '../../../demo/components/markdown/blocks.ts';

const source = `# Title

Some **bold** text with [a link][1] and <b>tags</b>,
on two lines.

- one
  - nested

- two

1. first

\`\`\`js
const a = "<img src=x>";

a();
\`\`\`

| a | b |
|---|--:|
| 1 | 2 |

> quoted
lazily

![picture](https://example.org/x.png)

[1]: https://example.org/
`;

/** The HTML of a text that comes in pieces, each block as it was when it was whole. */
function streamed(pieces: string[]): { html: string[]; raw: string } {
  const reader = new BlockReader();
  let text = '';
  let whole = 0;
  const html: string[] = [];
  const raw: string[] = [];
  const take = (blocks: ReturnType<BlockReader['read']>) => {
    for (const block of blocks) {
      whole += block.raw.length;
      raw.push(block.raw);
      html.push(block.html());
    }
  };
  for (const piece of pieces) {
    text += piece;
    take(reader.read(text.slice(whole)).slice(0, -1));
  }
  take(reader.read(text.slice(whole)));
  return { html, raw: raw.join('') };
}

test('blocks that are whole stay what they are, however the text was cut', () => {
  // A link whose definition comes later is one only where both are read at once: its block is left aside.
  const withoutLink = (html: string[]) => html.filter((block) => !block.includes('a link'));
  const once = new BlockReader().read(source);
  expect(once.map(({ raw }) => raw).join('')).toBe(source);
  const expected = withoutLink(once.map((block) => block.html()));
  expect(expected).toHaveLength(8);
  expect(withoutLink(streamed([...source]).html)).toEqual(expected);
  for (let at = 1; at < source.length; at++) {
    const { html, raw } = streamed([source.slice(0, at), source.slice(at)]);
    expect(raw).toBe(source);
    expect(withoutLink(html), `cut at ${at}`).toEqual(expected);
  }
});

test('a definition holds for the blocks behind it', () => {
  const { html } = streamed(['[1]: https://example.org/\n\nBetween.\n\n', 'See [it][1].']);
  expect(html.at(-1)).toContain('<a href="https://example.org/">it</a>');
});

test('markup of the model is text, and a picture is a link', () => {
  const html = (text: string) =>
    new BlockReader()
      .read(text)
      .map((block) => block.html())
      .join('');
  expect(html('<script>alert(1)</script>')).not.toContain('<script');
  expect(html('a <b>b</b>')).not.toContain('<b>');
  expect(html('![x" onerror="alert(1)](https://example.org/x.png)')).toMatch(
    /^<p><a href="[^"]*">[^<]*<\/a><\/p>/,
  );
});
