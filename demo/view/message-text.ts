import { element } from './element.ts';

/** The beginning of a line that is a fence, or may still become one. */
const fenceStart = /^ {0,3}`{0,2}$/;
const fence = /^ {0,3}```/;

/**
 * The answer's text as it streams: paragraphs that keep their line breaks, and fenced code blocks.
 * The work for a piece is proportional to the piece; the text is only ever text.
 */
export class MessageText {
  readonly root = element('div', { class: 'message-text', dir: 'auto' });
  private block: { kind: 'paragraph' | 'code'; text: Text } | null = null;
  /** The current line, as long as it may be a fence; `null` when it is known to be none. */
  private heldLine: string | null = '';
  private blank = 0;

  append(text: string): void {
    for (const [piece] of text.matchAll(/[^\n]+|\n/g)) {
      if (piece === '\n') this.endLine();
      else if (this.heldLine === null) this.write(piece);
      else this.hold(this.heldLine + piece);
    }
  }

  /** Shows what was held back. */
  finish(): void {
    if (this.heldLine && !fence.test(this.heldLine)) this.release();
    this.heldLine = null;
  }

  private hold(line: string): void {
    this.heldLine = line;
    if (!fenceStart.test(line) && !fence.test(line)) this.release();
  }

  private release(): void {
    const line = this.heldLine ?? '';
    this.heldLine = null;
    this.write(line);
  }

  private endLine(): void {
    if (this.heldLine !== null && fence.test(this.heldLine)) this.turnFence(this.heldLine);
    else {
      if (this.heldLine) this.release();
      this.blank++;
    }
    this.heldLine = '';
  }

  private turnFence(line: string): void {
    this.blank = 0;
    if (this.block?.kind === 'code') {
      this.block = null;
      return;
    }
    const text = document.createTextNode('');
    const language = line.replace(fence, '').trim();
    this.block = { kind: 'code', text };
    this.root.append(
      element(
        'pre',
        { class: 'code', tabindex: '0', 'aria-label': `Code ${language}`.trim() },
        element('code', {}, text),
      ),
    );
  }

  /** Line breaks wait for the next character, so that none trails a block. */
  private write(piece: string): void {
    if (this.block?.kind !== 'code' && (this.block === null || this.blank > 1)) {
      const text = document.createTextNode('');
      this.root.append(element('p', {}, text));
      this.block = { kind: 'paragraph', text };
      this.blank = 0;
    }
    this.block.text.appendData('\n'.repeat(this.block.text.length === 0 ? 0 : this.blank) + piece);
    this.blank = 0;
  }
}
