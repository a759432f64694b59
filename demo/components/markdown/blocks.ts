/** Markdown in blocks, so that a text that grows is only read from the block that still grows. */
import { Marked, type Token, type Tokens, type TokensList } from 'marked';

const marked = new Marked({
  gfm: true,
  renderer: {
    // What the model writes is text: markup of its own making is shown as it is, line breaks aside.
    html({ text }) {
      return /^<br\s*\/?>\s*$/i.test(text) ? '<br>' : escaped(text);
    },
    // A picture would ask another server for it, which nobody wanted.
    image({ href, text }) {
      return `<a href="${escaped(href)}">${escaped(text || href)}</a>`;
    },
    checkbox({ checked }) {
      return checked ? '☑ ' : '☐ ';
    },
    // The page has headings of its own above.
    heading({ tokens, depth }) {
      const level = Math.min(6, depth + 2);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`;
    },
  },
});

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

export interface Block {
  /** As it stands in the text. */
  raw: string;
  /** Of a block of code; `null` for others. */
  code: { language: string; text: string } | null;
  /** Not yet sanitised. */
  html(): string;
}

/** Reads the blocks of a growing text: those that are whole once, the last one again and again. */
export class BlockReader {
  #links: TokensList['links'] = {};

  /** The blocks of what follows those that were read before. All but the last one are whole. */
  read(text: string): Block[] {
    const lexer = new marked.Lexer(marked.defaults);
    // Definitions hold for the whole text.
    Object.assign(lexer.tokens.links, this.#links);
    const tokens = lexer.lex(text);
    this.#links = { ...tokens.links };
    const blocks: Block[] = [];
    for (const token of tokens) {
      const before = blocks.at(-1);
      // Empty lines belong to the block before them.
      if (token.type === 'space' && before) before.raw += token.raw;
      else blocks.push(block(token, tokens.links));
    }
    return blocks;
  }
}

function block(token: Token, links: TokensList['links']): Block {
  const code = token.type === 'code' ? (token as Tokens.Code) : null;
  return {
    raw: token.raw,
    code: code && { language: (code.lang ?? '').split(/\s/)[0] ?? '', text: code.text },
    html: () => marked.parser(Object.assign([token], { links }) as never),
  };
}
