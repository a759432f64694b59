/**
 * Where in the stream's text its tokens end, as far as that is still of interest. Token `i` owns the text from
 * the end of token `i - 1` to its own; one without text of its own (part of a character) stands where it came.
 */
export class TokenPositions {
  #ends: number[] = [];
  /** Entries before this one are forgotten. */
  #head = 0;
  /** Tokens that are no longer in `#ends`. */
  #dropped = 0;
  /** End of the last token that is no longer in `#ends`. */
  #previousEnd = 0;
  #readCursor = 0;
  #countCursor = 0;

  /** Tokens counted so far. */
  counted = 0;

  add(end: number): void {
    this.#ends.push(end);
  }

  /** The stream's first token begins here. */
  skip(to: number): void {
    this.#previousEnd = to;
  }

  /** The last token's text goes on to here. */
  extend(end: number): void {
    if (this.#ends.length > 0) this.#ends[this.#ends.length - 1] = end;
    else this.#previousEnd = end;
  }

  /** Tokens read when the character before `position` came; 0 for a stream without tokens. */
  readAt(position: number): number {
    const ends = this.#ends;
    let at = Math.max(this.#readCursor, this.#head);
    if (at > 0 && at <= ends.length && ends[at - 1]! >= position) at = this.#head;
    while (at < ends.length && ends[at]! < position) at++;
    this.#readCursor = at;
    return this.#dropped + Math.min(at + 1, ends.length);
  }

  /** Counts the tokens that begin in `[from, to)`. Calls must go forward. */
  count(from: number, to: number): void {
    const ends = this.#ends;
    let at = Math.max(this.#countCursor, this.#head);
    for (; at < ends.length; at++) {
      const start = at === 0 ? this.#previousEnd : ends[at - 1]!;
      if (start >= to) break;
      if (start >= from) this.counted++;
    }
    this.#countCursor = at;
  }

  /** Everything before `position` has been read for good. */
  forget(position: number): void {
    const ends = this.#ends;
    let head = this.#head;
    while (head < ends.length && ends[head]! <= position) {
      const start = head === 0 ? this.#previousEnd : ends[head - 1]!;
      if (start >= position) break;
      head++;
    }
    this.#head = head;
    if (head < ends.length && head < 1024) return;
    if (head === 0) return;
    this.#previousEnd = ends[head - 1]!;
    this.#dropped += head;
    if (head === ends.length) ends.length = 0;
    else ends.splice(0, head);
    this.#readCursor = Math.max(0, this.#readCursor - head);
    this.#countCursor = Math.max(0, this.#countCursor - head);
    this.#head = 0;
  }
}
