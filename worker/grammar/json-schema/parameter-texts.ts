/** Values that stand in parameters as their texts. */

import type { EbnfGrammar } from '../ebnf.ts';
import type { LanguagePart } from '../guard/spec.ts';
import { escapeRegex } from '../language/regex.ts';
import type { ParameterStyle } from './parameter-style.ts';
import { schemaError } from './schema.ts';
import { canFollow } from './strings.ts';
import { type ValueRules, wordsOf } from './value-rules.ts';

export class ParameterTexts {
  readonly #rules: ValueRules;
  readonly #grammar: EbnfGrammar;
  readonly #style: ParameterStyle;
  readonly #closer: string;

  /** @param closer that of a parameter without the white space around it */
  constructor(rules: ValueRules, style: ParameterStyle, closer: string) {
    this.#rules = rules;
    this.#grammar = rules.grammar;
    this.#style = style;
    this.#closer = closer;
  }

  /** Text of one of the languages, with the closer. */
  text(strings: readonly LanguagePart[][], keys: readonly string[]): string {
    const words = wordsOf(strings);
    if (words) return this.words(words, keys);
    const { close, verbatim, trimsLineBreaks } = this.#style;
    const start = close.indexOf(this.#closer);
    const after = close.slice(start + this.#closer.length);
    const tail = after === '' ? '' : ` ${this.#grammar.markup(after)}`;
    const isAny = strings.some((parts) => parts.length === 0);
    const isToken = this.#grammar.hasToken(this.#closer);
    const marks = [...this.marks(keys), ...(isToken ? [] : [this.#closer])];
    const avoided = marks.filter((text) => !marks.some((other) => other !== text && text.includes(other)));
    if (isAny && avoided.every((text) => text === this.#closer) && !trimsLineBreaks)
      return `${this.#grammar.plain} ${this.#grammar.textUntil(this.#closer)}${tail}`;
    // White space before the closer is the text's own, where it can't be told apart.
    const closer = isAny || isToken ? this.#closer : close.slice(0, start) + this.#closer;
    const patterns = [...avoided.map(escapeRegex), ...(trimsLineBreaks ? ['^\\n', '\\n$'] : [])];
    const without: LanguagePart[] = patterns.map((notPattern) => ({ notPattern }));
    let language = isAny ? [without] : strings.map((parts) => [...parts, ...without]);
    if (isAny && verbatim) {
      language.push([...this.#verbatim(verbatim), { notPattern: escapeRegex(this.#closer) }]);
    }
    if (!canFollow(language)) {
      // What a text is can be checked afterwards; where it ends must be certain.
      this.#rules.report({ keyword: 'type', path: this.#rules.options.path });
      language = [without];
    }
    const guard = this.#grammar.guard({ kind: 'text', language, closer });
    return `${guard} ${this.#grammar.textUntil(closer)}${tail}`;
  }

  /** One of some texts, with the closer. */
  words(words: readonly string[], keys: readonly string[]): string {
    const texts = words.map((word) => this.#grammar.literal(this.#written(word, keys)));
    return `${this.#grammar.plain} ${this.#grammar.rule('words', texts.join(' | '))} ${this.#grammar.markup(this.#style.close)}`;
  }

  /** A text that is known, as it stands there. */
  #written(word: string, keys: readonly string[]): string {
    const { verbatim, trimsLineBreaks } = this.#style;
    const marks = this.marks(keys);
    const wrong =
      trimsLineBreaks && /^\n|\n$/.test(word)
        ? '\n'
        : [...marks, this.#closer].find((text) => word.includes(text));
    if (wrong === undefined) return word;
    if (verbatim && wrong !== '\n' && !word.includes(verbatim.end))
      return verbatim.start + word + verbatim.end;
    throw schemaError(
      `The value ${JSON.stringify(word)} can't be written in the format of this model, where ${JSON.stringify(wrong)} means something else.`,
      this.#rules.options.path,
      'schema_unsupported',
    );
  }

  /** Texts besides the closer that no text holds. What is an added token is no marker in ordinary ones. */
  marks(keys: readonly string[]): string[] {
    const marks = this.#style.avoid?.(keys) ?? [];
    return marks.filter((text) => this.#style.elements || !this.#grammar.hasToken(text));
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
