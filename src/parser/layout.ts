/**
 * White space between the parts of a message is markup, any other is text: it is held back until the next
 * character shows what it was.
 *
 * ```
 * <think>\nHm.\n</think>\n\nOn it.\n<tool_call>…</tool_call>\n<tool_call>…</tool_call>\nDone.\n
 *        ^^   ^^        ^^^^      ^^                        ^^                               dropped
 *                                                                                     ^^     ^^ text
 * ```
 */
import type { ParserEvent } from './events.ts';

type Channel = 'reasoning' | 'content';

interface Piece {
  text: string;
  tokens: number;
}

const isSpace = (code: number) => code === 32 || (code >= 9 && code <= 13);

export class Layout {
  readonly #emit: (event: ParserEvent) => void;
  /** White space whose meaning the next character decides. */
  #pending: Piece[] = [];
  /** What stands before the current run of text. */
  #before: 'start' | 'reasoning' | 'call' | 'text' = 'start';
  #sawCall = false;

  constructor(emit: (event: ParserEvent) => void) {
    this.#emit = emit;
  }

  text(channel: Channel, text: string, tokens: number): void {
    if (text === '') return;
    const last = text.length - 1;
    if (this.#before === 'text' && this.#pending.length === 0 && !isSpace(text.charCodeAt(last))) {
      this.#emit({ type: channel, text, tokens });
      return;
    }
    let from = 0;
    while (from <= last && isSpace(text.charCodeAt(from))) from++;
    if (from > last) {
      this.#pending.push({ text, tokens });
      return;
    }
    let to = last + 1;
    while (isSpace(text.charCodeAt(to - 1))) to--;
    if (from > 0) this.#pending.push({ text: text.slice(0, from), tokens });
    this.#deliverPending(channel);
    this.#before = 'text';
    this.#emit({ type: channel, text: text.slice(from, to), tokens });
    if (to <= last) this.#pending.push({ text: text.slice(to), tokens });
  }

  reasoningStart(): void {
    // Only white space after something visible in the answer is part of it.
    if (this.#before === 'text') this.#deliverPending('content');
    this.#pending = [];
    this.#before = 'reasoning';
  }

  reasoningEnd(): void {
    this.#pending = [];
    this.#before = 'reasoning';
  }

  call(): void {
    this.#pending = [];
    this.#before = 'call';
    this.#sawCall = true;
  }

  finish(channel: Channel): void {
    const isAnswerOfItsOwn = this.#before === 'start' && !this.#sawCall;
    if (this.#before === 'text' || isAnswerOfItsOwn) this.#deliverPending(channel);
    this.#pending = [];
  }

  #deliverPending(channel: Channel): void {
    for (const { text, tokens } of this.#pending) {
      const kept = this.#before === 'reasoning' ? text.replace(/[\r\n]/g, '') : text;
      if (kept !== '') this.#emit({ type: channel, text: kept, tokens });
    }
    this.#pending = [];
  }
}
