/** Keys of parameters: those that a family can write, and what they are where the model chooses them. */
import type { EbnfGrammar } from '../ebnf.ts';
import type { LanguagePart, LanguageSpec } from '../guard/spec.ts';
import { escapeRegex } from '../language/regex.ts';
import { TOKEN_END } from '../signs.ts';
import type { ParameterStyle } from './parameter-style.ts';
import { schemaError } from './schema.ts';

/** A key that is declared, or what one is that the model chooses, behind its first character where that is given. */
export type Key = string | { start?: string; language: LanguageSpec };

/** UTF-16 units of the longest key: the parser reads 256, and some families write more in the same place. */
const LONGEST = 240;
/** Code points of the longest key that the model chooses. */
const LONGEST_CHOSEN = LONGEST / 2;
/** Stands for a key. */
export const ANY_KEY = 'anykey';
/** The visible characters of ASCII. */
const VISIBLE = Array.from({ length: 0x7e - 0x20 }, (_, index) => String.fromCharCode(0x21 + index));

export class ParameterKeys {
  readonly #ends: readonly string[];
  readonly #style: ParameterStyle;
  readonly #tags: readonly { before: string; after: string }[];
  /** Characters that are escaped in a key, and how. */
  readonly #escapes: ReadonlyMap<string, string>;
  /** Tags that mean something else. */
  readonly #marks: readonly string[];

  constructor(grammar: EbnfGrammar, style: ParameterStyle) {
    const [before, after] = style.open(ANY_KEY, 'text').split(ANY_KEY) as [string, string];
    const { close, elements } = style;
    this.#style = style;
    const spelled = VISIBLE.map((character) => [character, this.#written(character)] as const);
    this.#escapes = new Map(spelled.filter(([character, spelling]) => character !== spelling));
    this.#tags = [{ before, after }, ...(elements ? [{ before: close, after: elements.closeEnd }] : [])];
    this.#marks = elements ? [close, ...(style.avoid?.() ?? [])] : [];
    // What is an added token ends nothing in ordinary ones.
    this.#ends = style.keyEnds.filter((text) => !grammar.hasToken(text));
  }

  /** What ends a key, of the text that stands behind it. */
  endIn(after: string): string {
    const found = this.#style.keyEnds.filter((end) => after.startsWith(end));
    return found.reduce((longest, end) => (end.length > longest.length ? end : longest), after[0]!);
  }

  /** An element has a name. */
  get #shortest(): number {
    return this.#style.elements ? 1 : 0;
  }

  /** @throws BadRequestError with this place for a key that would not be read as it is */
  check(key: string, place: string): void {
    if (this.#isRead(key)) return;
    const ends = this.#ends.map((end) => JSON.stringify(end)).join(', ');
    throw schemaError(
      `The property ${JSON.stringify(key)} can't be written in the calls of this model: a name there has at most ${LONGEST} characters, no white space at its ends${ends && `, nothing of ${ends}`}, and makes no tag that means something else.`,
      place,
      'schema_unsupported',
    );
  }

  #isRead(key: string): boolean {
    if (key !== key.trim() || key.length < this.#shortest) return false;
    if (this.#written(key).length > LONGEST) return false;
    if (/\p{Surrogate}/u.test(key) || Array.from(key).some((character) => character <= TOKEN_END))
      return false;
    return this.#tags.every(({ before, after }) => {
      const written = this.#written(key);
      const tag = written + after;
      const isWhole = !this.#ends.some((end) => {
        const at = tag.indexOf(end);
        return at >= 0 && at < written.length;
      });
      return isWhole && !this.#restsOf(before).some((rest) => tag.startsWith(rest));
    });
  }

  /** A key as it stands in its tag. */
  #written(key: string): string {
    return this.#style.escapeKey?.(key) ?? key;
  }

  /** What a key without escapes is that the model chooses. */
  get chosen(): LanguagePart[] {
    const plain = Array.from(this.#escapes.keys(), (character) => ({ notPattern: escapeRegex(character) }));
    return [...this.#whole(this.#tags[0]!), ...plain];
  }

  /** What a key that the model chooses may be at the closer of its element, which need not be the same. */
  get closing(): LanguagePart[] {
    return this.#whole(this.#tags[1]!);
  }

  /** Any key but these. Where its first character tells that it is none, a token may end with that. */
  others(words: readonly string[]): Key[] {
    const tag = this.#tags[0]!;
    const held = [...words, ...this.#ends, ...this.#escapes.keys(), ...this.#restsOf(tag.before)];
    const firsts = new Set(held.map((text) => text[0]));
    const telling = VISIBLE.filter((character) => !firsts.has(character))
      .map(classEscape)
      .join('');
    const escapes = Array.from(this.#escapes, ([character, spelling]) => [classEscape(character), spelling]);
    const plain = `[^${escapes.map(([character]) => character).join('')}]`;
    const spelled = [plain, ...escapes.map(([, spelling]) => spelling)].join('|');
    const isSpelled = escapes.length > 0 ? [{ pattern: `^(?:${spelled})*$` }] : [];
    const written = words.map((word) => this.#written(word));
    const whole = [{ pattern: `^(?:$|[^${telling}])` }, ...this.#whole(tag), ...isSpelled, { not: written }];
    const rest = [{ min: 0, max: LONGEST_CHOSEN - 1 }, ...this.#inside(tag.after), ...isSpelled];
    return [{ start: `[${telling}]`, language: [rest] }, { language: [whole] }];
  }

  /** What a key is in a tag, from its first character on. */
  #whole({ before, after }: { before: string; after: string }): LanguagePart[] {
    const mistaken = this.#restsOf(before).flatMap((rest) => [
      `^${escapeRegex(rest)}`,
      ...beginningsOf(rest, after).map((beginning) => `^${escapeRegex(beginning)}$`),
    ]);
    return [
      { min: this.#shortest, max: LONGEST_CHOSEN },
      ...['^\\s', ...mistaken].map((notPattern) => ({ notPattern })),
      ...this.#inside(after),
    ];
  }

  /** What is wrong in a key and at its end. */
  #inside(after: string): LanguagePart[] {
    const ends = this.#ends.flatMap((end) => [
      escapeRegex(end),
      ...beginningsOf(end, after).map((beginning) => `${escapeRegex(beginning)}$`),
    ]);
    return ['\\s$', ...ends].map((notPattern) => ({ notPattern }));
  }

  /** What stands behind a beginning of a tag where it means something else. */
  #restsOf(before: string): string[] {
    return this.#marks.flatMap((mark) =>
      mark.length > before.length && mark.startsWith(before) ? [mark.slice(before.length)] : [],
    );
  }
}

/** Beginnings of a text, neither empty nor whole, that are it with what stands behind them. */
function beginningsOf(text: string, behind: string): string[] {
  return Array.from({ length: text.length }, (_, length) => text.slice(0, length)).filter(
    (beginning) => beginning !== '' && behind.startsWith(text.slice(beginning.length)),
  );
}

/** A character of ASCII between brackets. */
const classEscape = (character: string) =>
  /\w/.test(character) ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A key that is none of these. */
export const freeKey = (keys: readonly string[], key = ANY_KEY): string =>
  keys.includes(key) ? freeKey(keys, `${key}_`) : key;
