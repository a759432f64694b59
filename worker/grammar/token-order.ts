/** How a text is spelled, as far as it decides which tokens are plain characters in it. */
export interface TextSpelling {
  /** The quotes around it, inside of which a backslash escapes; empty for a text that stands as it is. */
  quote: string;
  /** The first characters of texts that end it, or that it does not hold. */
  marks: string;
}

/**
 * Texts of tokens, one after the other, sorted so that what a text shares with the one before it is looked at once.
 * A unit is a code point, or a byte.
 */
export interface SortedTexts {
  units: Int32Array;
  /** Length is the number of texts + 1. */
  offsets: Int32Array;
  /** Units that a text shares with the one before it. */
  shared: Int32Array;
  /** Tokens with the text; almost always one. */
  ids: readonly (readonly number[])[];
}

/**
 * The ordinary tokens of a vocabulary, in two parts: those that are whole, plain characters in a text, which are most,
 * and those with a piece of a character, a quote, an escape or what may begin a mark in them, which are followed byte by byte.
 */
export class TokenOrder {
  /** In code points. */
  readonly plain: SortedTexts;
  /** In bytes. */
  readonly special: SortedTexts;
  /** Units of the longest token. */
  readonly longest: number;
  readonly #short: Uint32Array[] = [];

  /** @param index ids by bytes as Latin-1, sorted */
  constructor(index: ReadonlyMap<string, readonly number[]>, { quote, marks }: TextSpelling) {
    const plain: [number[], readonly number[]][] = [];
    const special: [number[], readonly number[]][] = [];
    const stops = new Set(Array.from(marks, (mark) => mark.codePointAt(0)!));
    const end = quote.codePointAt(0);
    this.longest = 0;
    for (const [text, ids] of index) {
      const codePoints = codePointsOf(text);
      const isPlain =
        codePoints !== null &&
        !codePoints.some(
          (code) => stops.has(code) || (end !== undefined && (code < 0x20 || code === end || code === 0x5c)),
        );
      if (isPlain) plain.push([codePoints, ids]);
      else special.push([Array.from(text, (byte) => byte.charCodeAt(0)), ids]);
      this.longest = Math.max(this.longest, text.length);
    }
    this.plain = sortedTexts(plain);
    this.special = sortedTexts(special);
  }

  /**
   * Bits of the plain tokens of so many code points and fewer.
   *
   * @param words 32-bit words of a mask
   */
  upTo(length: number, words: number): Uint32Array {
    if (this.#short.length === 0) {
      const { offsets, ids } = this.plain;
      const byLength = Array.from({ length: this.longest + 1 }, () => new Uint32Array(words));
      for (const [index, same] of ids.entries()) {
        const mask = byLength[offsets[index + 1]! - offsets[index]!]!;
        for (const id of same) mask[id >> 5]! |= 1 << (id & 31);
      }
      for (const [count, mask] of byLength.entries()) {
        const shorter = this.#short[count - 1];
        this.#short.push(shorter ? mask.map((word, index) => word | shorter[index]!) : mask);
      }
    }
    return this.#short[Math.min(length, this.longest)]!;
  }
}

function sortedTexts(texts: readonly [units: number[], ids: readonly number[]][]): SortedTexts {
  const total = texts.reduce((sum, [units]) => sum + units.length, 0);
  const sorted = {
    units: new Int32Array(total),
    offsets: new Int32Array(texts.length + 1),
    shared: new Int32Array(texts.length),
    ids: texts.map(([, ids]) => ids),
  };
  let previous: number[] = [];
  let offset = 0;
  for (const [index, [units]] of texts.entries()) {
    sorted.units.set(units, offset);
    offset += units.length;
    sorted.offsets[index + 1] = offset;
    let shared = 0;
    while (shared < previous.length && shared < units.length && previous[shared] === units[shared]) shared++;
    sorted.shared[index] = shared;
    previous = units;
  }
  return sorted;
}

/** Null for what is not whole characters in UTF-8. */
function codePointsOf(bytes: string): number[] | null {
  const codePoints: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes.charCodeAt(at);
    const length =
      lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (length === 0 || at + length > bytes.length) return null;
    let code = length === 1 ? lead : lead & (0xff >> (length + 1));
    for (let next = at + 1; next < at + length; next++) {
      const byte = bytes.charCodeAt(next);
      if ((byte & 0xc0) !== 0x80) return null;
      code = (code << 6) | (byte & 0x3f);
    }
    const least = length === 3 ? 0x800 : length === 4 ? 0x10000 : 0;
    if (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return null;
    codePoints.push(code);
    at += length;
  }
  return codePoints;
}
