/** One way in which a grammar reads an output. */
import type { XgrammarMatcher, XgrammarModule } from 'virtual:xgrammar';
import type { Guard } from './guard/guard.ts';
import type { GuardSpec } from './guard/spec.ts';
import type { MatcherPool, Taken } from './matcher-pool.ts';
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
  /** A matcher of xgrammar before the first token. */
  create(): XgrammarMatcher;
}

/** The same for the paths of one output. */
export type PathContext = MatcherContext & { readonly pool: MatcherPool };

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

/** Stands for what no guard follows among the signals of a group. */
const PLAIN = -1;

/** Signals that were taken at one place: where they are several, all that they lead to is followed. */
interface Signals {
  /** Ascending. */
  numbers: readonly number[];
  /** Whether others can be taken with them, as a group. */
  isShared: boolean;
}

/** A token and the signals that were taken behind it; replaced, never changed. */
interface Step extends Taken {
  /** Null at the start, which has no token. */
  before: Step | null;
  signals: readonly Signals[];
  point: GuardPoint;
  /** The signals that come next are left to other paths. */
  isPlain: boolean;
}

/** A piece of text that the grammar forces: ordinary text, or the id of an added token. */
export type Forced = string | number;

export class MatcherPath {
  /** Tokens before the place where it left another path. */
  readonly born: number;
  readonly #context: PathContext;
  /** Null while it is given back. */
  #matcher: XgrammarMatcher | null = null;
  #step: Step;
  readonly #mask: Uint32Array;
  /** Bits of the signals, of their questions, and of what makes groups. */
  readonly #signals = new Uint32Array((2 * SIGNAL_LIMIT) / 32 + 1);
  readonly #hasKeys: boolean;

  private constructor(context: PathContext, step: Step) {
    this.#context = context;
    this.#step = step;
    this.born = step.length;
    this.#mask = new Uint32Array(context.vocabulary.words);
    this.#hasKeys = context.specs.some(({ kind }) => kind === 'other-key');
  }

  static start(context: PathContext): MatcherPath {
    const point: GuardPoint = { active: null, keyClass: -1, tail: '', quoted: '' };
    return new MatcherPath(context, {
      before: null,
      ids: [],
      length: 0,
      signals: [],
      point,
      isPlain: false,
    });
  }

  /** Tokens that were taken. */
  get length(): number {
    return this.#step.length;
  }

  /** True once the model's turn has ended. */
  get isTerminated(): boolean {
    return this.#xgrammar.IsTerminated();
  }

  /** Bits of the tokens that may come next, behind the signals. Valid until the next call of `settle`. */
  get mask(): Uint32Array {
    return this.#mask;
  }

  /**
   * Takes the signals that can be taken, and reads the mask behind them. Where a signal is not all that may come,
   * what else may come is another path.
   *
   * @returns the other paths
   */
  settle(): MatcherPath[] {
    const others: MatcherPath[] = [];
    this.#readMask();
    while (!this.#step.isPlain) {
      const offered = this.#offered();
      if (offered.length === 0) break;
      const isShared = this.#offers(this.#context.vocabulary.group.start);
      const fork = (number: number) => this.#fork({ numbers: [number], isShared });
      if (this.#mask.some((word) => word !== 0)) {
        others.push(...offered.map(fork));
        this.#step = { ...this.#step, isPlain: true };
      } else {
        const [first, ...rest] = offered as [number, ...number[]];
        others.push(...rest.map(fork));
        this.#takeSignals({ numbers: [first], isShared });
        this.#readMask();
      }
    }
    this.#addGuards();
    return others;
  }

