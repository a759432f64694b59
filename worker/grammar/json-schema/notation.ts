/** How values are spelled: as JSON, or in what a family writes instead of it. */
import { isBareKey } from '../../../src/parser/delimited-arguments.ts';
import { classRules } from '../automaton-rules.ts';
import type { EbnfGrammar } from '../ebnf.ts';
import type { LanguagePart, LanguageSpec, StringEscapes } from '../guard/spec.ts';
import { type Language, languageOf } from '../language/language.ts';
import { escapeRegex } from '../language/regex.ts';
import { schemaError } from './schema.ts';

/** A class of keys, and the expression of what stands behind the colon of such a key. */
export interface KeyClass {
  language: LanguageSpec;
  rest: string;
}

/** How the members of an object stand. Parts of it are expressions. */
export interface MemberNotation {
  readonly open: string;
  readonly close: string;
  /** What keys that are not declared must be besides; empty: they may be anything. */
  readonly others: readonly LanguagePart[];
  /**
   * A member with a declared key.
   *
   * @throws BadRequestError for a key that can't be written
   */
  pair(key: string, value: string): string;
  /** A member with any key that is none of `declared`; without a language any string is one. */
  otherPair(language: LanguageSpec, declared: readonly string[], value: string): string;
  /** A member with a key of one of the classes: no key is in two of them. */
  choice(classes: readonly KeyClass[]): string;
}

/** Makes the rules of one spelling of values. The shape of lists and the spelling of numbers are those of JSON. */
export interface Notation {
  /** Tells its rules from those of others. */
  readonly name: string;
  /** What strings must be besides; empty: they may be anything. */
  readonly texts: readonly LanguagePart[];
  /** Between two items or members. */
  readonly comma: string;
  readonly members: MemberNotation;
  constant(value: boolean | null): string;
  /** Any string. */
  string(): string;
  /** A string of a language, followed by a guard while it is written. */
  guarded(language: LanguageSpec): string;
  /** A string that is one of these. */
  words(words: readonly string[]): string;
}

interface QuotedOptions {
  name: string;
  constants: readonly [no: string, yes: string, nothing: string];
  /** What may stand around a string. Keys that are not declared stand in the first. */
  quotes: readonly ('"' | "'")[];
  /** Behind a backslash, as an expression. */
  escaped: string;
  /** Texts that mean something else where values stand: strings spell a character of each as an escape. */
  avoid?: readonly string[];
  /** Whose escapes a guard reads. */
  reads?: StringEscapes;
}

/** Strings between quotes, with escapes; at most one space behind each comma and colon. */
class QuotedNotation implements Notation, MemberNotation {
  readonly name: string;
  readonly comma: string;
  readonly open = '"{"';
  readonly close = '"}"';
  readonly others = [];
  readonly texts = [];
  readonly #colon: string;
  readonly #grammar: EbnfGrammar;
  readonly #options: QuotedOptions;
  readonly #avoid: readonly string[];
  readonly #reads: { escapes?: StringEscapes; avoid?: readonly string[] };

