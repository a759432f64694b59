import { TokenFlag, type TokenTable } from '../../src/protocol.ts';

/** A vocabulary made of just the tokens that some outputs need. */
export class MadeVocabulary {
  readonly #ids = new Map<string, number>();
  readonly #tokens: { bytes: Uint8Array; flags: number }[] = [];

  /** A marker that is one token. */
  special(text: string): number {
    return this.#add(`special ${text}`, new TextEncoder().encode(text), TokenFlag.added | TokenFlag.special);
  }

  /** An ordinary token. */
  text(text: string): number {
    return this.#add(`text ${text}`, new TextEncoder().encode(text), 0);
  }

  /** An ordinary token that may be a part of a character. */
  bytes(bytes: Uint8Array): number {
    return this.#add(`bytes ${bytes}`, bytes, 0);
  }

  get table(): TokenTable {
    const offsets = new Uint32Array(this.#tokens.length + 1);
    this.#tokens.forEach(({ bytes }, index) => {
      offsets[index + 1] = offsets[index]! + bytes.length;
    });
    const all = new Uint8Array(offsets[this.#tokens.length]!);
    this.#tokens.forEach(({ bytes }, index) => {
      all.set(bytes, offsets[index]);
    });
    return { bytes: all, offsets, flags: Uint8Array.from(this.#tokens, ({ flags }) => flags) };
  }

  #add(key: string, bytes: Uint8Array, flags: number): number {
    let id = this.#ids.get(key);
    if (id === undefined) {
      id = this.#tokens.length;
      this.#ids.set(key, id);
      this.#tokens.push({ bytes, flags });
    }
    return id;
  }
}
