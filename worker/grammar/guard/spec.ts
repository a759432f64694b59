/** What a text must be, as data: the texts that all parts allow. */
export type LanguagePart =
  /** A regular expression that matches somewhere in the text. */
  | { pattern: string }
  /** One that matches nowhere in it. */
  | { notPattern: string }
  | { format: string }
  | { words: readonly string[] }
  | { not: readonly string[] }
  /** Code points; `max` is `null` without a bound. */
  | { min: number; max: number | null };

/** The texts of at least one alternative. */
export type LanguageSpec = readonly (readonly LanguagePart[])[];

/**
 * What an escape of four digits is: JSON's, if not said, a UTF-16 unit, so that two of them may be one character;
 * Python's a whole character.
 */
export type StringEscapes = 'python';

interface QuotedText {
  escapes?: StringEscapes;
  /** Texts that mean something else where the string stands: none comes in it as it is spelled. Escapes break them. */
  avoid?: readonly string[];
}

/**
 * A check that goes along with a text while it is written. The grammar calls it by a signal where the text begins.
 */
export type GuardSpec =
  /**
   * A string from behind its opening quote to its closing one; escapes are JSON's, and that of a single quote.
   * `quote` is a double one if not said.
   */
  | ({ kind: 'string'; language: LanguageSpec; quote?: "'" } & QuotedText)
  /** Text up to `closer`, which does not belong to it; `null`: up to the end of the model's turn. */
  | { kind: 'text'; language: LanguageSpec; closer: string | null }
  /** A key of an object whose keys are of several classes; behind its closing quote its class is told. */
  | ({ kind: 'key'; classes: readonly LanguageSpec[] } & QuotedText)
  /** Taken behind a key of class `index`: the first class that holds the key. */
  | { kind: 'class'; index: number }
  /**
   * Taken behind a key that is not one of `declared`. Only then it is known that it was such a key: before, the
   * grammar may have been reading a declared one.
   */
  | { kind: 'other-key'; declared: readonly string[] };

export type TextSpec = Extract<GuardSpec, { kind: 'string' | 'text' | 'key' }>;

/** Whether a guard follows a text, and does not only look at one that has ended. */
export const isTextSpec = (spec: GuardSpec): spec is TextSpec =>
  spec.kind === 'string' || spec.kind === 'text' || spec.kind === 'key';
