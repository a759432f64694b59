/** Walks a grammar as a model would be led through it: mask, choose, accept, until the turn ends. */
import { DIGITS, spellings, triggersOf } from '../../src/parser/format.ts';
import type { ChoiceConstraint } from '../../worker/grammar/constraint.ts';
import type { Random } from './random.ts';
import type { WalkRequest } from './request.ts';
import type { Subject } from './subject.ts';
import type { TokenGroups } from './vocabulary.ts';

/** The most tokens of a walk. */
const CAP = 1500;

/** Text that looks like something else, or is hard to write. */
const BAITS = [
  '"',
  '\\',
  '\\"',
  '\n',
  '\n\n',
  '\t',
  '`',
  '```json\n',
  "it's",
  '{"a": 1}',
  '{"name": "f", "arguments": {}}',
  '\n{"name": "f", "parameters": {}}',
  '[f(a=1)]',
  '\n[f(a="x")]',
  '"}}\n</tool_call>',
  '</parameter>',
  '\n</parameter>\n</function>',
  '</function>',
  '\n<parameter=a>\n1\n</parameter>',
  '\n<function=f>\n',
  '<function=f>',
  '</arg_value>',
  '</invoke>',
  '<invoke name="f">',
  'é',
  '日本語',
  '😀',
  '\\u00e9',
  '\\ud83d\\ude00',
  'null',
  'true',
  '-0',
  '1e5',
  '0.50',
  ' ',
  '  x  ',
  '&lt;b&gt;',
  '<b>',
  'def f(a):\n    return a\n',
];

/**
 * @param take gets each token of the answer, the end of the turn included
 * @returns whether the turn ended; false when the cap came first
 */
export function walk(
  subject: Subject,
  request: WalkRequest,
  constraint: ChoiceConstraint,
  random: Random,
  take: (id: number) => void,
): boolean {
  const walker = new Walker(subject, request, random);
  const ends = new Set(subject.eosTokenIds);
  for (let written = 0; written < CAP; written++) {
    const id = constraint.forced() ?? walker.choose(constraint.mask(), written);
    take(id);
    constraint.accept(id);
    walker.took(id);
    if (ends.has(id)) return true;
  }
  return false;
}

class Walker {
  readonly #subject: Subject;
  readonly #random: Random;
  readonly #ends: ReadonlySet<number>;
  readonly #added: ReadonlySet<number>;
  /** Added tokens that are of the format. */
  readonly #own: ReadonlySet<number>;
  readonly #closing: string[];
  readonly #owed: readonly string[];
  readonly #closers: readonly number[];
  readonly #reasoningEnds: readonly string[];
  readonly #baits: readonly string[];
  /** What begins a call by its letters. */
  readonly #triggers: readonly string[];
  /** Tokens after which the walk makes for its end. */
  readonly #patience: number;
  /** How often it goes for what ends something. */
  readonly #haste: number;
  /** Ids that are still to be written of a text. */
  #plan: number[] = [];
  /** The walker's own idea of whether the model is thinking, for the weights only. */
  #isThinking: boolean;

