/** Values that stand in parameters as their texts. */

import type { EbnfGrammar } from '../ebnf.ts';
import { isSatisfiable } from '../guard/guard.ts';
import type { LanguagePart } from '../guard/spec.ts';
import { escapeRegex } from '../language/regex.ts';
import type { PostCheck } from './alternatives.ts';
import type { ParameterStyle } from './parameter-style.ts';
import { schemaError } from './schema.ts';
import { canFollow } from './strings.ts';
import { wordsOf } from './value-rules.ts';

export class ParameterTexts {
  readonly #grammar: EbnfGrammar;
  readonly #style: ParameterStyle;
  /** That of a parameter without the white space around it. */
  readonly closer: string;
  /** Texts that no value holds as they are. What is an added token is no marker in ordinary ones. */
  readonly marks: readonly string[];
  /** Those that may only stand elsewhere than at the start of a line, and what they are there. */
  readonly #atLineStart: readonly { mark: string; pattern: string }[];

  constructor(grammar: EbnfGrammar, style: ParameterStyle) {
    this.#grammar = grammar;
    this.#style = style;
    this.closer = style.close.trim();
    const counts = (text: string) => style.elements !== undefined || !grammar.hasToken(text);
    const marks = [this.closer, ...(style.avoid?.() ?? [])].filter(counts);
    // Where one can't come, none that holds it can.
    this.marks = marks.filter((text) => !marks.some((other) => other !== text && text.includes(other)));
    const lineStart = style.open('a', 'text').endsWith('\n') ? '(?:^|\\n)' : '\\n';
    this.#atLineStart = (style.avoidAtLineStart ?? [])
      .filter(counts)
      .map((mark) => ({ mark, pattern: lineStart + escapeRegex(mark) }));
  }

  /**
   * Text of one of the languages, with the closer.
   *
   * @param place of the schema, for errors
   * @param report gets the keyword of a text that can only be checked afterwards
   */
  text(strings: readonly LanguagePart[][], place: string, report: (check: PostCheck) => void): string {
    const words = wordsOf(strings);
    if (words) return this.words(words, place);
    const { close, verbatim, trimsLineBreaks } = this.#style;
    const start = close.indexOf(this.closer);
    const after = close.slice(start + this.closer.length);
    const tail = after === '' ? '' : ` ${this.#grammar.markup(after)}`;
    const isAny = strings.some((parts) => parts.length === 0);
    const isToken = this.#grammar.hasToken(this.closer);
    const openers = this.#atLineStart;
    const isFree = openers.length === 0 && !trimsLineBreaks;
    if (isAny && this.marks.every((text) => text === this.closer) && isFree)
      return `${this.#grammar.plain} ${this.#grammar.textUntil(this.closer)}${tail}`;
    // White space before the closer is the text's own, where it can't be told apart.
    const closer = isAny || isToken ? this.closer : close.slice(0, start) + this.closer;
    const patterns = [
      ...this.marks.map(escapeRegex),
      ...openers.map(({ pattern }) => pattern),
      ...(trimsLineBreaks ? ['^\\n', '\\n$'] : []),
    ];
    const without: LanguagePart[] = patterns.map((notPattern) => ({ notPattern }));
    let language = isAny ? [without] : strings.map((parts) => [...parts, ...without]);
    if (isAny && verbatim) {
      language.push([...this.#verbatim(verbatim), { notPattern: escapeRegex(this.closer) }]);
    }
    if (canFollow(language)) {
      language = language.filter((parts) => isSatisfiable([parts]));
      if (language.length === 0) {
        throw schemaError(
          `No text that this asks for can be written in the format of this model: each holds what means something else there (${this.marks.map((mark) => JSON.stringify(mark)).join(', ')}).`,
          place,
          'schema_unsupported',
        );
      }
    } else {
      // What a text is can be checked afterwards; where it ends must be certain.
      report({ keyword: 'type', path: place });
      language = [without];
    }
    const guard = this.#grammar.guard({ kind: 'text', language, closer });
    return `${guard} ${this.#grammar.textUntil(closer)}${tail}`;
  }

  /** One of some texts, with the closer. */
  words(words: readonly string[], place: string): string {
    const texts = words.map((word) => this.#grammar.literal(this.#written(word, place)));
    const list = this.#grammar.rule('words', texts.join(' | '));
    return `${this.#grammar.plain} ${list} ${this.#grammar.markup(this.#style.close)}`;
  }

  /** A text that is known, as it stands there. */
  #written(word: string, place: string): string {
    const { verbatim, trimsLineBreaks } = this.#style;
    const opener = this.#atLineStart.find(({ pattern }) => new RegExp(pattern, 'u').test(word));
    const wrong =
      trimsLineBreaks && /^\n|\n$/.test(word)
        ? '\n'
        : (this.marks.find((text) => word.includes(text)) ?? opener?.mark);
    if (wrong === undefined) return word;
    if (verbatim && wrong !== '\n' && !word.includes(verbatim.end))
      return verbatim.start + word + verbatim.end;
    throw schemaError(
      `The value ${JSON.stringify(word)} can't be written in the format of this model, where ${JSON.stringify(wrong)} means something else.`,
      place,
      'schema_unsupported',
    );
  }

  /** What a text between verbatim marks is, the marks included. */
  #verbatim({ start, end }: { start: string; end: string }): LanguagePart[] {
    const inner = this.#style.trimsLineBreaks ? '(?:[^\\n](?:[\\s\\S]*[^\\n])?)?' : '[\\s\\S]*';
    return [
      { pattern: `^${escapeRegex(start)}${inner}${escapeRegex(end)}$` },
      { notPattern: `${escapeRegex(end)}[\\s\\S]` },
    ];
  }
}
