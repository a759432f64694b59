import { TokenPositions } from './token-positions.ts';

/** A stretch of the input that is one marker token. */
export interface Mark {
  start: number;
  end: number;
  terminal: string;
}

/**
 * What came and was not read for good: one line of text, some stretches of which are marker tokens. Positions in the
 * stream count from its beginning; `at` and lengths count in `text`.
 */
export class Input {
  /** What is not forgotten yet; read up to `at`. */
  text = '';
  at = 0;
  /** Position in the stream of the first character of `text`. */
  base = 0;
  readonly positions = new TokenPositions();
  readonly #marks: Mark[] = [];
  /** Index of the next mark. */
  mark = 0;
  /** Ends of the control tokens that spell parts of markers, by where they begin. */
  readonly #controls = new Map<number, number>();

  /** The next marker token, if any. */
  get nextMark(): Mark | undefined {
    return this.#marks[this.mark];
  }

  /** The marker token that was read last. */
  get lastMark(): Mark | undefined {
    return this.#marks[this.mark - 1];
  }

  /** Position in the stream of what is read next. */
  get position(): number {
    return this.base + this.at;
  }

  get end(): number {
    return this.base + this.text.length;
  }

  /** Tokens that had come when the character before `position` came. */
  tokensRead(): number {
    return this.positions.readAt(this.position);
  }

  append(text: string): void {
    this.text += text;
  }

  /** A marker token with its text. */
  appendMark(terminal: string, text: string): void {
    const start = this.end;
    this.text += text;
    this.#marks.push({ start, end: start + text.length, terminal });
  }

  /** A control token that is part of a marker. */
  appendControl(text: string): void {
    const start = this.end;
    this.text += text;
    this.#controls.set(start, this.end);
  }

  /** Whether the characters from `at` on came as one control token. */
  isControl(at: number, length: number): boolean {
    return this.#controls.get(this.base + at) === this.base + at + length;
  }

  /** Whether a control token begins at `at`. */
  beginsControl(at: number): boolean {
    return this.#controls.has(this.base + at);
  }

  /** Forgets the text that was read; gives it out. */
  cut(): string {
    const read = this.text.slice(0, this.at);
    this.text = this.at === this.text.length ? '' : this.text.slice(this.at);
    this.base += this.at;
    this.at = 0;
    return read;
  }

  /** Forgets marks and tokens that were read. */
  forget(): void {
    if (this.mark > 0) {
      this.#marks.splice(0, this.mark);
      this.mark = 0;
    }
    for (const start of this.#controls.keys()) {
      if (start >= this.base) break;
      this.#controls.delete(start);
    }
    this.positions.forget(this.base);
  }

  /** Goes back: `text` that was cut stands before what is left again, and is read anew from the mark on. */
  restore(text: string, mark: number): void {
    this.text = text + this.text;
    this.base -= text.length;
    this.at = 0;
    this.mark = mark;
  }
}
