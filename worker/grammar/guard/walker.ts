import { DEAD } from '../language/automaton.ts';
import { bordersOf } from '../language/borders.ts';
import type { Language } from '../language/language.ts';
import type { Marks } from './marks.ts';

/** How a text is spelled and ended. */
export interface Spelling {
  /** The quotes around it, inside of which a backslash escapes; empty for a text that stands as it is. */
  quote: string;
  /** An escape may be the half of a character, of which the other half must follow. */
  escapesHalves: boolean;
  /** Text that ends a plain text; of no more characters than `LONGEST_CLOSER`. */
  closer: string;
  /** The closer ends the text only with an added token behind it, which is not seen here. */
  isClosedByToken: boolean;
  /** Texts that do not come between the quotes as they are spelled; only there. */
  avoid: Marks | null;
}

export const Outcome = { dead: 0, alive: 1, finished: 2 } as const;
export type Outcome = (typeof Outcome)[keyof typeof Outcome];

/** A bit for each of its characters, and one for none. */
export const LONGEST_CLOSER = 30;

/** Numbers that one place in a text takes. */
export const PLACE_SIZE = 7;

/** What the next byte belongs to. */
const Mode = { plain: 0, utf8: 1, escape: 2, hex: 3, wantBackslash: 4, wantU: 5 } as const;

/**
 * Follows a text of a language byte by byte. Places are rows of an array, so that thousands of tokens can be tried
 * without making objects: the state of the language, the mode, bytes or digits that are missing, their value so
 * far, the length of the character or the first half of a pair, characters of the closer (between quotes the state of
 * what is avoided), and of each of the last characters whether the text was whole before it: bit 0 is that of the last
 * one.
 */
export class Walker {
  readonly #language: Language;
  /** Code of the quote; -1 without one. */
  readonly #quote: number;
  readonly #escapesHalves: boolean;
  readonly #closer: readonly number[];
  /** By characters of the closer: how many of them, fewer, the same characters may be too. */
  readonly #borders: readonly number[];
  readonly #isClosedByToken: boolean;
  readonly #avoid: Marks | null;
  readonly #places: Int32Array;

