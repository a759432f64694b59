import type { LanguagePart, LanguageSpec } from '../guard/spec.ts';
import { measured, spendAgain } from './allowance.ts';
import {
  type Automaton,
  DEAD,
  difference,
  either,
  intersection,
  lengthAutomaton,
  wordsAutomaton,
} from './automaton.ts';
import { scalars } from './code-points.ts';
import { formatSource } from './formats.ts';
import { LongLanguage } from './long-language.ts';
import { parseRegex } from './regex.ts';
import { regexAutomaton } from './regex-automaton.ts';
import { WordLanguage } from './word-language.ts';

/** A set of texts that can be followed character by character. States are numbers; from each the end can be reached. */
export interface Language {
  /** The state before the first character; `DEAD` if there is no such text. */
  readonly start: number;
  step(state: number, codePoint: number): number;
  accepts(state: number): boolean;
  /** Whether some code point from `low` to `high` leads on. */
  admits(state: number, low: number, high: number): boolean;
  /** Where the length has a bound: how many characters may still come. */
  room?(state: number): number;
  /**
   * What tells states with a bounded length apart, whatever their length; null where nothing does. With it,
   * `stepWithoutLength` is `step` as if there were no bound.
   */
  withoutLength?(state: number): number | null;
  stepWithoutLength?(state: number, codePoint: number): number;
  /** States with the same key are alike as far as texts of at most `reach` characters can tell. */
  key(state: number, reach: number): number;
}

class AutomatonLanguage implements Language {
  readonly start: number;
  readonly #automaton: Automaton;

  constructor(automaton: Automaton) {
    this.#automaton = automaton;
    this.start = automaton.isEmpty ? DEAD : 0;
  }

  step(state: number, codePoint: number): number {
    return this.#automaton.step(state, codePoint);
  }

  accepts(state: number): boolean {
    return this.#automaton.accepting[state] === 1;
  }

  admits(state: number, low: number, high: number): boolean {
    return this.#automaton.admits(state, low, high);
  }

  key(state: number): number {
    return state;
  }
}

/** Any text of so many code points: a state is a length, so no automaton has to be made. */
class LengthLanguage implements Language {
  readonly start: number;
  readonly #min: number;
  readonly #max: number;

  constructor(min: number, max: number) {
    this.#min = min;
    this.#max = max;
    this.start = min > max ? DEAD : 0;
  }

  step(length: number): number {
    return length < this.#max ? length + 1 : DEAD;
  }

  accepts(length: number): boolean {
    return length >= this.#min;
  }

  admits(length: number): boolean {
    return length < this.#max;
  }

  room(length: number): number {
    return this.#max - length;
  }

  withoutLength(): null {
    return null;
  }