  constructor(grammar: EbnfGrammar, options: QuotedOptions) {
    this.#grammar = grammar;
    this.#options = options;
    this.#avoid = options.avoid ?? [];
    const isPlain = this.#avoid.length === 0;
    this.#reads = {
      ...(options.reads && { escapes: options.reads }),
      ...(!isPlain && { avoid: this.#avoid }),
    };
    this.name = isPlain ? options.name : `${options.name}_in_markup`;
    // As rules of their own they are compiled once, which halves the time that many tools take.
    this.comma = grammar.rule('comma', '"," " "?');
    this.#colon = grammar.rule('colon', '":" " "?');
  }

  get members(): MemberNotation {
    return this;
  }

  constant(value: boolean | null): string {
    return `"${this.#options.constants[value === null ? 2 : Number(value)]}"`;
  }

  string(): string {
    if (this.#avoid.length > 0) return this.guarded([[]]);
    const { plain } = this.#grammar;
    const whole = this.#options.quotes.map((quote) => `${literalOf(quote)} ${plain} ${this.#body(quote)}`);
    return this.#grammar.rule('string', whole.join(' | '));
  }

  guarded(language: LanguageSpec): string {
    const whole = this.#options.quotes.map((quote) => {
      const guard = this.#grammar.guard({
        kind: 'string',
        language,
        ...this.#reads,
        ...(quote === "'" && { quote }),
      });
      return `${literalOf(quote)} ${guard} ${this.#body(quote)}`;
    });
    return this.#grammar.rule('text', whole.join(' | '));
  }

  words(words: readonly string[]): string {
    // By their quotes: those that begin alike stand beside each other.
    return this.#options.quotes.map((quote) => this.#spell(words, quote)).join(' | ');
  }

  pair(key: string, value: string): string {
    const { plain } = this.#grammar;
    return this.#options.quotes
      .map((quote) => `${this.#spell([key], quote)} ${plain} ${this.#colon} ${value}`)
      .join(' | ');
  }

  otherPair(language: LanguageSpec, declared: readonly string[], value: string): string {
    if (this.#avoid.length > 0 && language.length === 0) {
      return this.otherPair([declared.length > 0 ? [{ not: declared }] : []], declared, value);
    }
    const { plain } = this.#grammar;
    if (language.length === 0 && declared.length > 0) {
      const end = this.#grammar.guard({ kind: 'other-key', declared });
      return `"\\"" ${plain} ${this.#keyBody()} ${end} ${this.#colon} ${value}`;
    }
    const guard = () => this.#grammar.guard({ kind: 'string', language, ...this.#reads });
    const key = language.length > 0 ? `"\\"" ${guard()} ${this.#body('"')}` : this.string();
    return `${key} ${plain} ${this.#colon} ${value}`;
  }

  /** A guard reads the key and tells its class. */
  choice(classes: readonly KeyClass[]): string {
    const guard = this.#grammar.guard({
      kind: 'key',
      classes: classes.map(({ language }) => language),
      ...this.#reads,
    });
    const branches = classes.map(
      ({ rest }, index) => `${this.#grammar.guard({ kind: 'class', index })} ${this.#colon} ${rest}`,
    );
    return `"\\"" ${guard} ${this.#body('"')} (${branches.join(' | ')})`;
  }

  /** The words between one kind of quotes. */
  #spell(words: readonly string[], quote: string): string {
    const bodies = words.map((word) => {
      let body = JSON.stringify(word).slice(1, -1);
      if (quote === "'") body = body.replaceAll('\\"', '"').replaceAll("'", "\\'");
      for (const mark of this.#avoid)
        body = body.replaceAll(mark, () => unicodeEscape(mark[0]!) + mark.slice(1));
      return body + quote;
    });
    const { plain } = this.#grammar;
    if (plain === '') return bodies.map((body) => this.#grammar.literal(quote + body)).join(' | ');
    return `${literalOf(quote)} ${plain} (${bodies.map((body) => this.#grammar.literal(body)).join(' | ')})`;
  }

  /** The rest of a string behind its opening quote. */
  #body(quote: string): string {
    const name = `string_body_${this.#options.name}${quote === '"' ? '' : '_single'}`;
    if (this.#grammar.has(name)) return name;
    const escaped = this.#grammar.rule('escaped', this.#options.escaped);
    const end = literalOf(quote);
    this.#grammar.define(name, `${end} | ${this.#character(quote)} ${name} | "\\\\" ${escaped} ${name}`);
    return name;
  }

  /** The rest of a key behind its opening quote, without escapes; it tells by a question that it is being written. */
  #keyBody(): string {
    const name = `key_body_${this.#options.name}`;
    if (!this.#grammar.has(name)) {
      this.#grammar.define(name, `"\\"" | ${this.#grammar.question} | ${this.#character('"')} ${name}`);
    }
    return name;
  }

  #character(quote: string): string {
    return `[^${quote}\\\\\\u0000-\\u001f]`;
  }
}

const HEX = '[0-9a-fA-F]';
const NO_SURROGATE = `[0-9a-ce-fA-CE-F] ${HEX} ${HEX} ${HEX} | [dD] [0-7] ${HEX} ${HEX}`;
// A half of a pair of surrogates is no character.
const SURROGATES = `[dD] [89abAB] ${HEX} ${HEX} "\\\\u" [dD] [c-fC-F] ${HEX} ${HEX}`;

/** @param avoid texts that strings do not spell, but for an escape in them */
export const jsonNotation = (grammar: EbnfGrammar, avoid: readonly string[] = []): Notation =>
  new QuotedNotation(grammar, {
    name: 'json',
    constants: ['false', 'true', 'null'],
    quotes: ['"'],
    escaped: `["\\\\/bfnrt] | "u" (${NO_SURROGATE} | ${SURROGATES})`,
    avoid,
  });

