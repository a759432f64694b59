import { spend } from './allowance.ts';
import {
  type Alphabet,
  type Automaton,
  AutomatonTooLargeError,
  alphabetOf,
  explore,
  intervalOf,
  LARGEST_AUTOMATON,
} from './automaton.ts';
import type { CodePoints } from './code-points.ts';
import { ANY_TEXT, type Regex } from './regex.ts';

/** Where a way through the automaton that reads nothing may be taken. */
type Place = 'anywhere' | 'start' | 'end';

/** An automaton with choices, as the expression spells it. */
class ChoiceAutomaton {
  readonly free: { to: number; place: Place }[][] = [];
  readonly reading: { to: number; set: number }[][] = [];
  readonly sets: CodePoints[] = [];
  readonly #setNumbers = new Map<string, number>();
  readonly #numbers = new Map<CodePoints, number>();
  readonly #largest: number;
  /** Work that may still be done: it grows with the states of both automata. */
  #budget = 1_500_000;

  /** @param largest the most states */
  constructor(largest = 4 * LARGEST_AUTOMATON) {
    this.#largest = largest;
  }

  spend(work: number): void {
    spend(work);
    this.#budget -= work;
    if (this.#budget < 0) throw new AutomatonTooLargeError();
  }

  state(): number {
    if (this.free.length > this.#largest) throw new AutomatonTooLargeError();
    this.free.push([]);
    this.reading.push([]);
    return this.free.length - 1;
  }

  /** Adds the expression behind `from`; returns the state in which it ends. */
  add(regex: Regex, from: number): number {
    // Also of what is empty, repeated a billion times.
    this.spend(1);
    switch (regex.type) {
      case 'set': {
        const to = this.state();
        this.reading[from]!.push({ to, set: this.#setNumber(regex.set) });
        return to;
      }
      case 'start':
      case 'end': {
        const to = this.state();
        this.free[from]!.push({ to, place: regex.type });
        return to;
      }
      case 'sequence':
        return regex.parts.reduce((at, part) => this.add(part, at), from);
      case 'choice': {
        const to = this.state();
        for (const part of regex.parts) this.free[this.add(part, from)]!.push({ to, place: 'anywhere' });
        return to;
      }
      case 'repeat':
        return this.#addRepeat(regex, from);
    }
  }

  #addRepeat({ part, min, max }: Extract<Regex, { type: 'repeat' }>, from: number): number {
    let at = from;
    for (let count = 0; count < min; count++) at = this.add(part, at);
    const to = this.state();
    if (max === Number.POSITIVE_INFINITY) {
      // A state of its own, since others may lead on from where the repetition begins.
      const loop = this.state();
      this.free[at]!.push({ to: loop, place: 'anywhere' });
      this.free[this.add(part, loop)]!.push({ to: loop, place: 'anywhere' });
      at = loop;
    } else {
      for (let count = min; count < max; count++) {
        this.free[at]!.push({ to, place: 'anywhere' });
        at = this.add(part, at);
      }
    }
    this.free[at]!.push({ to, place: 'anywhere' });
    return to;
  }

  #setNumber(set: CodePoints): number {
    let number = this.#numbers.get(set);
    if (number !== undefined) return number;
    const key = set.join(';');
    number = this.#setNumbers.get(key);
    if (number === undefined) {
      number = this.sets.length;
      this.sets.push(set);
      this.#setNumbers.set(key, number);
    }
    this.#numbers.set(set, number);
    return number;
  }

  /** What can be reached without reading, in order; states that nothing more is asked of are left out. */
  reach(states: Iterable<number>, places: readonly Place[]): number[] {
    const seen = new Set(states);
    const waiting = [...seen];
    for (let state = waiting.pop(); state !== undefined; state = waiting.pop()) {
      this.spend(1);
      for (const { to, place } of this.free[state]!) {
        if (!places.includes(place) || seen.has(to)) continue;
        seen.add(to);
        waiting.push(to);
      }
    }
    return [...seen].filter((state) => this.#matters(state)).sort((a, b) => a - b);
  }

  #matters(state: number): boolean {
    const free = this.free[state]!;
    return (
      this.reading[state]!.length > 0 || free.length === 0 || free.some(({ place }) => place !== 'anywhere')
    );
  }
}

/** Follows an expression without making a deterministic automaton of it: slower, but seldom too large. */
export class RegexSimulation {
  readonly #choices = new ChoiceAutomaton(30_000);
  readonly #start: number;
  readonly #end: number;
  readonly #alphabet: Alphabet;
  readonly #members: readonly ReadonlySet<number>[];

  /** @throws AutomatonTooLargeError */
  constructor(regex: Regex) {
    this.#start = this.#choices.state();
    this.#end = this.#choices.add(regex, this.#start);
    const { alphabet, members } = alphabetOf(this.#choices.sets);
    this.#alphabet = alphabet;
    this.#members = members;
  }

  get states(): number {
    return this.#choices.free.length;
  }

  /**
   * Whether the expression matches somewhere in the text.
   *
   * @param budget states that may still be looked at; lessened
   * @throws AutomatonTooLargeError when the budget is spent
   */
  test(text: string, budget: { left: number }): boolean {
    const characters = Array.from(text);
    let states = new Set<number>();
    for (let at = 0; at <= characters.length; at++) {
      states.add(this.#start);
      this.#addFree(states, at === 0, at === characters.length, budget);
      if (states.has(this.#end)) return true;
      if (at === characters.length) break;
      const kind = this.#alphabet.classes[intervalOf(this.#alphabet, characters[at]!.codePointAt(0)!)]!;
      const next = new Set<number>();
      for (const state of states) {
        for (const { to, set } of this.#choices.reading[state]!) {
          if (this.#members[set]!.has(kind)) next.add(to);
        }
      }
      states = next;
    }
    return false;
  }

  /** Adds what can be reached without reading. */
  #addFree(states: Set<number>, isStart: boolean, isEnd: boolean, budget: { left: number }): void {
    // A set is walked in the order in which it was filled, what is added meanwhile included.
    for (const state of states) {
      const free = this.#choices.free[state]!;
      budget.left -= 1 + free.length;
      if (budget.left < 0) throw new AutomatonTooLargeError();
      for (const { to, place } of free) {
        if (place === 'anywhere' || (place === 'start' ? isStart : isEnd)) states.add(to);
      }
    }
  }
}

/**
 * The texts in which the expression matches somewhere, as JSON Schema's `pattern` does.
 *
 * @param readable what a set of the expression is taken as
 */
export function regexAutomaton(regex: Regex, readable = (set: CodePoints): CodePoints => set): Automaton {
  const choices = new ChoiceAutomaton();
  const start = choices.state();
  const end = choices.add({ type: 'sequence', parts: [ANY_TEXT, regex, ANY_TEXT] }, start);
  const { alphabet, members } = alphabetOf(choices.sets.map(readable));
  const readers: number[][][] = choices.reading.map((edges) => {
    const byClass: number[][] = Array.from({ length: alphabet.count }, () => []);
    for (const { to, set } of edges) for (const kind of members[set]!) byClass[kind]!.push(to);
    return byClass;
  });
  const reached = new Map<number, readonly number[]>();
  const reach = (state: number) => {
    let states = reached.get(state);
    if (!states) {
      states = choices.reach([state], ['anywhere']);
      reached.set(state, states);
    }
    return states;
  };
  return explore(
    alphabet,
    { states: choices.reach([start], ['anywhere', 'start']), isStart: true },
    ({ states, isStart }) => (isStart ? 'start' : states.join()),
    ({ states, isStart }) => ({
      accepts: choices
        .reach(states, isStart ? ['anywhere', 'start', 'end'] : ['anywhere', 'end'])
        .includes(end),
      next: (kind) => {
        const targets = new Set<number>();
        for (const state of states) {
          for (const to of readers[state]![kind]!) {
            const reached = reach(to);
            choices.spend(reached.length + 1);
            for (const next of reached) targets.add(next);
          }
        }
        choices.spend(states.length);
        return targets.size === 0 ? null : { states: [...targets].sort((a, b) => a - b), isStart: false };
      },
    }),
  );
}
