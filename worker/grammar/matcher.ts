import type { XgrammarMatcher, XgrammarModule } from 'virtual:xgrammar';
import type { Guard } from './guard/guard.ts';
import type { GuardSpec } from './guard/spec.ts';
import { SIGNAL, SIGNAL_LIMIT, TOKEN_END, TOKEN_START } from './signs.ts';
import { type GrammarVocabulary, latin1 } from './vocabulary.ts';

/** What a matcher needs of its grammar. */
export interface MatcherContext {
  module: XgrammarModule;
  vocabulary: GrammarVocabulary;
  specs: readonly GuardSpec[];
  stopTokenIds: ReadonlySet<number>;
  /** Added tokens that the grammar does not spell; they never come. */
  withheld: ReadonlySet<number>;
  /** Guards by number; null for specifications that follow no text. */
  guards: readonly (Guard | null)[];
}

/** Where the guards stand; replaced, never changed. */
interface GuardPoint {
  /** The text that is being written, with the number of its guard. */
  active: { number: number; place: Int32Array; key: string } | null;
  /** Class of the key that has just ended; -1 for none. */
  keyClass: number;
  /** Bytes since the last quote, as Latin-1. */
  tail: string;
  /** Bytes between the last two quotes. */
  quoted: string;
}

/** Tokens and signals that belong together: a token, and what was taken behind it. */
interface Step {
  signals: number;
  point: GuardPoint;
}

/** A piece of text that the grammar forces: ordinary text, or the id of an added token. */
export type Forced = string | number;

/** Follows one output. One instance a choice. */
export class GrammarMatcher {
  readonly #context: MatcherContext;
  readonly #matcher: XgrammarMatcher;
  readonly #steps: Step[] = [];
  readonly #mask: Uint32Array;
  readonly #signals = new Uint32Array((2 * SIGNAL_LIMIT) / 32);
  readonly #hasKeys: boolean;
  #point: GuardPoint = { active: null, keyClass: -1, tail: '', quoted: '' };
  /** The mask is that of the current place. */
  #isFresh = false;
  #isDisposed = false;

  constructor(context: MatcherContext, matcher: XgrammarMatcher) {
    this.#context = context;
    this.#matcher = matcher;
    this.#mask = new Uint32Array(context.vocabulary.words);
    this.#hasKeys = context.specs.some(({ kind }) => kind === 'other-key');
  }

  /** True once the model's turn has ended: nothing may follow. */
  get isTerminated(): boolean {
    return this.#matcher.IsTerminated();
  }