/** Literals of Python; of the escapes those that JSON has too, and that of a single quote. */
export const pythonNotation = (grammar: EbnfGrammar): Notation =>
  new QuotedNotation(grammar, {
    name: 'python',
    constants: ['False', 'True', 'None'],
    quotes: ['"', "'"],
    escaped: `["'\\\\bfnrt] | "u" (${NO_SURROGATE})`,
    reads: 'python',
  });

interface BareOptions {
  open: string;
  /** Between a key and its value. */
  colon: string;
  close: string;
  /** What keys that are not declared look like, as a regular expression. */
  others: string;
  isBare(key: string): boolean;
  /**
   * The expression of a declared key that can't be bare.
   *
   * @throws BadRequestError where there is no other way
   */
  quote(key: string): string;
}

/** Keys without quotes. */
export class BareMembers implements MemberNotation {
  readonly open: string;
  readonly close: string;
  readonly others: readonly LanguagePart[];
  readonly #colon: string;
  readonly #grammar: EbnfGrammar;
  readonly #options: BareOptions;

  constructor(grammar: EbnfGrammar, options: BareOptions) {
    this.#grammar = grammar;
    this.#options = options;
    this.open = literalOf(options.open);
    this.close = literalOf(options.close);
    this.others = [{ pattern: options.others }];
    this.#colon = literalOf(options.colon);
  }

  pair(key: string, value: string): string {
    const { isBare, quote } = this.#options;
    return `${isBare(key) ? this.#grammar.literal(key) : quote(key)} ${this.#colon} ${value}`;
  }

  otherPair(language: LanguageSpec, _declared: readonly string[], value: string): string {
    return this.choice([{ language: language.length > 0 ? language : [this.others], rest: value }]);
  }

  choice(classes: readonly KeyClass[]): string {
    const quoted: string[] = [];
    const bare: { language: Language; rest: string }[] = [];
    const letters = new Set<string>();
    for (const { language, rest } of classes) {
      const words = language.flat().flatMap((part) => ('words' in part ? part.words : []));
      const [word] = words;
      if (word !== undefined && !this.#options.isBare(word)) quoted.push(this.pair(word, rest));
      else bare.push({ language: languageOf(language), rest: `${this.#colon} ${rest}` });
      for (const letter of words.join('')) letters.add(letter);
    }
    const keys = bare.length > 0 ? [classRules(this.#grammar, 'key', bare, letters)] : [];
    return this.#grammar.rule('keys', [...quoted, ...keys].join(' | '));
  }
}

const BARE_KEY = '^[A-Za-z_][A-Za-z0-9_.-]*$';

/**
 * Bare keys, and strings between delimiters as they are; no white space.
 *
 * @param path for errors
 */
export function delimitedNotation(grammar: EbnfGrammar, delimiter: string, path: string): Notation {
  const mark = grammar.markup(delimiter);
  const without: LanguagePart = { notPattern: escapeRegex(delimiter) };
  // As a token it can't come in text; but the parser knows it by its letters.
  const isToken = grammar.hasToken(delimiter);
  const guarded = (language: LanguageSpec) => {
    const guard = grammar.guard({ kind: 'text', language, closer: delimiter });
    return grammar.rule('text', `${mark} ${guard} ${grammar.textUntil(delimiter)}`);
  };
  const between = (text: string) => {
    if (!text.includes(delimiter)) return `${mark} ${grammar.plain} ${grammar.literal(text)} ${mark}`;
    throw schemaError(
      `${JSON.stringify(text)} contains ${JSON.stringify(delimiter)}, which ends a string in the format of this model.`,
      path,
      'schema_unsupported',
    );
  };
  return {
    name: `delimited_${Array.from(delimiter, (character) => character.charCodeAt(0)).join('_')}`,
    comma: '","',
    texts: [without],
    members: new BareMembers(grammar, {
      open: '{',
      colon: ':',
      close: '}',
      others: BARE_KEY,
      isBare: (key) => isBareKey(key, delimiter),
      quote: between,
    }),
    constant: (value) => literalOf(String(value)),
    string: () =>
      isToken
        ? guarded([[without]])
        : grammar.rule('string', `${mark} ${grammar.plain} ${grammar.textUntil(delimiter)}`),
    guarded,
    words: (words) => words.map(between).join(' | '),
  };
}

const literalOf = (text: string) => (text === '' ? '""' : `"${text.replace(/["\\]/g, '\\$&')}"`);

const unicodeEscape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