  key(length: number, reach: number): number {
    const lacking = Math.min(Math.max(0, this.#min - length), reach);
    const left = Math.min(this.#max - length, reach);
    return lacking * (reach + 1) + left;
  }
}

/** So many code points, and nowhere in them what an automaton does not have: whatever comes, more may follow. */
class BoundedLanguage implements Language {
  readonly start: number;
  readonly #automaton: Automaton;
  readonly #lengths: LengthLanguage;
  /** Beyond, lengths are alike. */
  readonly #most: number;

  constructor(automaton: Automaton, min: number, max: number) {
    this.#automaton = automaton;
    this.#lengths = new LengthLanguage(min, max);
    this.#most = max === Number.POSITIVE_INFINITY ? min : max;
    this.start = this.#lengths.start === DEAD ? DEAD : 0;
  }

  step(state: number, codePoint: number): number {
    const length = this.#lengths.step(this.#lengthOf(state));
    const next = this.#automaton.step(state % this.#automaton.states, codePoint);
    if (length === DEAD || next === DEAD) return DEAD;
    return Math.min(length, this.#most) * this.#automaton.states + next;
  }

  accepts(state: number): boolean {
    return this.#lengths.accepts(this.#lengthOf(state));
  }

  admits(state: number, low: number, high: number): boolean {
    return (
      this.#lengths.admits(this.#lengthOf(state)) &&
      this.#automaton.admits(state % this.#automaton.states, low, high)
    );
  }

  key(state: number, reach: number): number {
    const { states } = this.#automaton;
    return this.#lengths.key(this.#lengthOf(state), reach) * states + (state % states);
  }

  room(state: number): number {
    return this.#lengths.room(this.#lengthOf(state));
  }

  withoutLength(state: number): number {
    return state % this.#automaton.states;
  }

  stepWithoutLength(state: number, codePoint: number): number {
    return this.#automaton.step(state % this.#automaton.states, codePoint);
  }

  #lengthOf(state: number): number {
    return Math.floor(state / this.#automaton.states);
  }
}

interface Kept {
  readonly made: Language;
  /** What making it cost. */
  readonly steps: number;
}

const languages = new Map<string, Kept>();
const KEPT = 200;

/**
 * The language of a specification; kept for the next time.
 *
 * @throws SyntaxError for a pattern that is none, UnsupportedRegexError or AutomatonTooLargeError for what can't be
 * followed while it is written, AllowanceSpentError
 */
export function languageOf(spec: LanguageSpec): Language {
  const key = JSON.stringify(spec);
  let kept = languages.get(key);
  if (kept) {
    spendAgain(key, kept.steps);
    languages.delete(key);
  } else {
    kept = measured(key, () => build(spec));
  }
  languages.set(key, kept);
  if (languages.size > KEPT) languages.delete(languages.keys().next().value!);
  return kept.made;
}

function build(spec: LanguageSpec): Language {
  const words = spec.map(wordsAmong);
  if (words.every((alternative) => alternative !== null)) return new WordLanguage(words.flat());
  const [only] = spec;
  if (spec.length === 1) {
    const bounds = only!.filter((part) => 'min' in part);
    const others = only!.filter((part) => !('min' in part));
    const min = Math.max(0, ...bounds.map((part) => part.min));
    const max = Math.min(...bounds.map((part) => part.max ?? Number.POSITIVE_INFINITY));
    if (others.length === 0) return new LengthLanguage(min, max);
    const mayBeEndless = bounds.length > 0 && others.every((part) => 'notPattern' in part);
    if (mayBeEndless || LongLanguage.isPossible(min, max)) {
      const automaton = alternative(others);
      if (mayBeEndless && isEndless(automaton)) return new BoundedLanguage(automaton, min, max);
      const long = LongLanguage.of(automaton, min, max);
      if (long) return long;
    }
  }
  return new AutomatonLanguage(spec.map(alternative).reduce(either));
}

/** The words that an alternative lists, those that its other parts allow; null if it lists none. */
function wordsAmong(parts: readonly LanguagePart[]): readonly string[] | null {
  const listed = parts.find((part) => 'words' in part);
  if (!listed) return null;
  const others = parts.filter((part) => part !== listed);
  if (others.length === 0) return listed.words;
  const rest = alternative(others);
  return listed.words.filter((word) => rest.test(word));
}

/** Whether a text may end anywhere, and go on anywhere. */
function isEndless({ states, accepting, next, classCount }: Automaton): boolean {
  return Array.from({ length: states }).every(
    (_, state) =>
      accepting[state] === 1 &&
      next.subarray(state * classCount, (state + 1) * classCount).some((to) => to !== DEAD),
  );
}

function alternative(parts: readonly LanguagePart[]): Automaton {
  // Small ones first: they keep the others small.
  const allowed = parts
    .filter((part): part is AllowedPart => !('not' in part) && !('notPattern' in part))
    .map(automatonOf)
    .sort((a, b) => a.states - b.states);
  const forbidden = parts.flatMap((part) => {
    if ('not' in part) return [wordsAutomaton(part.not)];
    return 'notPattern' in part ? [regexAutomaton(parseRegex(part.notPattern))] : [];
  });
  const whole =
    allowed.length > 0 ? allowed.reduce(intersection) : lengthAutomaton(0, Number.POSITIVE_INFINITY);
  return forbidden.reduce(difference, whole);
}

type AllowedPart = Exclude<LanguagePart, { not: readonly string[] } | { notPattern: string }>;

function automatonOf(part: AllowedPart): Automaton {
  if ('pattern' in part) return regexAutomaton(parseRegex(part.pattern), scalars);
  if ('words' in part) return wordsAutomaton(part.words);
  if ('min' in part) return lengthAutomaton(part.min, part.max ?? Number.POSITIVE_INFINITY);
  const source = formatSource(part.format);
  if (source === null || source === 'check') throw new Error(`The format ${part.format} has no expression.`);
  return regexAutomaton(parseRegex(source));
}
