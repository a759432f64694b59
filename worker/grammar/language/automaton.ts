/** Finite automata over code points: what they are, and what can be made of them. */
import { spend } from './allowance.ts';
import { type CodePoints, MAX_CODE_POINT } from './code-points.ts';

/** The automaton would have more states than anybody wants to pay for. */
export class AutomatonTooLargeError extends Error {
  constructor() {
    super('there are too many ways through it: make it shorter, or its repetitions smaller');
  }
}

/** States of an automaton, and of what comes before it. */
export const LARGEST_AUTOMATON = 5000;

export const DEAD = -1;

/** A deterministic automaton. Every state can still reach an accepting one: all else is `DEAD`. */
export class Automaton {
  /** First code points of the intervals in which all code points are alike; the first is 0. */
  readonly starts: Int32Array;
  /** Class of code points by interval. */
  readonly classes: Int32Array;
  readonly classCount: number;
  /** `next[state * classCount + class]` is a state or `DEAD`. State 0 is the start; none, if nothing is accepted. */
  readonly next: Int32Array;
  readonly accepting: Uint8Array;
  readonly #ascii = new Int32Array(128);

  constructor(alphabet: Alphabet, next: Int32Array, accepting: Uint8Array) {
    this.starts = alphabet.starts;
    this.classes = alphabet.classes;
    this.classCount = alphabet.count;
    this.next = next;
    this.accepting = accepting;
    for (let code = 0; code < 128; code++) this.#ascii[code] = this.classes[this.#interval(code)]!;
  }

  get states(): number {
    return this.accepting.length;
  }

  get isEmpty(): boolean {
    return this.accepting.length === 0;
  }

  step(state: number, codePoint: number): number {
    const kind = codePoint < 128 ? this.#ascii[codePoint]! : this.classes[this.#interval(codePoint)]!;
    return this.next[state * this.classCount + kind]!;
  }

  /** Whether some code point from `low` to `high` leads on. */
  admits(state: number, low: number, high: number): boolean {
    const last = this.#interval(high);
    for (let interval = this.#interval(low); interval <= last; interval++) {
      if (this.next[state * this.classCount + this.classes[interval]!]! !== DEAD) return true;
    }
    return false;
  }

  /** Whether the whole text is accepted. */
  test(text: string): boolean {
    if (this.isEmpty) return false;
    let state = 0;
    for (const character of text) {
      state = this.step(state, character.codePointAt(0)!);
      if (state === DEAD) return false;
    }
    return this.accepting[state] === 1;
  }

  #interval(codePoint: number): number {
    return intervalOf(this, codePoint);
  }
}

/** Number of the interval that holds a code point. */
export function intervalOf({ starts }: { readonly starts: Int32Array }, codePoint: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle]! <= codePoint) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Code points, sorted into classes that an automaton need not tell apart inside of. */
export interface Alphabet {
  starts: Int32Array;
  classes: Int32Array;
  count: number;
}

/** The coarsest alphabet in which each set is a union of classes, and which classes those are. */
export function alphabetOf(sets: readonly CodePoints[]): { alphabet: Alphabet; members: Set<number>[] } {
  const bounds = new Set([0]);
  for (const set of sets) {
    for (const [low, high] of set) {
      bounds.add(low);
      if (high < MAX_CODE_POINT) bounds.add(high + 1);
    }
  }
  const starts = Int32Array.from([...bounds].sort((a, b) => a - b));
  const holders: number[][] = Array.from(starts, () => []);
  for (const [index, set] of sets.entries()) {
    for (const [low, high] of set) {
      for (let at = lowerBound(starts, low); at < starts.length && starts[at]! <= high; at++)
        holders[at]!.push(index);
    }
  }
  const classes = new Int32Array(starts.length);
  const members: Set<number>[] = sets.map(() => new Set());
  const known = new Map<string, number>();
  for (const [interval, indices] of holders.entries()) {
    const key = indices.join();
    let kind = known.get(key);
    if (kind === undefined) {
      kind = known.size;
      known.set(key, kind);
      for (const index of indices) members[index]!.add(kind);
    }
    classes[interval] = kind;
  }
  return { alphabet: { starts, classes, count: known.size }, members };
}