  /** @param rows places that are held */
  constructor(language: Language, spelling: Spelling, rows: number) {
    const { quote, escapesHalves, closer, isClosedByToken, avoid } = spelling;
    this.#language = language;
    this.#quote = quote === '' ? -1 : quote.charCodeAt(0);
    this.#escapesHalves = escapesHalves;
    this.#isClosedByToken = isClosedByToken;
    this.#avoid = avoid;
    this.#closer = Array.from(closer, (character) => character.codePointAt(0)!);
    if (this.#closer.length > LONGEST_CLOSER)
      throw new Error(`${JSON.stringify(closer)} is too long a closer.`);
    this.#borders = bordersOf(this.#closer);
    this.#places = new Int32Array(rows * PLACE_SIZE);
  }

  /** The place before the first byte, as a copy. */
  static start(language: Language): Int32Array {
    const place = new Int32Array(PLACE_SIZE);
    place[0] = language.start;
    return place;
  }

  set(row: number, place: Int32Array): void {
    this.#places.set(place, row * PLACE_SIZE);
  }

  get(row: number): Int32Array {
    return this.#places.slice(row * PLACE_SIZE, (row + 1) * PLACE_SIZE);
  }

  /** Writes into row `row + 1` where a byte leads from `row`. */
  step(row: number, byte: number): Outcome {
    const places = this.#places;
    const at = row * PLACE_SIZE;
    const to = at + PLACE_SIZE;
    for (let offset = 0; offset < PLACE_SIZE; offset++) places[to + offset] = places[at + offset]!;
    switch (places[to + 1]) {
      case Mode.plain:
        return byte < 0x80 ? this.#ascii(to, byte) : this.#lead(to, byte);
      case Mode.utf8:
        return this.#continuation(to, byte);
      case Mode.escape:
        return this.#escape(to, byte);
      case Mode.hex:
        return this.#hex(to, byte);
      case Mode.wantBackslash:
        places[to + 1] = Mode.wantU;
        return byte === 0x5c ? Outcome.alive : Outcome.dead;
      default:
        places[to + 1] = Mode.hex;
        places[to + 2] = 4;
        places[to + 3] = 0;
        return byte === 0x75 ? Outcome.alive : Outcome.dead;
    }
  }

  /** Characters that go on with what may be part of a closer, or of what is avoided. */
  closing(place: Int32Array): Iterable<number> {
    if (this.#avoid) return this.#avoid.leading(matchedOf(place));
    const found = new Set<number>();
    for (let matched = matchedOf(place); matched > 0; matched = this.#borders[matched]!) {
      if (matched < this.#closer.length) found.add(this.#closer[matched]!);
    }
    return found;
  }

  /** The same for a whole character that is no quote and no backslash. */
  stepCharacter(row: number, codePoint: number): Outcome {
    const to = (row + 1) * PLACE_SIZE;
    if (this.#places[row * PLACE_SIZE + 1] !== Mode.plain) {
      return codePoint < 0x80 ? this.step(row, codePoint) : Outcome.dead;
    }
    this.#places.copyWithin(to, row * PLACE_SIZE, to);
    return this.#written(to, codePoint);
  }

  #ascii(to: number, byte: number): Outcome {
    if (this.#quote >= 0) {
      if (byte === this.#quote)
        return this.#language.accepts(this.#places[to]!) ? Outcome.finished : Outcome.dead;
      if (byte < 0x20) return Outcome.dead;
      if (byte === 0x5c) {
        this.#places[to + 1] = Mode.escape;
        if (this.#avoid) this.#places[to + 5] = 0;
        // Every character of one UTF-16 unit has an escape.
        return this.#admitsUnit(to, 0, 0xffff);
      }
    }
    return this.#written(to, byte);
  }

  /** A character that stands there as itself. */
  #written(to: number, codePoint: number): Outcome {
    if (this.#avoid) {
      const next = this.#avoid.step(this.#places[to + 5]!, codePoint);
      if (next === DEAD) return Outcome.dead;
      this.#places[to + 5] = next;
    }
    return this.#character(to, codePoint);
  }

  #lead(to: number, byte: number): Outcome {
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    if (byte < 0xc2 || byte > 0xf4) return Outcome.dead;
    const places = this.#places;
    places[to + 1] = Mode.utf8;
    places[to + 2] = length - 1;
    places[to + 3] = byte & (0xff >> (length + 1));
    places[to + 4] = length;
    return this.#unfinished(to);
  }

  #continuation(to: number, byte: number): Outcome {
    if ((byte & 0xc0) !== 0x80) return Outcome.dead;
    const places = this.#places;
    places[to + 3] = (places[to + 3]! << 6) | (byte & 0x3f);
    places[to + 2]!--;
    return this.#unfinished(to);
  }

  /** A character of which `places[to + 2]` bytes are missing. */
  #unfinished(to: number): Outcome {
    const missing = 6 * this.#places[to + 2]!;
    const length = this.#places[to + 4]!;
    const least = length === 2 ? 0x80 : length === 3 ? 0x800 : 0x10000;
    const low = Math.max(least, this.#places[to + 3]! << missing);
    const high = Math.min(0x10ffff, (this.#places[to + 3]! << missing) | ((1 << missing) - 1));
    if (low > high || (low >= 0xd800 && high <= 0xdfff)) return Outcome.dead;
    return missing === 0 ? this.#written(to, low) : this.#admits(to, low, high);
  }

  #escape(to: number, byte: number): Outcome {
    if (byte === 0x75) {
      const places = this.#places;
      places[to + 1] = Mode.hex;
      places[to + 2] = 4;
      places[to + 3] = 0;
      places[to + 4] = 0;
      return Outcome.alive;
    }
    const character = ESCAPES[byte];
    return character === undefined ? Outcome.dead : this.#character(to, character);
  }

  #hex(to: number, byte: number): Outcome {
    const digit = hexDigit(byte);
    if (digit < 0) return Outcome.dead;
    const places = this.#places;
    places[to + 3] = places[to + 3]! * 16 + digit;
    const missing = 4 * --places[to + 2]!;
    const low = places[to + 3]! << missing;
    const high = low | ((1 << missing) - 1);
    const first = places[to + 4]!;
    if (first !== 0) {
      if (high < 0xdc00 || low > 0xdfff) return Outcome.dead;
      const pair = (half: number) => 0x10000 + ((first - 0xd800) << 10) + (half - 0xdc00);
      if (missing === 0) return this.#character(to, pair(low));
      return this.#admits(to, pair(Math.max(low, 0xdc00)), pair(Math.min(high, 0xdfff)));
    }
    if (missing > 0) return this.#admitsUnit(to, low, high);
    if (low < 0xd800 || low > 0xdfff) return this.#character(to, low);
    places[to + 1] = Mode.wantBackslash;
    places[to + 4] = low;
    return this.#admitsUnit(to, low, low);
  }

  /** Whether a UTF-16 unit from `low` to `high` leads on, be it a character or the first half of a pair. */
  #admitsUnit(to: number, low: number, high: number): Outcome {
    const from = Math.max(low, 0xd800);
    const until = Math.min(high, 0xdbff);
    const pairs =
      this.#escapesHalves &&
      from <= until &&
      this.#admits(to, 0x10000 + ((from - 0xd800) << 10), 0x10000 + ((until - 0xd800) << 10) + 0x3ff) !==
        Outcome.dead;
    if (pairs) return Outcome.alive;
    if (low < 0xd800 && this.#admits(to, low, Math.min(high, 0xd7ff)) !== Outcome.dead) return Outcome.alive;
    return high > 0xdfff ? this.#admits(to, Math.max(low, 0xe000), high) : Outcome.dead;
  }

  #admits(to: number, low: number, high: number): Outcome {
    const state = this.#places[to]!;
    if (state !== DEAD && this.#language.admits(state, low, high)) return Outcome.alive;
    if (this.#closer.length === 0) return Outcome.dead;
    const within = (character: number | undefined) =>
      character !== undefined && character >= low && character <= high;
    for (let matched = this.#places[to + 5]!; matched > 0; matched = this.#borders[matched]!) {
      if (this.#wasWhole(to, matched) && within(this.#closer[matched])) return Outcome.alive;
    }
    const isWhole = state !== DEAD && this.#language.accepts(state);
    return isWhole && within(this.#closer[0]) ? Outcome.alive : Outcome.dead;
  }

  /** Whether the text was whole before its last `count` characters. */
  #wasWhole(at: number, count: number): boolean {
    return ((this.#places[at + 6]! >> (count - 1)) & 1) === 1;
  }

  #character(to: number, codePoint: number): Outcome {
    const places = this.#places;
    const state = places[to]!;
    places[to + 1] = Mode.plain;
    if (this.#closer.length > 0) {
      const isWhole = state !== DEAD && this.#language.accepts(state);
      places[to + 6] = ((places[to + 6]! << 1) | (isWhole ? 1 : 0)) & ((1 << LONGEST_CLOSER) - 1);
      let matched = places[to + 5]!;
      while (matched > 0 && codePoint !== this.#closer[matched]) matched = this.#borders[matched]!;
      if (codePoint === this.#closer[matched]) matched++;
      places[to + 5] = matched;
      if (matched === this.#closer.length && !this.#isClosedByToken) {
        return this.#wasWhole(to, matched) ? Outcome.finished : Outcome.dead;
      }
    }
    const next = state === DEAD ? DEAD : this.#language.step(state, codePoint);
    places[to] = next;
    if (next !== DEAD) return Outcome.alive;
    for (let matched = places[to + 5]!; matched > 0; matched = this.#borders[matched]!) {
      if (this.#wasWhole(to, matched)) return Outcome.alive;
    }
    return Outcome.dead;
  }
}

/** Whether a place is between characters: then only the language's state counts, and what may be part of a closer. */
export const isPlainPlace = (place: Int32Array) => place[1] === Mode.plain;

/** Characters of the closer that have just come. */
export const matchedOf = (place: Int32Array) => place[5]!;

/** Whether the text of a closer of so many characters has just come, behind a whole text. */
export const isBehindCloser = (place: Int32Array, length: number) =>
  place[1] === Mode.plain && place[5] === length && ((place[6]! >> (length - 1)) & 1) === 1;

const ESCAPES: Readonly<Record<number, number>> = {
  34: 0x22,
  39: 0x27,
  92: 0x5c,
  47: 0x2f,
  98: 0x08,
  102: 0x0c,
  110: 0x0a,
  114: 0x0d,
  116: 0x09,
};

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
