/**
 * Follows JSON text that arrives in pieces and knows which closers would complete it. Works for text that
 * closers alone can complete, which is what the parser delivers.
 */
export class JsonCloser {
  readonly #open: ('}' | ']')[] = [];
  #inString = false;
  #escaped = false;
  #empty = true;

  push(text: string): void {
    for (const character of text) {
      if (character.trim() !== '') this.#empty = false;
      if (this.#escaped) this.#escaped = false;
      else if (this.#inString) {
        if (character === '\\') this.#escaped = true;
        else if (character === '"') this.#inString = false;
      } else if (character === '"') this.#inString = true;
      else if (character === '{') this.#open.push('}');
      else if (character === '[') this.#open.push(']');
      else if (character === '}' || character === ']') this.#open.pop();
    }
  }

  /** The text that completes what was pushed so far. */
  closers(): string {
    if (this.#empty) return '{}';
    return (this.#inString ? '"' : '') + this.#open.toReversed().join('');
  }
}