  constructor(subject: Subject, request: WalkRequest, random: Random) {
    const { format, vocabulary } = subject;
    const { mode, content } = request;
    this.#subject = subject;
    this.#closers = vocabulary.groups.closers;
    this.#random = random;
    this.#ends = new Set(subject.eosTokenIds);
    this.#added = new Set(vocabulary.added.values());
    const texts = Object.values(format.terminals).flatMap(spellings);
    this.#own = new Set(texts.flatMap((text) => vocabulary.added.get(text) ?? []));
    const { reasoning, tools } = format;
    this.#reasoningEnds = reasoning ? spellings(reasoning.terminals[reasoning.end]!) : [];
    const isOpen = mode.start === 'opened' || (mode.start === 'free' && reasoning?.implicitStart === true);
    this.#isThinking = reasoning !== null && isOpen;
    const writing = tools?.writing;
    const style = writing?.arguments ?? 'json';
    const parameters = typeof style !== 'string' && 'open' in style ? style : null;
    this.#closing = [parameters?.close, writing?.callEnd, writing?.blockEnd]
      .filter((text) => text !== undefined)
      .flatMap((text) => [text, text.trimStart()])
      .filter((text) => text !== '');
    // An object may owe a property before it can end.
    const schemas = [
      ...request.tools.map(({ parameters }) => parameters),
      content && 'schema' in content && content.schema,
    ];
    this.#owed = schemas.flatMap((schema) => [...keysOf(schema)].map((key) => `${JSON.stringify(key)}: `));
    const names = request.tools.map(({ name }) => name);
    const written = writing
      ? [...triggersOf(writing, names), ...writing.callStart('f').filter((part) => part !== DIGITS)]
      : [];
    const opened = parameters ? [parameters.open('a', 'text'), parameters.open('a', 'json')] : [];
    this.#closing.push(...opened.map((text) => text.slice(text.lastIndexOf('a') + 1)));
    // A marker of several tokens is known by its letters: spelled in other tokens it would be the marker too.
    const isKnownByLetters = (text: string) =>
      !vocabulary.added.has(text) && vocabulary.markup(text) !== text;
    const own = [...texts, ...written].filter((text) => !isKnownByLetters(text));
    this.#baits = [...BAITS, ...own, ...this.#closing, ...opened];
    this.#triggers = writing ? triggersOf(writing, names).filter((text) => !vocabulary.added.has(text)) : [];
    this.#patience = random.between(10, 220);
    this.#haste = random.pick([0.05, 0.15, 0.35]);
  }

  took(id: number): void {
    if (this.#plan[0] === id) this.#plan.shift();
    if (this.#isThinking && this.#reasoningEnds.some((text) => this.#idOf(text) === id))
      this.#isThinking = false;
  }

  /** The next token. */
  choose(mask: Uint32Array | null, written: number): number {
    const isAllowed = (id: number) => mask === null || ((mask[id >> 5]! >>> (id & 31)) & 1) === 1;
    const [planned] = this.#plan;
    if (planned !== undefined) {
      if (isAllowed(planned)) return planned;
      this.#plan = [];
    }
    const id = this.#isThinking ? this.#think(isAllowed) : this.#write(isAllowed, mask, written);
    return id ?? this.#any(mask);
  }

  #think(isAllowed: (id: number) => boolean): number | null {
    const random = this.#random;
    if (random.chance(0.08)) {
      const text = random.pick(this.#reasoningEnds);
      if (this.#idOf(text) === undefined) this.#isThinking = false;
      // Quoted, the marker is part of the thought.
      if (random.chance(0.2)) {
        const quoted = [...this.#plainly('`'), ...this.#subject.vocabulary.encode(text)];
        return this.#begin([...quoted, ...(random.chance(0.7) ? this.#plainly('`') : [])], isAllowed);
      }
      return this.#begin(this.#subject.vocabulary.encode(text), isAllowed);
    }
    if (random.chance(0.02)) return this.#among([...this.#own], isAllowed);
    if (random.chance(0.05)) return this.#among([...this.#ends], isAllowed);
    return random.chance(0.1) ? this.#bait(isAllowed) : this.#text(isAllowed);
  }

  #write(isAllowed: (id: number) => boolean, mask: Uint32Array | null, written: number): number | null {
    const random = this.#random;
    const isTired = written > this.#patience;
    if (random.chance(isTired ? 1 : 0.04)) {
      const end = this.#among([...this.#ends], isAllowed);
      if (end !== null) return end;
    }
    if (random.chance(isTired ? 0.9 : 0.15)) {
      const marker = this.#among(
        [...this.#added].filter((id) => !this.#ends.has(id)),
        isAllowed,
      );
      if (marker !== null) return marker;
    }
    if (random.chance(isTired ? 0.8 : this.#haste)) {
      const closer = this.#among(isTired ? this.#lastClosers(isAllowed) : this.#closers, isAllowed);
      if (closer !== null) return closer;
    }
    if (isTired && random.chance(0.7)) {
      const closing = this.#begin(
        this.#plainly(random.pick([...this.#closing, ...this.#owed, '"'])),
        isAllowed,
      );
      if (closing !== null) return closing;
    }
    if (this.#triggers.length > 0 && random.chance(0.04)) {
      const trigger = this.#begin(this.#plainly(random.pick(this.#triggers)), isAllowed);
      if (trigger !== null) return trigger;
    }
    const few = mask && fewOf(mask);
    if (few) return random.pick(few);
    return random.chance(0.12) ? this.#bait(isAllowed) : this.#text(isAllowed);
  }

  /** Closers after which nothing else is owed: quotes inside of a string, brackets outside. */
  #lastClosers(isAllowed: (id: number) => boolean): number[] {
    const { reader } = this.#subject.vocabulary;
    const isInText = this.#plainly('a?~').every(isAllowed);
    return this.#closers.filter((id) => {
      const text = reader.text(id);
      return text.startsWith('"') === isInText && !text.includes(',') && text.length < 4;
    });
  }

