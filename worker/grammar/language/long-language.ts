import { type Automaton, DEAD } from './automaton.ts';
import { MAX_CODE_POINT } from './code-points.ts';
import type { Language } from './language.ts';

/** Bounds of fewer code points are part of the automaton. */
const LEAST_BOUND = 64;

/**
 * Texts of an automaton up to a length that is far beyond what it needs to come to an end: a state is one of the
 * automaton's and a length, so that there are not as many automata as lengths.
 */
export class LongLanguage implements Language {
  readonly start: number;
  readonly #automaton: Automaton;
  readonly #min: number;
  readonly #max: number;
  /** By state of the automaton: characters to the nearest end. */
  readonly #distances: Int32Array;
  /** From this length on it matters how many characters an end needs. */
  readonly #border: number;

  private constructor(automaton: Automaton, min: number, max: number, distances: Int32Array) {
    this.#automaton = automaton;
    this.#min = min;
    this.#max = max;
    this.#distances = distances;
    this.#border = max - Math.max(0, ...distances);
    const isEmpty = automaton.isEmpty || (min > 0 && !automaton.admits(0, 0, MAX_CODE_POINT));
    this.start = isEmpty ? DEAD : 0;
  }

  /** Whether the bounds say no more than when a text must end. */
  static isPossible(min: number, max: number): boolean {
    return min <= 1 && max >= LEAST_BOUND && max < Number.POSITIVE_INFINITY;
  }

  /** Null where an end may be too far away for that. */
  static of(automaton: Automaton, min: number, max: number): LongLanguage | null {
    if (!LongLanguage.isPossible(min, max)) return null;
    const distances = distancesOf(automaton);
    return max - Math.max(0, ...distances) < LEAST_BOUND
      ? null
      : new LongLanguage(automaton, min, max, distances);
  }

  step(state: number, codePoint: number): number {
    const next = this.#automaton.step(this.#base(state), codePoint);
    const length = this.#length(state) + 1;
    return next !== DEAD && length + this.#distances[next]! <= this.#max ? this.#state(next, length) : DEAD;
  }

  accepts(state: number): boolean {
    return this.#length(state) >= this.#min && this.#distances[this.#base(state)] === 0;
  }

  admits(state: number, low: number, high: number): boolean {
    if (this.#length(state) < this.#border) return this.#automaton.admits(this.#base(state), low, high);
    const { starts } = this.#automaton;
    return Array.from(starts).some((start, interval) => {
      const from = Math.max(low, start);
      const last = Math.min(high, (starts[interval + 1] ?? MAX_CODE_POINT + 1) - 1);
      return from <= last && this.step(state, from) !== DEAD;
    });
  }

  /** Up to the border any characters may come that the automaton lets come; no token is tried beyond it. */
  room(state: number): number {
    const length = this.#length(state);
    return (length < this.#border ? this.#border : this.#max) - length;
  }

  withoutLength(state: number): number {
    return this.#length(state) < this.#border ? this.#base(state) : state;
  }

  stepWithoutLength(state: number, codePoint: number): number {
    if (this.#length(state) >= this.#border) return this.step(state, codePoint);
    return this.#automaton.step(this.#base(state), codePoint);
  }

  key(state: number): number {
    return state;
  }

  #state(base: number, length: number): number {
    return length * this.#automaton.states + base;
  }

  #base(state: number): number {
    return state % this.#automaton.states;
  }

  #length(state: number): number {
    return Math.floor(state / this.#automaton.states);
  }
}

function distancesOf({ states, accepting, next, classCount }: Automaton): Int32Array {
  const before: number[][] = Array.from({ length: states }, () => []);
  for (let state = 0; state < states; state++) {
    const targets = new Set(next.subarray(state * classCount, (state + 1) * classCount));
    for (const target of targets) if (target !== DEAD) before[target]!.push(state);
  }
  const distances = new Int32Array(states).fill(-1);
  let reached = Array.from({ length: states }, (_, state) => state).filter((state) => accepting[state] === 1);
  for (let distance = 0; reached.length > 0; distance++) {
    for (const state of reached) distances[state] = distance;
    reached = [...new Set(reached.flatMap((state) => before[state]!))].filter(
      (state) => distances[state] === -1,
    );
  }
  return distances;
}
