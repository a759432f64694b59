import { BadRequestError } from '../../src/errors.ts';
import { ebnfPieces, MACRO_WORDS, writeRules } from './ebnf-source.ts';
import type { GuardSpec } from './guard/spec.ts';
import {
  GROUP_END,
  GROUP_START,
  PLAIN,
  PLAIN_QUESTION,
  SIGNAL,
  SIGNAL_LIMIT,
  signalText,
  TOKEN_END,
  TOKEN_START,
} from './signs.ts';
import { textWithMark } from './text-scan.ts';

/** A place in free text from which on the grammar decides. */
export interface Dispatch {
  /** The text, or the added token, that opens it. */
  opener: string;
  /** Rule or expression for what follows the opener. */
  body: string;
}

/** Prefix of the header lines that carry the guards of a grammar. */
export const GUARD_HEADER = '#guard ';
/** Prefix of the header line with the added tokens that a grammar spells. */
export const TOKENS_HEADER = '#tokens ';

/** More rules than this are not compiled within the time that a compile may take; making them takes time, too. */
const MOST_RULES = 5000;

/**
 * One grammar for one request, built rule by rule. Expressions are strings in the notation of xgrammar; names of
 * rules are expressions too.
 *
 * ```
 * const grammar = new EbnfGrammar(['<tool_call>', '</tool_call>']);
 * const call = grammar.rule('call', `${grammar.markup('<tool_call>')} "{}" ${grammar.markup('</tool_call>')}`);
 * const source = grammar.toString(call);
 * ```
 *
 * An added token of the model is never the same as its spelling: `markup` writes the token, `literal` the text.
 */
export class EbnfGrammar {
  readonly #rules = new Map<string, string>();
  readonly #names = new Map<string, string>();
  readonly #made = new Map<string, string>();
  readonly #tokens: ReadonlySet<string>;
  readonly #tokenStarts: ReadonlySet<string>;
  readonly #longestToken: number;
  /** Added tokens that some rule spells. */
  readonly #spelled = new Set<string>();
  readonly #guards: GuardSpec[] = [];
  readonly #guardNumbers = new Map<string, number>();
  #count = 0;
  #isShared = false;

  /** @param tokens texts of the added tokens of the model, as `markerTokens` lists them */
  constructor(tokens: Iterable<string> = []) {
    this.#tokens = new Set(tokens);
    this.#tokenStarts = new Set([...this.#tokens].map((text) => text[0]!));
    this.#longestToken = Math.max(0, ...[...this.#tokens].map((text) => text.length));
  }

  /** Whether a rule has this name. */
  has(name: string): boolean {
    return this.#rules.has(name);
  }

  /** Adds a rule, or finds the one with the same body. Returns its name. */
  rule(hint: string, body: string): string {
    const known = this.#names.get(body);
    if (known !== undefined) return known;
    const name = this.reserve(hint);
    this.define(name, body);
    return name;
  }

  /** An expression that is made only once. */
  once(key: string, make: () => string): string {
    let expression = this.#made.get(key);
    if (expression === undefined) {
      expression = make();
      this.#made.set(key, expression);
    }
    return expression;
  }

  /** A name whose rule is defined later, for rules that name themselves. */
  reserve(hint: string): string {
    const word = hint.replace(/[^A-Za-z0-9]+/g, '_').slice(0, 24);
    return `${/^[A-Za-z]/.test(word) ? word : `r${word}`}_${this.#count++}`;
  }

