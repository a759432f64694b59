import { TokenFlag, type TokenTable } from '../protocol.ts';
import { Detokenizer } from './detokenizer.ts';

/** The page's view of a model's vocabulary: what each token id stands for. */
export class Vocabulary {
  readonly #table: TokenTable;
  readonly #added = new Map<string, number>();
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly #strictDecoder = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });
  /** Texts of tokens that were asked for; null for those that are not whole characters. */
  readonly #whole = new Map<number, string | null>();

  constructor(table: TokenTable) {
    this.#table = table;
    for (let id = 0; id < table.flags.length; id++) {
      if (table.flags[id]! & TokenFlag.added) this.#added.set(this.text(id), id);
    }
  }

  /** Number of token ids. */
  get size(): number {
    return this.#table.flags.length;
  }

  /** The token's bytes; none for an id that the vocabulary does not have. */
  bytes(id: number): Uint8Array {
    const { bytes, offsets } = this.#table;
    return id >= 0 && id < this.size ? bytes.subarray(offsets[id], offsets[id + 1]) : bytes.subarray(0, 0);
  }

  /** The token by itself as text; a part of a character is U+FFFD. */
  text(id: number): string {
    return this.#decoder.decode(this.bytes(id));
  }

  /** The token by itself as text, or null when it begins or ends inside a character. */
  wholeText(id: number): string | null {
    let text = this.#whole.get(id);
    if (text === undefined) {
      try {
        text = this.#strictDecoder.decode(this.bytes(id));
      } catch {
        text = null;
      }
      this.#whole.set(id, text);
    }
    return text;
  }

  createDetokenizer(): Detokenizer {
    return new Detokenizer(this);
  }

  /** The id of an added token with exactly this text. */
  idOf(text: string): number | undefined {
    return this.#added.get(text);
  }

  /** A control token, which is no text of an answer. */
  isSpecial(id: number): boolean {
    return ((this.#table.flags[id] ?? 0) & TokenFlag.special) !== 0;
  }

  /** Texts of all added tokens with their ids. */
  get addedTokens(): ReadonlyMap<string, number> {
    return this.#added;
  }
}
