/** Token ids as text and markers. */
import { type MessageFormat, spellings, type Terminals } from './format.ts';
import type { Machine } from './machine.ts';
import type { Piece } from './matcher.ts';

/** What the parser must know of a vocabulary. */
export interface TokenReader {
  /** The id of an added token with exactly this text. */
  idOf(text: string): number | undefined;
  /** A control token: no text of an answer unless the format declares it. */
  isSpecial(id: number): boolean;
  text(id: number): string;
  /** Decodes one stream; a character spread over tokens comes out with the last of them. */
  createDetokenizer(): { push(id: number): string; flush(): string };
}

/**
 * Feeds the machine from ids. A marker that is a token of its own is known by its id, so that the same letters
 * written with other tokens stay text; so it is with control tokens that a longer marker is spelled with. Other
 * control tokens vanish, unless they are asked for, and so do those that end the stream.
 */
export class TokenScanner {
  readonly #vocabulary: TokenReader;
  readonly #detokenizer: { push(id: number): string; flush(): string };
  readonly #markers = new Map<number, { terminal: string; text: string }>();
  /** The spellings that only ids recognise. */
  readonly spellings: ReadonlySet<string>;
  readonly #spelledOut: string[] = [];
  readonly #ends: readonly number[];
  readonly #showsControls: boolean;
  /** The control tokens that other spellings are made with. */
  readonly pieces: ReadonlyMap<string, readonly Piece[]>;

  constructor(
    terminals: Terminals,
    vocabulary: TokenReader,
    ends: readonly number[] = [],
    showsControls = false,
  ) {
    this.#vocabulary = vocabulary;
    this.#ends = ends;
    this.#showsControls = showsControls;
    this.#detokenizer = vocabulary.createDetokenizer();
    const byToken = new Set<string>();
    for (const [terminal, declared] of Object.entries(terminals)) {
      for (const text of spellings(declared)) {
        const id = declared.token === 'never' ? undefined : vocabulary.idOf(text);
        if (id !== undefined) this.#markers.set(id, { terminal, text });
        if (id !== undefined || declared.token === 'only') byToken.add(text);
        else this.#spelledOut.push(text);
      }
    }
    this.spellings = byToken;
    this.pieces = new Map(this.#spelledOut.map((text) => [text, this.#piecesOf(text)]));
  }

  /** `countsTokens`: the ids are of the stream, not of the prompt before it. */
  scan(ids: ArrayLike<number>, machine: Machine, countsTokens = true): void {
    for (let index = 0; index < ids.length; index++) {
      const id = ids[index]!;
      const marker = this.#markers.get(id);
      if (marker) {
        this.flush(machine);
        machine.appendMark(marker.terminal, marker.text);
      } else if (this.#vocabulary.isSpecial(id)) {
        this.flush(machine);
        if (this.#isPartOfMarker(id)) machine.appendControl(this.#vocabulary.text(id));
        else if (this.#showsControls && !this.#ends.includes(id)) {
          machine.appendText(this.#vocabulary.text(id));
        }
      } else if (this.#ends.includes(id)) this.flush(machine);
      else machine.appendText(this.#detokenizer.push(id));
      if (countsTokens) machine.endToken();
    }
  }

  /** Settles a character that was begun. */
  flush(machine: Machine): void {
    const rest = this.#detokenizer.flush();
    if (rest === '') return;
    machine.appendText(rest);
    machine.extendToken();
  }

  #piecesOf(marker: string): Piece[] {
    const pieces: Piece[] = [];
    for (let at = 0; at < marker.length; at++) {
      // Words are no control tokens, but there are many of them.
      if (/\w/.test(marker[at]!)) continue;
      let length = marker.length - at;
      while (length > 0 && !this.#isControl(marker.slice(at, at + length))) length--;
      if (length === 0) continue;
      pieces.push({ at, length });
      at += length - 1;
    }
    return pieces;
  }

  #isControl(text: string): boolean {
    const id = this.#vocabulary.idOf(text);
    return id !== undefined && this.#vocabulary.isSpecial(id);
  }

  #isPartOfMarker(id: number): boolean {
    const text = this.#vocabulary.text(id);
    return text !== '' && this.#spelledOut.some((marker) => marker.includes(text));
  }
}

/** The last reasoning marker after the last turn boundary of a prompt, null without one. */
export function lastPromptMarker(
  format: MessageFormat,
  prompt: { ids: ArrayLike<number> } | { text: string },
  vocabulary: TokenReader | null,
): 'start' | 'end' | null {
  const { reasoning } = format;
  if (!reasoning) return null;
  const starts = spellings(reasoning.terminals[reasoning.start]!);
  const ends = spellings(reasoning.terminals[reasoning.end]!);
  let tail = '';
  if ('text' in prompt) tail = prompt.text;
  else if (vocabulary) {
    const startIds = starts.map((text) => vocabulary.idOf(text));
    const endIds = ends.map((text) => vocabulary.idOf(text));
    const texts: string[] = [];
    for (let index = prompt.ids.length - 1; index >= 0; index--) {
      const id = prompt.ids[index]!;
      if (startIds.includes(id)) return 'start';
      if (endIds.includes(id)) return 'end';
      const text = vocabulary.text(id);
      // A control token that markers are spelled with does not end the turn.
      const isPart = text !== '' && [...starts, ...ends].some((marker) => marker.includes(text));
      if (vocabulary.isSpecial(id) && !isPart) break;
      texts.push(text);
    }
    // Spelled-out markers count only where the vocabulary has no token for them.
    if (startIds.some((id) => id !== undefined)) return null;
    tail = texts.reverse().join('');
  }
  const lastStart = Math.max(...starts.map((text) => tail.lastIndexOf(text)));
  const lastEnd = Math.max(...ends.map((text) => tail.lastIndexOf(text)));
  if (lastStart < 0 && lastEnd < 0) return null;
  return lastStart > lastEnd ? 'start' : 'end';
}
