import { copiedTime, copy } from '../copy-button.tsx';
import { type Block, BlockReader } from './blocks.ts';
import { highlighted } from './highlight.ts';
import { sanitised } from './sanitise.ts';

/** While it grows, code up to this length is coloured with every piece; longer code when it is whole. */
const colouredWhileGrowing = 2_000;

/**
 * Markdown that grows: blocks that are whole are made once and never touched again, only the last one is made anew
 * with each piece.
 */
export class MarkdownView {
  readonly #root: HTMLElement;
  #reader = new BlockReader();
  #text = '';
  /** Characters of the blocks that are whole. */
  #whole = 0;
  /** What stands for the last block, which may still grow. */
  #open: { raw: string; done: boolean; node: HTMLElement } | null = null;

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  /** `done`: nothing more comes. */
  update(given: string, done: boolean): void {
    const text = given.replaceAll('\r\n', '\n');
    if (!text.startsWith(this.#text)) this.#reset();
    if (text === this.#text && (!done || this.#open === null || this.#open.done)) return;
    this.#text = text;
    const blocks = this.#reader.read(text.slice(this.#whole));
    for (const [index, block] of blocks.entries()) {
      const isLast = index === blocks.length - 1;
      this.#show(block, done || !isLast);
      if (isLast) break;
      this.#whole += block.raw.length;
      this.#open = null;
    }
  }

  #show(block: Block, done: boolean): void {
    if (this.#open?.raw === block.raw && this.#open.done === done) return;
    const node = rendered(block, done);
    if (this.#open) this.#open.node.replaceWith(node);
    else this.#root.append(node);
    this.#open = { raw: block.raw, done, node };
  }

  #reset(): void {
    this.#root.replaceChildren();
    this.#reader = new BlockReader();
    this.#text = '';
    this.#whole = 0;
    this.#open = null;
  }
}

function rendered(block: Block, done: boolean): HTMLElement {
  const node = document.createElement('div');
  node.className = 'markdown-block';
  if (block.code) {
    node.append(codeBox(block.code, done || block.code.text.length < colouredWhileGrowing));
    return node;
  }
  node.append(sanitised(block.html()));
  for (const code of node.querySelectorAll('pre > code')) {
    const language = /language-([\w+#-]+)/.exec(code.className)?.[1] ?? '';
    code.parentElement?.replaceWith(
      codeBox({ language, text: code.textContent?.replace(/\n$/, '') ?? '' }, done),
    );
  }
  for (const table of node.querySelectorAll('table')) {
    const box = scrolling('div', 'Table');
    box.className = 'table';
    table.replaceWith(box);
    box.append(table);
  }
  return node;
}

function codeBox({ language, text }: { language: string; text: string }, coloured: boolean): HTMLElement {
  const box = document.createElement('div');
  box.className = 'code';
  const header = document.createElement('div');
  header.className = 'code-header';
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    if (!(await copy(text))) return;
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, copiedTime);
  });
  header.append(language || 'text', button);
  const pre = scrolling('pre', language ? `Code, ${language}` : 'Code');
  const code = document.createElement('code');
  code.append(coloured ? highlighted(text, language) : text);
  pre.append(code);
  box.append(header, pre);
  return box;
}

/** What scrolls sideways must be reachable by keyboard. */
function scrolling(tag: 'div' | 'pre', label: string): HTMLElement {
  const node = document.createElement(tag);
  node.tabIndex = 0;
  node.setAttribute('role', 'group');
  node.setAttribute('aria-label', label);
  return node;
}