  /** A token of ordinary text. */
  #text(isAllowed: (id: number) => boolean): number | null {
    const kind = this.#random.next();
    const group: keyof TokenGroups =
      kind < 0.5
        ? 'words'
        : kind < 0.6
          ? 'digits'
          : kind < 0.68
            ? 'spaces'
            : kind < 0.78
              ? 'unicode'
              : kind < 0.8
                ? 'fragments'
                : kind < 0.85
                  ? 'escapes'
                  : kind < 0.9
                    ? 'closers'
                    : 'signs';
    return this.#among(this.#subject.vocabulary.groups[group], isAllowed);
  }

  /** The first token of a text that is hard to write. */
  #bait(isAllowed: (id: number) => boolean): number | null {
    return this.#begin(this.#plainly(this.#random.pick(this.#baits)), isAllowed);
  }

  #plainly(text: string): number[] {
    return this.#subject.vocabulary.encodePlain(text, this.#random);
  }

  #begin(ids: number[], isAllowed: (id: number) => boolean): number | null {
    const [first] = ids;
    if (first === undefined || !isAllowed(first)) return null;
    this.#plan = ids;
    return first;
  }

  /** Some allowed one of the ids, found by trying. */
  #among(ids: readonly number[], isAllowed: (id: number) => boolean): number | null {
    if (ids.length <= 64) {
      const allowed = ids.filter(isAllowed);
      return allowed.length > 0 ? this.#random.pick(allowed) : null;
    }
    for (let attempt = 0; attempt < 12; attempt++) {
      const id = this.#random.pick(ids);
      if (isAllowed(id)) return id;
    }
    return null;
  }

  /** Any allowed token. */
  #any(mask: Uint32Array | null): number {
    if (mask === null) return this.#random.pick(this.#subject.vocabulary.groups.words);
    let left = this.#random.below(mask.reduce((sum, word) => sum + bitsOf(word), 0));
    for (const [index, word] of mask.entries()) {
      const count = bitsOf(word);
      if (left >= count) {
        left -= count;
        continue;
      }
      let rest = word;
      for (; left > 0; left--) rest &= rest - 1;
      return 32 * index + 31 - Math.clz32(rest & -rest);
    }
    throw new Error('The mask allows no token.');
  }

  #idOf(text: string): number | undefined {
    return this.#subject.vocabulary.added.get(text);
  }
}

/** Names of all declared properties. */
function keysOf(schema: unknown, found = new Set<string>()): Set<string> {
  if (typeof schema !== 'object' || schema === null) return found;
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'properties') for (const key of Object.keys(value as object)) found.add(key);
    keysOf(value, found);
  }
  return found;
}

/** The allowed tokens where there are few of them. */
function fewOf(mask: Uint32Array): number[] | null {
  const ids: number[] = [];
  for (const [index, word] of mask.entries()) {
    for (let rest = word; rest !== 0; rest &= rest - 1) {
      if (ids.length === 40) return null;
      ids.push(32 * index + 31 - Math.clz32(rest & -rest));
    }
  }
  return ids.length > 0 ? ids : null;
}

function bitsOf(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
