import type { LanguagePart, LanguageSpec } from '../guard/spec.ts';
import {
  type Automaton,
  DEAD,
  difference,
  either,
  intersection,
  lengthAutomaton,
  wordsAutomaton,
} from './automaton.ts';
import { formatSource } from './formats.ts';
import { parseRegex } from './regex.ts';
import { regexAutomaton } from './regex-automaton.ts';

/** A set of texts that can be followed character by character. States are numbers; from each the end can be reached. */
export interface Language {
  /** The state before the first character; `DEAD` if there is no such text. */
  readonly start: number;
  step(state: number, codePoint: number): number;
  accepts(state: number): boolean;
  /** Whether some code point from `low` to `high` leads on. */
  admits(state: number, low: number, high: number): boolean;
  /** Where all characters are alike: how many may still come. */
  room?(state: number): number;
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

  key(length: number, reach: number): number {
    const lacking = Math.min(Math.max(0, this.#min - length), reach);
    const left = Math.min(this.#max - length, reach);
    return lacking * (reach + 1) + left;
  }
}

const languages = new Map<string, Language>();
const KEPT = 200;

/**
 * The language of a specification; kept for the next time.
 *
 * @throws SyntaxError for a pattern that is none, UnsupportedRegexError or AutomatonTooLargeError for what can't be
 * followed while it is written
 */
export function languageOf(spec: LanguageSpec): Language {
  const key = JSON.stringify(spec);
  let language = languages.get(key);
  if (language) languages.delete(key);
  else language = build(spec);
  languages.set(key, language);
  if (languages.size > KEPT) languages.delete(languages.keys().next().value!);
  return language;
}

function build(spec: LanguageSpec): Language {
  const [only] = spec;
  if (spec.length === 1 && only!.every((part) => 'min' in part)) {
    const bounds = only!.filter((part) => 'min' in part);
    return new LengthLanguage(
      Math.max(0, ...bounds.map(({ min }) => min)),
      Math.min(Number.POSITIVE_INFINITY, ...bounds.map(({ max }) => max ?? Number.POSITIVE_INFINITY)),
    );
  }
  return new AutomatonLanguage(spec.map(alternative).reduce(either));
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
  if ('pattern' in part) return regexAutomaton(parseRegex(part.pattern));
  if ('words' in part) return wordsAutomaton(part.words);
  if ('min' in part) return lengthAutomaton(part.min, part.max ?? Number.POSITIVE_INFINITY);
  const source = formatSource(part.format);
  if (source === null || source === 'check') throw new Error(`The format ${part.format} has no expression.`);
  return regexAutomaton(parseRegex(source));
}
