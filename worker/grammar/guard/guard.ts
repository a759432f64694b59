import { DEAD } from '../language/automaton.ts';
import { type Language, languageOf } from '../language/language.ts';
import type { SortedTexts, TokenOrder } from '../token-order.ts';
import type { GrammarVocabulary } from '../vocabulary.ts';
import { Marks } from './marks.ts';
import type { LanguageSpec, TextSpec } from './spec.ts';
import { isBehindCloser, isPlainPlace, matchedOf, Outcome, Walker } from './walker.ts';

/** Masks that a guard keeps: each is as large as the vocabulary has tokens, in bits. */
const KEPT_MASKS = 48;

/** Follows one text of a guarded kind while it is written, and says which tokens may go on with it. */
export class Guard {
  readonly #language: Language;
  readonly #vocabulary: GrammarVocabulary;
  readonly #order: TokenOrder;
  readonly #walker: Walker;
  readonly #states: Int32Array;
  readonly #masks = new Map<string, Uint32Array>();
  /** Of plain tokens only, however many characters the text has room for. */
  readonly #plainMasks = new Map<number, Uint32Array>();
  /** The first added token of the closer, and the characters before it. */
  readonly #closingToken: number | undefined;
  readonly #closerLength: number;
  readonly #endsWithTurn: boolean;
  readonly #classes: readonly Language[];