function lowerBound(sorted: Int32Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Explores an automaton from its start state.
 *
 * @param expand says of a state whether it accepts, and which state each class leads to (`null`: none)
 */
export function explore<State>(
  alphabet: Alphabet,
  start: State,
  keyOf: (state: State) => string,
  expand: (state: State) => { accepts: boolean; next: (kind: number) => State | null },
): Automaton {
  const numbers = new Map([[keyOf(start), 0]]);
  const states = [start];
  const next: number[] = [];
  const accepting: number[] = [];
  for (let index = 0; index < states.length; index++) {
    spend(4 * (1 + alphabet.count));
    const expanded = expand(states[index]!);
    accepting.push(expanded.accepts ? 1 : 0);
    for (let kind = 0; kind < alphabet.count; kind++) {
      const target = expanded.next(kind);
      if (target === null) {
        next.push(DEAD);
        continue;
      }
      const key = keyOf(target);
      let number = numbers.get(key);
      if (number === undefined) {
        number = states.length;
        if (number >= LARGEST_AUTOMATON) throw new AutomatonTooLargeError();
        numbers.set(key, number);
        states.push(target);
      }
      next.push(number);
    }
  }
  return prune(alphabet, next, accepting);
}

/** Leaves out the states from which nothing is accepted. */
function prune(alphabet: Alphabet, next: readonly number[], accepting: readonly number[]): Automaton {
  const before: number[][] = accepting.map(() => []);
  for (const [edge, target] of next.entries()) {
    if (target !== DEAD) before[target]!.push(Math.floor(edge / alphabet.count));
  }
  const isAlive = new Uint8Array(accepting.length);
  const waiting = accepting.flatMap((accepts, state) => (accepts ? [state] : []));
  for (let state = waiting.pop(); state !== undefined; state = waiting.pop()) {
    if (isAlive[state]) continue;
    isAlive[state] = 1;
    waiting.push(...before[state]!);
  }
  if (!isAlive[0]) return new Automaton(alphabet, new Int32Array(0), new Uint8Array(0));
  const alive = accepting.flatMap((_, state) => (isAlive[state] ? [state] : []));
  const renumbered = new Int32Array(accepting.length).fill(DEAD);
  for (const [number, state] of alive.entries()) renumbered[state] = number;
  const kept = new Int32Array(alive.length * alphabet.count);
  for (const [number, state] of alive.entries()) {
    for (let kind = 0; kind < alphabet.count; kind++) {
      const target = next[state * alphabet.count + kind]!;
      kept[number * alphabet.count + kind] = target === DEAD ? DEAD : renumbered[target]!;
    }
  }
  return new Automaton(
    alphabet,
    kept,
    Uint8Array.from(alive, (state) => accepting[state]!),
  );
}

/** Texts that both accept. */
export const intersection = (a: Automaton, b: Automaton) => combine(a, b, (inA, inB) => inA && inB);
/** Texts that at least one accepts. */
export const either = (a: Automaton, b: Automaton) => combine(a, b, (inA, inB) => inA || inB);
/** Texts that only `a` accepts. */
export const difference = (a: Automaton, b: Automaton) => combine(a, b, (inA, inB) => inA && !inB);

function combine(a: Automaton, b: Automaton, accept: (inA: boolean, inB: boolean) => boolean): Automaton {
  const starts = Int32Array.from(new Set([...a.starts, ...b.starts])).sort();
  const pairs = new Map<string, number>();
  const samples: number[] = [];
  const classes = Int32Array.from(starts, (start) => {
    const key = `${classAt(a, start)},${classAt(b, start)}`;
    let kind = pairs.get(key);
    if (kind === undefined) {
      kind = pairs.size;
      pairs.set(key, kind);
      samples.push(start);
    }
    return kind;
  });
  const step = (automaton: Automaton, state: number, kind: number) =>
    state === DEAD ? DEAD : automaton.step(state, samples[kind]!);
  return explore<readonly [number, number]>(
    { starts, classes, count: pairs.size },
    [a.isEmpty ? DEAD : 0, b.isEmpty ? DEAD : 0],
    ([inA, inB]) => `${inA},${inB}`,
    ([inA, inB]) => ({
      accepts: accept(inA !== DEAD && a.accepting[inA] === 1, inB !== DEAD && b.accepting[inB] === 1),
      next: (kind) => {
        const target = [step(a, inA, kind), step(b, inB, kind)] as const;
        return target[0] === DEAD && target[1] === DEAD ? null : target;
      },
    }),
  );
}

const classAt = (automaton: Automaton, codePoint: number) => {
  let at = lowerBound(automaton.starts, codePoint);
  if (automaton.starts[at] !== codePoint) at--;
  return automaton.classes[at]!;
};

/** Exactly these texts. */
export function wordsAutomaton(words: readonly string[]): Automaton {
  interface Node {
    number: number;
    isEnd: boolean;
    next: Map<number, Node>;
  }
  let count = 0;
  const node = (): Node => ({ number: count++, isEnd: false, next: new Map() });
  const root = node();
  const codes = new Set<number>();
  for (const word of words) {
    let at = root;
    for (const character of word) {
      const code = character.codePointAt(0)!;
      codes.add(code);
      let next = at.next.get(code);
      if (!next) {
        next = node();
        at.next.set(code, next);
      }
      at = next;
    }
    at.isEnd = true;
  }
  const list = [...codes];
  const { alphabet, members } = alphabetOf(list.map((code) => [[code, code]]));
  const codeOf = new Map(members.map((kinds, index) => [[...kinds][0]!, list[index]!]));
  return explore(
    alphabet,
    root,
    ({ number }) => String(number),
    ({ isEnd, next }) => ({ accepts: isEnd, next: (kind) => next.get(codeOf.get(kind) ?? -1) ?? null }),
  );
}

/** Texts of so many code points. */
export function lengthAutomaton(min: number, max: number): Automaton {
  const { alphabet } = alphabetOf([]);
  return explore<number>(alphabet, 0, String, (length) => ({
    accepts: length >= min,
    next: () =>
      max === Number.POSITIVE_INFINITY ? Math.min(length + 1, min) : length < max ? length + 1 : null,
  }));
}