  /** Whether a token may come next. */
  allows(id: number): boolean {
    return ((this.#mask[id >> 5]! >>> (id & 31)) & 1) === 1;
  }

  /** Takes a token. False, and nothing happens, when it may not come. */
  accept(id: number): boolean {
    if (!this.#xgrammar.AcceptToken(id, false)) return false;
    const before = this.#step;
    this.#step = {
      before,
      ids: [id],
      length: before.length + 1,
      signals: [],
      point: this.#follow(id),
      isPlain: false,
    };
    return true;
  }

  /** Takes back all tokens but the first `length`. */
  rollbackTo(length: number): void {
    let undone = 0;
    while (this.#step.length > length) {
      undone += this.#step.ids.length;
      this.#step = this.#step.before!;
    }
    if (undone > 0) this.#matcher?.Rollback(undone);
  }

  /**
   * One path in place of two that have taken the same tokens, and the same signals but those of one place: all that
   * may come behind either of them may come behind both signals taken as a group. Null where there is none.
   */
  joined(other: MatcherPath): MatcherPath | null {
    const [{ point }, { point: otherPoint }] = [this.#step, other.#step];
    if (point.active || otherPoint.active || point.keyClass !== otherPoint.keyClass) return null;
    const above: Step[] = [];
    let joint: Step | null = null;
    let whole: MatcherPath | null = null;
    let [own, others]: [Step | null, Step | null] = [this.#step, other.#step];
    for (; own && others && own !== others; own = own.before, others = others.before) {
      const index = onlyDifference(own, others);
      if (index === null) return null;
      if (index === -1) {
        if (!joint) above.push(own);
        continue;
      }
      if (joint) return null;
      const [left, right] = [own.signals[index]!.numbers, others.signals[index]!.numbers];
      const numbers = [...new Set([...left, ...right])].sort((a, b) => a - b);
      if (numbers.length === left.length) whole = this;
      else if (numbers.length === right.length) whole = other;
      const signals = own.signals.with(index, { numbers, isShared: true });
      const token = own.before ? own.ids.slice(0, 1) : [];
      joint = { ...own, ids: [...token, ...signals.flatMap((taken) => this.#idsOf(taken))], signals };
    }
    if (!joint) return this;
    const step = above.reduceRight<Step>((before, next) => ({ ...next, before }), joint);
    return whole ?? new MatcherPath(this.#context, step);
  }

  /** What must come next, whatever the tokens. Empty inside of guarded texts. */
  forcedText(): Forced[] {
    if (this.#step.point.active) return [];
    const text = this.#xgrammar.FindJumpForwardString().replace(/\ufffd+$/, '');
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

  /** Gives its memory to others; what is needed again is made again. */
  release(): void {
    if (this.#matcher) this.#context.pool.give(this.#matcher, this.#step);
    this.#matcher = null;
  }

  get #xgrammar(): XgrammarMatcher {
    this.#matcher ??= this.#context.pool.take(this.#step);
    return this.#matcher;
  }

  /** A path that has taken the same tokens, and signals. */
  #fork(signals: Signals): MatcherPath {
    const path = new MatcherPath(this.#context, this.#step);
    path.#takeSignals(signals);
    return path;
  }

  #follow(id: number): GuardPoint {
    const { active, tail, quoted } = this.#step.point;
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

  #addGuards(): void {
    const { active } = this.#step.point;
    if (active) {
      const guard = this.#context.guards[active.number]!;
      const allowed = guard.mask(active.place);
      const mayEnd = guard.mayEnd(active.place);
      const ends = mayEnd ? [...this.#context.stopTokenIds].filter((id) => this.allows(id)) : [];
      for (let index = 0; index < this.#mask.length; index++) this.#mask[index]! &= allowed[index]!;
      for (const id of ends) this.#mask[id >> 5]! |= 1 << (id & 31);
    }
    if (this.#hasKeys) this.#withholdDeclaredKeys();
  }

  #readMask(): void {
    const { module, vocabulary, withheld } = this.#context;
    const vector = this.#xgrammar.GetNextTokenBitmask(vocabulary.size);
    const view = module.vecIntToView(vector);
    this.#mask.set(view.subarray(0, vocabulary.words));
    this.#signals.set(view.subarray(vocabulary.words));
    vector.delete();
    for (const id of withheld) this.#mask[id >> 5]! &= ~(1 << (id & 31));
  }

  /** The signals that the grammar offers and that hold here. */
  #offered(): number[] {
    const numbers = this.#offers(this.#context.vocabulary.group.plainQuestion) ? [PLAIN] : [];
    for (let index = 0; index < SIGNAL_LIMIT / 32; index++) {
      for (let word = this.#signals[index]!; word !== 0; word &= word - 1) {
        const number = 32 * index + (31 - Math.clz32(word & -word));
        if (this.#holds(this.#context.specs[number])) numbers.push(number);
      }
    }
    return numbers;
  }

  #holds(spec: GuardSpec | undefined): boolean {
    const { keyClass, quoted } = this.#step.point;
    switch (spec?.kind) {
      case undefined:
        return false;
      case 'class':
        return keyClass === spec.index;
      case 'other-key':
        return !spec.declared.includes(utf8(quoted));
      default:
        return true;
    }
  }

  #takeSignals(signals: Signals): void {
    const ids = this.#idsOf(signals);
    if (this.#matcher) for (const id of ids) this.#matcher.AcceptToken(id, false);
    // A group is only taken again, behind its texts.
    const [number = PLAIN] = signals.numbers;
    const guard = this.#context.guards[number];
    const active = guard ? { number, place: guard.start(), key: '' } : null;
    const step = this.#step;
    this.#step = {
      ...step,
      ids: [...step.ids, ...ids],
      signals: [...step.signals, signals],
      point: { ...step.point, active, keyClass: -1 },
    };
  }

  /** The tokens that take signals. */
  #idsOf({ numbers }: Signals): number[] {
    const { firstSignal, group } = this.#context.vocabulary;
    const ids = numbers.map((number) => (number === PLAIN ? group.plain : firstSignal + number));
    return ids.length === 1 && numbers[0] !== PLAIN ? ids : [group.start, ...ids, group.end];
  }

  /** Whether the grammar offers a token that is none of the model's. */
  #offers(id: number): boolean {
    const bit = id - this.#context.vocabulary.firstSignal;
    return ((this.#signals[bit >> 5]! >>> (bit & 31)) & 1) === 1;
  }

  /**
   * Where a key of an open object is being written that would become a declared one: its closing quote may only come
   * when the declared property may, which is tried.
   */
  #withholdDeclaredKeys(): void {
    const { specs, vocabulary } = this.#context;
    const questions = this.#signals.subarray(SIGNAL_LIMIT / 32, (2 * SIGNAL_LIMIT) / 32);
    if (questions.every((word) => word === 0)) return;
    for (const [number, spec] of specs.entries()) {
      if (spec.kind !== 'other-key' || ((questions[number >> 5]! >>> (number & 31)) & 1) === 0) continue;
      const begun = this.#step.point.tail;
      for (const key of spec.declared) {
        const bytes = latin1(new TextEncoder().encode(key));
        if (!bytes.startsWith(begun)) continue;
        const id = vocabulary.find(`${bytes.slice(begun.length)}"`);
        if (id !== undefined && this.allows(id) && !this.#leadsOn(id))
          this.#mask[id >> 5]! &= ~(1 << (id & 31));
      }
    }
  }

  /** Whether anything but the signal of a guard may come behind a token. */
  #leadsOn(id: number): boolean {
    const { module, vocabulary } = this.#context;
    if (!this.#xgrammar.AcceptToken(id, false)) return false;
    const vector = this.#xgrammar.GetNextTokenBitmask(vocabulary.size);
    const view = module.vecIntToView(vector);
    const { plainQuestion } = vocabulary.group;
    const leadsOn =
      view.subarray(0, vocabulary.words).some((word) => word !== 0) ||
      ((view[plainQuestion >> 5]! >>> (plainQuestion & 31)) & 1) === 1;
    vector.delete();
    this.#xgrammar.Rollback(1);
    return leadsOn;
  }
}

/** Index of the signals in which two steps differ; -1 for none, null where these can't be taken as a group. */
function onlyDifference(own: Step, others: Step): number | null {
  if (own.isPlain !== others.isPlain || own.signals.length !== others.signals.length) return null;
  const isOther = ({ numbers }: Signals, index: number) =>
    numbers.join() !== others.signals[index]!.numbers.join();
  const index = own.signals.findIndex(isOther);
  if (index !== own.signals.findLastIndex(isOther)) return null;
  const isShared = index === -1 || (own.signals[index]!.isShared && others.signals[index]!.isShared);
  return isShared ? index : null;
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