  constructor(spec: TextSpec, vocabulary: GrammarVocabulary) {
    this.#language = languageOf(spec.kind === 'key' ? spec.classes.flat() : spec.language);
    this.#classes = spec.kind === 'key' ? spec.classes.map((language) => languageOf(language)) : [];
    this.#vocabulary = vocabulary;
    const closer = spec.kind === 'text' ? spec.closer : '';
    this.#endsWithTurn = closer === null;
    const [text, token] = splitAtToken(closer ?? '', vocabulary.markers);
    this.#closerLength = Array.from(text).length;
    this.#closingToken = token;
    const quote = spec.kind === 'text' ? '' : (spec.kind === 'string' && spec.quote) || '"';
    const avoid = (spec.kind !== 'text' && spec.avoid) || [];
    const firsts = new Set([...avoid, text].map((mark) => Array.from(mark)[0] ?? ''));
    this.#order = vocabulary.order({ quote, marks: [...firsts].join('') });
    const rows = this.#order.longest + 2;
    this.#states = new Int32Array(rows);
    this.#walker = new Walker(
      this.#language,
      {
        quote,
        escapesHalves: spec.kind === 'text' || spec.escapes !== 'python',
        closer: text,
        isClosedByToken: token !== undefined,
        avoid: avoid.length > 0 ? new Marks(avoid) : null,
      },
      rows,
    );
  }

  /** The place where the text begins. */
  start(): Int32Array {
    return Walker.start(this.#language);
  }

  /** Where a token leads; `null` when the text has ended with it, or before it. */
  accept(place: Int32Array, id: number): Int32Array | null {
    const bytes = this.#vocabulary.bytes(id);
    this.#walker.set(0, place);
    for (const [row, byte] of bytes.entries()) {
      if (this.#walker.step(row, byte) !== Outcome.alive) return null;
    }
    return bytes.length === 0 ? null : this.#walker.get(bytes.length);
  }

  /** Bits of the tokens that may come next. Valid until the next call. */
  mask(place: Int32Array): Uint32Array {
    if (!isPlainPlace(place)) return this.#compute(place);
    const state = place[0]!;
    const matched = matchedOf(place);
    const key = state === DEAD ? DEAD : this.#language.key(state, this.#order.longest);
    // Before which of the characters that may be the closer's the text was whole.
    return kept(this.#masks, `${key} ${matched} ${place[6]! & ((1 << matched) - 1)}`, () =>
      this.#compute(place),
    );
  }

  /** Whether the model may end its turn here. */
  mayEnd(place: Int32Array): boolean {
    return this.#endsWithTurn && isPlainPlace(place) && this.#isWhole(place);
  }

  /** Index of the first class that holds a key; -1: none does. */
  classOf(key: string): number {
    return this.#classes.findIndex((language) => holds(language, key));
  }

  #isWhole(place: Int32Array): boolean {
    return place[0] !== DEAD && this.#language.accepts(place[0]!);
  }

  /** Whether the token that closes the text may come. */
  #mayClose(place: Int32Array): boolean {
    if (this.#closerLength === 0) return isPlainPlace(place) && this.#isWhole(place);
    return isBehindCloser(place, this.#closerLength);
  }

  #compute(place: Int32Array): Uint32Array {
    const mask = new Uint32Array(this.#vocabulary.words);
    const { plain, special } = this.#order;
    const walker = this.#walker;
    walker.set(0, place);
    if (isPlainPlace(place)) {
      if (place[0] !== DEAD) mask.set(this.#plain(place[0]!));
      // A plain token has no character that begins a closer: it goes on with one, or is only text.
      for (const character of walker.closing(place)) this.#addFrom(mask, character);
    } else addTokens(mask, plain, (row, codePoint) => walker.stepCharacter(row, codePoint));
    walker.set(0, place);
    addTokens(mask, special, (row, byte) => walker.step(row, byte));
    if (this.#closingToken !== undefined && this.#mayClose(place)) setBit(mask, this.#closingToken);
    return mask;
  }

  /** Plain tokens that begin with a character, as they may follow the walker's first place. */
  #addFrom(mask: Uint32Array, character: number): void {
    const { plain } = this.#order;
    const [from, to] = rangeFrom(plain, character);
    for (let index = from; index < to; index++) for (const id of plain.ids[index]!) clearBit(mask, id);
    addTokens(mask, plain, (row, codePoint) => this.#walker.stepCharacter(row, codePoint), from, to);
  }

  /** Bits of the plain tokens that lead on from a state, between characters. */
  #plain(state: number): Uint32Array {
    const language = this.#language;
    const room = language.room?.(state) ?? Number.POSITIVE_INFINITY;
    const short = room < this.#order.longest ? this.#order.upTo(room, this.#vocabulary.words) : null;
    const base = language.withoutLength ? language.withoutLength(state) : state;
    if (base === null) return short ?? this.#order.upTo(this.#order.longest, this.#vocabulary.words);
    const mask = kept(this.#plainMasks, base, () => this.#steps(state));
    return short ? mask.map((word, index) => word & short[index]!) : mask;
  }

  #steps(state: number): Uint32Array {
    const mask = new Uint32Array(this.#vocabulary.words);
    const language = this.#language;
    const step = language.stepWithoutLength?.bind(language) ?? language.step.bind(language);
    const states = this.#states;
    states[0] = state;
    addTokens(mask, this.#order.plain, (row, codePoint) => {
      const next = step(states[row]!, codePoint);
      states[row + 1] = next;
      return next === DEAD ? Outcome.dead : Outcome.alive;
    });
    return mask;
  }
}

/** What a map has for a key, or what is made for it; the longest unused is forgotten. */
function kept<Key>(masks: Map<Key, Uint32Array>, key: Key, make: () => Uint32Array): Uint32Array {
  let mask = masks.get(key);
  if (mask) masks.delete(key);
  else mask = make();
  masks.set(key, mask);
  if (masks.size > KEPT_MASKS) masks.delete(masks.keys().next().value!);
  return mask;
}

function setBit(mask: Uint32Array, id: number): void {
  mask[id >> 5]! |= 1 << (id & 31);
}

function clearBit(mask: Uint32Array, id: number): void {
  mask[id >> 5]! &= ~(1 << (id & 31));
}

/** Indices of the texts that begin with a unit: the first, and the one behind the last. */
function rangeFrom({ units, offsets, ids }: SortedTexts, unit: number): [from: number, to: number] {
  const firstNotBelow = (wanted: number) => {
    let [low, high] = [0, ids.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (units[offsets[middle]!]! < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return [firstNotBelow(unit), firstNotBelow(unit + 1)];
}

/**
 * Sets the bits of the tokens that lead on, or to the end of the text.
 *
 * @param step follows one unit from a row to the next; the first row is the place to begin at
 * @param from the first text, which shares nothing with the one before it
 */
function addTokens(
  mask: Uint32Array,
  { units, offsets, shared, ids }: SortedTexts,
  step: (row: number, unit: number) => Outcome,
  from = 0,
  to = ids.length,
): void {
  /** Units of the text before that were alive; all that share more than these end like it. */
  let alive = 0;
  /** Units after which the text had ended, or had become wrong. */
  let decided = Number.POSITIVE_INFINITY;
  let hasFinished = false;
  for (let index = from; index < to; index++) {
    const start = offsets[index]!;
    const length = offsets[index + 1]! - start;
    const common = shared[index]!;
    if (common < decided) {
      decided = Number.POSITIVE_INFINITY;
      alive = Math.min(alive, common);
      while (alive < length) {
        const outcome = step(alive, units[start + alive]!);
        if (outcome !== Outcome.alive) {
          decided = alive + 1;
          hasFinished = outcome === Outcome.finished;
          break;
        }
        alive++;
      }
    }
    if (decided > length || hasFinished) for (const id of ids[index]!) setBit(mask, id);
  }
}

/** The text of a closer up to its first added token, and that token. */
function splitAtToken(closer: string, tokens: ReadonlyMap<string, number>): [text: string, token?: number] {
  for (let at = 0; at < closer.length; at++) {
    for (let end = closer.length; end > at; end--) {
      const token = tokens.get(closer.slice(at, end));
      if (token !== undefined) return [closer.slice(0, at), token];
    }
  }
  return [closer];
}

function holds(language: Language, text: string): boolean {
  let state = language.start;
  for (const character of text) {
    if (state === DEAD) return false;
    state = language.step(state, character.codePointAt(0)!);
  }
  return state !== DEAD && language.accepts(state);
}

/** Whether any text is in the language. */
export const isSatisfiable = (spec: LanguageSpec) => languageOf(spec).start !== DEAD;
