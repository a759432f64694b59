/** Whether an expression matches somewhere in a text, in time that does not explode: JSON Schema's `pattern`. */
import { AutomatonTooLargeError } from './automaton.ts';
import { parseRegex, UnsupportedRegexError } from './regex.ts';
import { RegexSimulation } from './regex-automaton.ts';

/** Work that the searches of one schema may do together: about a second. */
export interface SearchBudget {
  left: number;
}

export const searchBudget = (): SearchBudget => ({ left: 20_000_000 });

/** An expression, ready to be searched for. */
interface Search {
  readonly states: number;
  /** @throws AutomatonTooLargeError when the budget is spent */
  test(text: string, budget: SearchBudget): boolean;
}

const searches = new Map<string, Search>();
/** States of what is kept. */
const KEPT = 200_000;
let keptStates = 0;

/**
 * @throws SyntaxError for an expression that is none, UnsupportedRegexError for one that could only be searched for
 * by trying all ways, AutomatonTooLargeError when it is too large, or the budget is spent
 */
export function matchesSomewhere(source: string, text: string, budget: SearchBudget): boolean {
  return searchOf(source).test(text, budget);
}

/** Why an expression can't be searched for; null if it can. */
export function searchProblem(source: string): string | null {
  try {
    searchOf(source);
    return null;
  } catch (error) {
    const isReason =
      error instanceof SyntaxError ||
      error instanceof UnsupportedRegexError ||
      error instanceof AutomatonTooLargeError;
    if (isReason) return error.message;
    throw error;
  }
}

function searchOf(source: string): Search {
  let search = searches.get(source);
  if (search) searches.delete(source);
  else {
    search = build(source);
    keptStates += search.states;
  }
  searches.set(source, search);
  for (const [oldest, { states }] of searches) {
    if (keptStates <= KEPT) break;
    searches.delete(oldest);
    keptStates -= states;
  }
  return search;
}

function build(source: string): Search {
  try {
    return new RegexSimulation(parseRegex(source));
  } catch (error) {
    if (!(error instanceof UnsupportedRegexError)) throw error;
    const search = conjunction(source) ?? native(source);
    if (search) return search;
    throw error;
  }
}

/**
 * Look-ahead at the very start says something about the whole text: `^(?=a)(?!b)c` matches where `^(?:a)` and `^(?:c)`
 * do and `^(?:b)` does not.
 */
function conjunction(source: string): Search | null {
  if (!source.startsWith('^(?=') && !source.startsWith('^(?!')) return null;
  const parts: { simulation: RegexSimulation; isNegated: boolean }[] = [];
  const add = (part: string, isNegated: boolean) => {
    // An alternative beside the start is not behind it.
    parts.push({ simulation: new RegexSimulation(parseRegex(`^(?:${part})`)), isNegated });
  };
  let at = 1;
  try {
    while (source.startsWith('(?=', at) || source.startsWith('(?!', at)) {
      const end = groupEnd(source, at);
      add(source.slice(at + 3, end), source[at + 2] === '!');
      at = end + 1;
    }
    const rest = source.slice(at);
    if (hasOuterChoice(rest)) return null;
    add(rest, false);
  } catch (error) {
    if (error instanceof UnsupportedRegexError || error instanceof SyntaxError) return null;
    throw error;
  }
  return {
    states: parts.reduce((sum, { simulation }) => sum + simulation.states, 0),
    test: (text, budget) =>
      parts.every(({ simulation, isNegated }) => simulation.test(text, budget) !== isNegated),
  };
}

const PIECES = /\\[\s\S]|\[(?:[^\]\\]|\\[\s\S])*\]|[\s\S]/g;

/** Offset of the parenthesis that closes the group that begins here. */
function groupEnd(source: string, start: number): number {
  let depth = 0;
  for (const { 0: piece, index } of source.slice(start).matchAll(PIECES)) {
    if (piece === '(') depth++;
    else if (piece === ')' && --depth === 0) return start + index;
  }
  return source.length;
}

function hasOuterChoice(source: string): boolean {
  let depth = 0;
  for (const [piece] of source.matchAll(PIECES)) {
    if (piece === '(') depth++;
    else if (piece === ')') depth--;
    else if (piece === '|' && depth === 0) return true;
  }
  return false;
}

/** Characters that a native expression is tried on. */
const LONGEST_NATIVE = 4000;
/** Places in a native expression where one of two ways is taken: each doubles the time. */
const MOST_CHOICES = 8;

/**
 * What no automaton can decide, but backtracking does quickly enough: no reference to a group, at most one repetition,
 * and that of a single character, and few alternatives.
 */
function native(source: string): Search | null {
  const pieces = Array.from(source.matchAll(PIECES), ([piece]) => piece);
  let repetitions = 0;
  let choices = 0;
  for (const [index, piece] of pieces.entries()) {
    const before = pieces[index - 1] ?? '';
    if (/^\\[1-9k]/.test(piece)) return null;
    if (piece === '|' || (piece === '?' && !/^[(*+?}]$/.test(before))) choices++;
    if (!/^[*+{]$/.test(piece)) continue;
    if (before === ')') return null;
    repetitions++;
  }
  if (repetitions > 1 || choices > MOST_CHOICES) return null;
  const expression = new RegExp(source, 'u');
  return {
    states: pieces.length,
    test: (text, budget) => {
      budget.left -= text.length ** (1 + repetitions) * 2 ** choices;
      if (text.length > LONGEST_NATIVE || budget.left < 0) throw new AutomatonTooLargeError();
      return expression.test(text);
    },
  };
}
