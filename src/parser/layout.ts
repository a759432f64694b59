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
  channel: Channel;
  text: string;
  tokens: number;
}

const isSpace = (code: number) => code === 32 || (code >= 9 && code <= 13);

export class Layout {
  readonly #emit: (event: ParserEvent) => void;
  /** White space whose meaning the next character decides. */
  #pending: Piece[] = [];
  /** Characters of white space that were layout. */
  readonly dropped: Record<Channel, number> = { reasoning: 0, content: 0 };
  /** What stands before the current run of text. */
  #before: 'start' | 'reasoning' | 'call' | 'text' = 'start';
  #sawCall = false;
  /** What stands between several blocks of one channel. */
  readonly #joiner: string;
  /** All white space of the content is text, but for what stands at a call. */
  readonly #isVerbatim: boolean;
  #delivered: Record<Channel, boolean> = { reasoning: false, content: false };
  #joins = false;

  constructor(emit: (event: ParserEvent) => void, joiner: string, isVerbatim = false) {
    this.#emit = emit;
    this.#joiner = joiner;
    this.#isVerbatim = isVerbatim;
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
      this.#pending.push({ channel, text, tokens });
      return;
    }
    let to = last + 1;
    while (isSpace(text.charCodeAt(to - 1))) to--;
    if (from > 0) this.#pending.push({ channel, text: text.slice(0, from), tokens });
    if (this.#joins && this.#delivered[channel]) this.#emit({ type: channel, text: this.#joiner, tokens });
    this.#joins = false;
    this.#delivered[channel] = true;
    this.#deliverPending();
    this.#before = 'text';
    this.#emit({ type: channel, text: text.slice(from, to), tokens });
    if (to <= last) this.#pending.push({ channel, text: text.slice(to), tokens });
  }

  /** Text that counts as white space when a call follows. */
  pend(channel: Channel, text: string, tokens: number): void {
    this.#pending.push({ channel, text, tokens });
  }

  /** Text stands before that is not delivered; white space is its, not layout. */
  resume(): void {
    this.#dropPending();
    this.#before = 'text';
    this.#joins = false;
  }

  reasoningStart(): void {
    // Only white space after something visible in the answer is part of it.
    if (this.#before === 'text') this.#deliverPending();
    this.#dropPending();
    this.#before = 'reasoning';
    this.#joins = this.#joiner !== '';
  }

  /** A block of content begins, in formats that mark it. */
  contentStart(): void {
    if (this.#before === 'text') this.#deliverPending();
    this.#dropPending();
    if (this.#before === 'text') this.#before = 'call';
    this.#joins = this.#joiner !== '';
  }

  reasoningEnd(): void {
    this.#dropPending();
    this.#before = 'reasoning';
  }

  /** White space before and line breaks after are layout. */
  edge(): void {
    if (this.#isVerbatim) {
      this.#dropReasoning();
      this.#deliverPending();
    }
    this.reasoningEnd();
  }

  call(): void {
    this.#dropPending();
    this.#before = 'call';
    this.#sawCall = true;
  }

  finish(): void {
    if (this.#isVerbatim && this.#before !== 'text') this.#dropReasoning();
    const isAnswerOfItsOwn = (this.#before === 'start' || this.#isVerbatim) && !this.#sawCall;
    if (this.#before === 'text' || isAnswerOfItsOwn) this.#deliverPending();
    this.#dropPending();
  }

  #dropPending(): void {
    for (const { channel, text } of this.#pending) this.dropped[channel] += text.length;
    this.#pending = [];
  }

  #dropReasoning(): void {
    const content = this.#pending.filter(({ channel }) => channel === 'content');
    this.#pending = this.#pending.filter(({ channel }) => channel === 'reasoning');
    this.#dropPending();
    this.#pending = content;
  }

  #deliverPending(): void {
    for (const { channel, text, tokens } of this.#pending) {
      const isText = this.#before !== 'reasoning' || (this.#isVerbatim && channel === 'content');
      const kept = isText ? text : text.replace(/[\r\n]/g, '');
      this.dropped[channel] += text.length - kept.length;
      if (kept !== '') this.#emit({ type: channel, text: kept, tokens });
    }
    this.#pending = [];
  }
}