  /**
   * Bit `id % 32` of word `id / 32` says whether a token may come next. The array is valid until the next call of
   * any method. Null once terminated. All zero means that the output can't be finished in these tokens: an error,
   * see `isStuck`.
   */
  mask(): Uint32Array | null {
    if (this.isTerminated) return null;
    if (!this.#isFresh) this.#refresh();
    return this.#mask;
  }

  /** No token may come, and the turn may not end either. */
  get isStuck(): boolean {
    return this.mask()?.every((word) => word === 0) ?? false;
  }

  /** The only token that may come next, or null. */
  forced(): number | null {
    const mask = this.mask();
    if (!mask) return null;
    let only = -1;
    for (let index = 0; index < mask.length; index++) {
      const word = mask[index]!;
      if (word === 0) continue;
      if (only >= 0 || (word & (word - 1)) !== 0) return null;
      only = 32 * index + (31 - Math.clz32(word));
    }
    return only < 0 ? null : only;
  }

  /** Whether a token may come next. */
  allows(id: number): boolean {
    return this.mask() !== null && this.#allows(id);
  }

  /** Whether no more than `most` tokens may come next. */
  allowsAtMost(most: number): boolean {
    let left = most;
    for (let word of this.mask() ?? []) {
      for (; word !== 0; word &= word - 1) if (--left < 0) return false;
    }
    return true;
  }

  /** What must come next, whatever the tokens. Empty inside of guarded texts. */
  forcedText(): Forced[] {
    if (this.isTerminated || this.mask() === null || this.#point.active) return [];
    const text = this.#matcher.FindJumpForwardString().replace(/\ufffd+$/, '');
    const pieces: Forced[] = [];
    // A signal is no text, and what comes behind it depends on it.
    for (const part of text.split(SIGNAL)[0]!.split(TOKEN_START).entries()) {
      const [index, piece] = part;
      const end = index === 0 ? -1 : piece.indexOf(TOKEN_END);
      if (index > 0) {
        const id = this.#context.vocabulary.markers.get(piece.slice(0, end));
        if (end < 0 || id === undefined) break;
        pieces.push(id);
      }
      if (piece.length > end + 1) pieces.push(piece.slice(end + 1));
    }
    return pieces;
  }

  /** Takes a token. False, and nothing happens, when it may not come. */
  accept(id: number): boolean {
    if (!Number.isInteger(id) || id < 0 || id >= this.#context.vocabulary.width) return false;
    if (this.isTerminated || this.#context.withheld.has(id)) return false;
    // Guards decide by the mask.
    if (this.#context.specs.length > 0 && this.mask() && !this.#allows(id)) return false;
    if (!this.#matcher.AcceptToken(id, false)) return false;
    this.#steps.push({ signals: 0, point: this.#point });
    this.#point = this.#follow(id);
    this.#isFresh = false;
    return true;
  }

  /** Takes back the last `count` tokens. */
  rollback(count: number): void {
    if (count === 0) return;
    if (count > this.#steps.length) throw new RangeError(`Only ${this.#steps.length} tokens were accepted.`);
    const undone = this.#steps.splice(-count);
    this.#matcher.Rollback(undone.reduce((sum, { signals }) => sum + 1 + signals, 0));
    // The point before a token is where its own signals, if any, were taken already.
    this.#point = undone[0]!.point;
    this.#isFresh = false;
  }

  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#matcher.delete();
  }

  #follow(id: number): GuardPoint {
    const { active, tail, quoted } = this.#point;
    const point: GuardPoint = { active: null, keyClass: -1, tail, quoted };
    const bytes = this.#context.vocabulary.bytes(id);
    if (this.#hasKeys) {
      const parts = (tail + latin1(bytes)).split('"');
      // Before the last quote of this token, or of an earlier one.
      if (parts.length > 1) point.quoted = parts.at(-2)!;
      point.tail = parts.at(-1)!.slice(-LONGEST_KEY);
    }
    if (active) {
      const guard = this.#context.guards[active.number]!;
      const place = guard.accept(active.place, id);
      const isKey = this.#context.specs[active.number]!.kind === 'key';
      const key = isKey ? active.key + latin1(bytes) : '';
      if (place) point.active = { number: active.number, place, key };
      else if (isKey) point.keyClass = guard.classOf(unquote(key));
    }
    return point;
  }

  /** Takes the signals that can be taken, and reads the mask behind them. */
  #refresh(): void {
    const { vocabulary } = this.#context;
    for (;;) {
      this.#readMask();
      const number = this.#nextSignal();
      if (number === null) break;
      this.#matcher.AcceptToken(vocabulary.firstSignal + number, false);
      this.#takeSignal(number);
    }
    const { active } = this.#point;
    if (active) {
      const guard = this.#context.guards[active.number]!;
      const allowed = guard.mask(active.place);
      const mayEnd = guard.mayEnd(active.place);
      const ends = mayEnd ? [...this.#context.stopTokenIds].filter((id) => this.#allows(id)) : [];
      for (let index = 0; index < this.#mask.length; index++) this.#mask[index]! &= allowed[index]!;
      for (const id of ends) this.#mask[id >> 5]! |= 1 << (id & 31);
    }
    for (const id of this.#context.withheld) this.#mask[id >> 5]! &= ~(1 << (id & 31));
    if (this.#hasKeys) this.#withholdDeclaredKeys();
    this.#isFresh = true;
  }

  #allows(id: number): boolean {
    return ((this.#mask[id >> 5]! >>> (id & 31)) & 1) === 1;
  }

  #readMask(): void {
    const { module, vocabulary } = this.#context;
    const vector = this.#matcher.GetNextTokenBitmask(vocabulary.size);
    const view = module.vecIntToView(vector);
    this.#mask.set(view.subarray(0, vocabulary.words));
    this.#signals.set(view.subarray(vocabulary.words));
    vector.delete();
  }

  /** The first signal that the grammar offers and that holds here. */
  #nextSignal(): number | null {
    for (let index = 0; index < SIGNAL_LIMIT / 32; index++) {
      for (let word = this.#signals[index]!; word !== 0; word &= word - 1) {
        const number = 32 * index + (31 - Math.clz32(word & -word));
        if (this.#holds(this.#context.specs[number])) return number;
      }
    }
    return null;
  }

  #holds(spec: GuardSpec | undefined): boolean {
    switch (spec?.kind) {
      case undefined:
        return false;
      case 'class':
        return this.#point.keyClass === spec.index;
      case 'other-key':
        return !spec.declared.includes(utf8(this.#point.quoted));
      default:
        return true;
    }
  }

  #takeSignal(number: number): void {
    const last = this.#steps.at(-1);
    if (last) last.signals++;
    const guard = this.#context.guards[number];
    const active = guard ? { number, place: guard.start(), key: '' } : null;
    this.#point = { ...this.#point, active, keyClass: -1 };
  }

  /**
   * Where a key of an open object is being written that would become a declared one: its closing quote may only come
   * when the declared property may, which is tried.
   */
  #withholdDeclaredKeys(): void {
    const { specs, vocabulary } = this.#context;
    const questions = this.#signals.subarray(SIGNAL_LIMIT / 32);
    if (questions.every((word) => word === 0)) return;
    for (const [number, spec] of specs.entries()) {
      if (spec.kind !== 'other-key' || ((questions[number >> 5]! >>> (number & 31)) & 1) === 0) continue;
      const begun = this.#point.tail;
      for (const key of spec.declared) {
        const bytes = latin1(new TextEncoder().encode(key));
        if (!bytes.startsWith(begun)) continue;
        const id = vocabulary.find(`${bytes.slice(begun.length)}"`);
        if (id !== undefined && this.#allows(id) && !this.#leadsOn(id))
          this.#mask[id >> 5]! &= ~(1 << (id & 31));
      }
    }
  }

  /** Whether anything but a signal may come behind a token. */
  #leadsOn(id: number): boolean {
    const { module, vocabulary } = this.#context;
    if (!this.#matcher.AcceptToken(id, false)) return false;
    const vector = this.#matcher.GetNextTokenBitmask(vocabulary.size);
    const words = module.vecIntToView(vector).subarray(0, vocabulary.words);
    const leadsOn = words.some((word) => word !== 0);
    vector.delete();
    this.#matcher.Rollback(1);
    return leadsOn;
  }
}

/** Bytes of a key that is still looked at; longer ones are no declared ones. */
const LONGEST_KEY = 4096;

const utf8 = (bytes: string) =>
  new TextDecoder().decode(Uint8Array.from(bytes, (character) => character.charCodeAt(0)));

/** The key whose text up to its closing quote, and perhaps beyond, was written. */
function unquote(bytes: string): string {
  const end = /^(?:[^"\\]|\\.)*/s.exec(utf8(bytes))![0];
  // JSON has all the escapes but that of a single quote.
  const escaped = end.replace(/\\(.)/gs, (spelled, character) => (character === "'" ? "'" : spelled));
  return JSON.parse(`"${escaped}"`) as string;
}