  /** @throws BadRequestError for more rules than can be compiled */
  define(name: string, body: string): void {
    if (this.#rules.size >= MOST_RULES) {
      throw new BadRequestError(`The grammar is too large. It has more than ${MOST_RULES} rules.`, {
        code: 'grammar_too_large',
      });
    }
    this.#rules.set(name, body);
    if (!this.#names.has(body)) this.#names.set(body, name);
  }

  /**
   * Text spelled in ordinary tokens.
   *
   * @throws BadRequestError for the characters U+0000 to U+0003 and halves of surrogate pairs, which no grammar here can
   * spell
   */
  literal(text: string): string {
    if (/\p{Surrogate}/u.test(text)) {
      throw new BadRequestError(
        `The text ${JSON.stringify(text)} has half of a surrogate pair, which no token spells.`,
        { code: 'grammar_unsupported' },
      );
    }
    if (Array.from(text).some((character) => character <= TOKEN_END)) {
      throw new BadRequestError(
        `The text ${JSON.stringify(text)} has a control character (U+0000 to U+0003) that a grammar can't spell.`,
        { code: 'grammar_unsupported' },
      );
    }
    return quote(text);
  }

  /** A format's own text: where it has the text of an added token, the token. */
  markup(text: string): string {
    let marked = '';
    for (let at = 0; at < text.length; ) {
      const token = this.#tokenAt(text, at);
      if (token !== null) this.#spelled.add(token);
      marked += token === null ? text[at]! : TOKEN_START + token + TOKEN_END;
      at += token?.length ?? 1;
    }
    return quote(marked);
  }

  /** Whether an added token is part of a format's own text. */
  hasToken(text: string): boolean {
    return Array.from({ length: text.length }).some((_, at) => this.#tokenAt(text, at) !== null);
  }

  /**
   * Any text, up to the end of the model's turn. An opener leaves it; once its body has ended, text goes on, or,
   * with `isOnce`, nothing follows. Added tokens other than the openers can't come.
   */
  freeText(dispatches: readonly Dispatch[], { isOnce = false } = {}): string {
    const [only] = dispatches;
    if (only && dispatches.length === 1 && !this.hasToken(only.opener) && !areFindable([only.opener])) {
      const rest = (again: string) => `(${only.body})${isOnce ? '' : ` ${again}`}`;
      return textWithMark(this, only.opener, rest, true);
    }
    return this.#tagDispatch(dispatches, `stop_eos=true, loop_after_dispatch=${!isOnce}`);
  }

  /** Any text up to and including the closer, in which added tokens may be. Other added tokens can't come. */
  textUntil(closer: string): string {
    // With a token in it, it can't be mistaken for text.
    // One rule for all: what may be any text takes longest to compile.
    if (this.hasToken(closer)) {
      return this.rule('until', `[^${escapeClass(`${SIGNAL}-${TOKEN_END}`)}]* ${this.markup(closer)}`);
    }
    if (!areFindable([closer])) {
      return this.once(`until ${closer}`, () => textWithMark(this, closer, () => '""', false));
    }
    return this.#tagDispatch([], `stop_eos=false, stop_str=(${this.literal(closer)})`, closer);
  }

  /** Whether what is made stands beside other things that may begin like it, with guards of their own. */
  get isShared(): boolean {
    return this.#isShared;
  }

  /**
   * Makes expressions that stand beside each other and begin alike: where they have guards of their own, so that all of
   * them can be followed as one when their texts have ended.
   */
  alike<Made>(make: () => Made[], expressionOf: (made: Made) => string): Made[] {
    const made = make();
    if (this.#isShared || !made.some((one) => this.#hasGuard(expressionOf(one)))) return made;
    this.#isShared = true;
    try {
      return make();
    } finally {
      this.#isShared = false;
    }
  }

  /** Whether a guard may be called from an expression; of rules that are not defined yet it is not known. */
  #hasGuard(expression: string): boolean {
    const seen = new Set<string>();
    const waiting = [expression];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      for (const { kind, text } of ebnfPieces(next)) {
        if (kind === 'string' && text.startsWith(SIGNAL_LITERAL)) return true;
        if (kind !== 'name' || seen.has(text) || MACRO_WORDS.has(text)) continue;
        seen.add(text);
        const body = this.#rules.get(text);
        if (body === undefined) return true;
        waiting.push(body);
      }
    }
    return false;
  }

  /**
   * Stands in front of what no guard follows, where a guard may be called beside it; else nothing. A token ends there in
   * any case: one that went on would choose what no guard follows.
   */
  get plain(): string {
    if (!this.#isShared) return '';
    return this.rule('plain', `${quote(PLAIN_QUESTION)} | ${this.#groupWith(quote(PLAIN))}`);
  }

  /** Groups that hold a signal. */
  #groupWith(signal: string): string {
    const any = this.rule('signals', `(${quote(SIGNAL)} ([0-9] [0-9] [0-9] | ${quote(PLAIN.slice(1))}))*`);
    return `${quote(GROUP_START)} ${any} ${signal} ${any} ${quote(GROUP_END)}`;
  }

  /** The expression of the signal by which the guard is called. */
  guard(spec: GuardSpec): string {
    const key = JSON.stringify(spec);
    let number = this.#guardNumbers.get(key);
    if (number === undefined) {
      number = this.#guards.length;
      if (number === SIGNAL_LIMIT) {
        throw new BadRequestError(
          `The schemas have more than ${SIGNAL_LIMIT} different patterns, formats, lengths and open objects.`,
          { code: 'grammar_too_large' },
        );
      }
      this.#guards.push(spec);
      this.#guardNumbers.set(key, number);
    }
    const signal = quote(signalText(number));
    return this.#isShared ? this.rule('guard', `${signal} | ${this.#groupWith(signal)}`) : signal;
  }

  /** The literal of what ends a text only to ask whether a signal could be taken behind it. */
  get question(): string {
    return quote(SIGNAL);
  }

  /** The whole grammar, without the rules that `root` does not reach. */
  toString(root: string): string {
    const guards = this.#guards.map((spec, number) => `${GUARD_HEADER}${number} ${JSON.stringify(spec)}`);
    const spelled = [...this.#spelled].sort();
    const tokens = spelled.length > 0 ? [`${TOKENS_HEADER}${JSON.stringify(spelled)}`] : [];
    const rules = writeRules(root, this.#rules);
    return `${[...guards, ...tokens, ...rules].join('\n')}\n`;
  }

  #tokenAt(text: string, at: number): string | null {
    if (!this.#tokenStarts.has(text[at]!)) return null;
    for (let length = Math.min(this.#longestToken, text.length - at); length > 0; length--) {
      const candidate = text.slice(at, at + length);
      if (this.#tokens.has(candidate)) return candidate;
    }
    return null;
  }

  #tagDispatch(dispatches: readonly Dispatch[], options: string, closer?: string): string {
    const never = this.rule('never', quote(SIGNAL + TOKEN_END + SIGNAL));
    const openers = new Map<string, string[]>();
    const tokens: string[] = [];
    for (const { opener, body } of dispatches) {
      const token = this.#tokenAt(opener, 0);
      if (token !== null) {
        this.#spelled.add(token);
        const rest = opener === token ? '' : `${this.markup(opener.slice(token.length))} `;
        tokens.push(`${quote(token + TOKEN_END)} ${rest}${body}`);
      } else if (this.hasToken(opener)) {
        throw new BadRequestError(
          `Text before ${JSON.stringify(opener)}, which opens a call in the format of this model, can't be held to a grammar: use tool_choice "required", or "auto" without strict tools.`,
          { param: 'tool_choice', code: 'unsupported_value' },
        );
      } else openers.set(opener, [...(openers.get(opener) ?? []), `(${body})`]);
    }
    const texts = [...openers.keys(), ...(closer === undefined ? [] : [closer])];
    if (!areFindable(texts)) throw new Error(`${JSON.stringify(texts)} can't be found reliably in text.`);
    const triggers = [
      `(${quote(SIGNAL)}, ${never})`,
      `(${quote(TOKEN_START)}, ${tokens.length > 0 ? this.rule('token', tokens.join(' | ')) : never})`,
      ...[...openers].map(
        ([opener, bodies]) => `(${quote(opener)}, ${this.rule('dispatch', bodies.join(' | '))})`,
      ),
    ];
    return this.rule('text', `TagDispatch(${triggers.join(', ')}, ${options})`);
  }
}

/**
 * xgrammar looks for triggers without going back: after `\n<` it does not find `<call>` if it waits for `\n<p>`.
 * Only texts whose first characters come nowhere else in them are always found.
 */
function areFindable(texts: readonly string[]): boolean {
  const firsts = new Set(texts.map((text) => text[0]!));
  return texts.every((text) => !Array.from(text.slice(1)).some((character) => firsts.has(character)));
}

const SHORT: Readonly<Record<string, string>> = {
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '"': '\\"',
  '\\': '\\\\',
};

function escapeCharacter(character: string): string {
  const short = SHORT[character];
  if (short !== undefined) return short;
  return character >= ' ' && character <= '~' ? character : hexEscape(character);
}

function hexEscape(character: string): string {
  const code = character.codePointAt(0)!;
  const hex = code.toString(16);
  return code > 0xffff ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
}

/** Text as it stands between the quotes of a literal. */
const escapeText = (text: string) => Array.from(text, escapeCharacter).join('');

const quote = (text: string) => `"${escapeText(text)}"`;

/** How the literal of a signal begins. */
const SIGNAL_LITERAL = quote(SIGNAL).slice(0, -1);

/** Characters and ranges (`a-z`) inside of brackets. */
export const escapeClass = (text: string) =>
  Array.from(text, (character) =>
    '[]^'.includes(character) ? hexEscape(character) : escapeCharacter(character),
  ).join('');
