import type { PreTrainedTokenizer } from '@huggingface/transformers';
import type { PromptSection } from './outputs.ts';

/**
 * Text from people is text: where a user, tool or system string spells an added token, the spelling is
 * encoded as ordinary tokens. Before rendering, every such spelling gets a private mark beside it; after
 * rendering, the marks say which of the spellings in the prompt are the template's own.
 *
 * ```
 * string     is <think> a tag?
 * marked     is m<think> a tag?                               m: one private character per spelling
 * rendered   <|im_start|>user\nis m<think> a tag?<|im_end|>
 *            ^^^^^^^^^^^^ token     ^^^^^^^ text   ^^^^^^^^^^ token
 * ```
 *
 * The mark stands before the spelling, at the very start of a string behind it, so that templates which ask
 * what a string contains, starts with or ends with get the same answer as without marks.
 *
 * A spelling can also come together only in the prompt, of a string and what the template puts beside it: the key
 * `|im_end|` between `<` and `>`. A string that is a piece of a spelling, or begins or ends with one, is broken by a
 * character inside of that piece; but for words that the template itself has, since it may compare with them.
 */
export class SpellingMarks {
  readonly #added: AddedTokens;
  readonly #before = new Map<string, string>();
  readonly #behind = new Map<string, string>();
  readonly #characters = new Set<string>();
  readonly #taken: string;
  readonly #source: string;
  #break: string | null = null;
  #nextCode = 0xe000;

  /**
   * @param source the template
   * @param taken everything that goes into it: a mark must occur in neither
   */
  constructor(added: AddedTokens, source: string, taken: string) {
    this.#added = added;
    this.#source = source;
    this.#taken = taken + source;
  }

  /** Whether any spelling has been marked. */
  get any(): boolean {
    return this.#characters.size > 0;
  }

  /** A copy of a JSON value with every spelling in its strings and keys marked. */
  mark<Value>(value: Value): Value {
    return mapTexts(value, (text) => this.#markText(text)) as Value;
  }

  /** The same, with pieces of spellings broken too: for what people write, where `mark` is for the application. */
  markPieces<Value>(value: Value): Value {
    return mapTexts(value, (text) => this.#markText(this.#broken(text))) as Value;
  }

  /** A text with the spellings of control tokens marked; other added tokens stay tokens. */
  markControls(text: string): string {
    return this.#markText(text, (section) => this.#added.isControl(section));
  }

  /** A private character that marks nothing but a place; `strip` takes it out too. */
  place(): string {
    const character = this.#unused();
    this.#characters.add(character);
    return character;
  }

  /** The text with a mark inside of the pieces of spellings at its ends, if it has any. */
  #broken(text: string): string {
    const { begins, ends } = this.#added.piecesOf(text);
    if ((!begins && !ends) || this.#isTemplateWord(text)) return text;
    this.#break ??= this.place();
    const characters = [...text];
    if (begins) characters.splice(1, 0, this.#break);
    if (ends) characters.splice(-1, 0, this.#break);
    return characters.join('');
  }

  /** Whether the template compares with this word, or reads what has it as its name. */
  #isTemplateWord(text: string): boolean {
    return /^\w+$/.test(text) && new RegExp(`(["'])${text}\\1|\\.${text}\\b`).test(this.#source);
  }

  #markText(text: string, isMarked = (section: string) => this.#added.protects(section)): string {
    return this.#added
      .split(text)
      .map((section, index) => {
        if (!isMarked(section)) return section;
        return index === 0
          ? section + this.#markOf(section, this.#behind)
          : this.#markOf(section, this.#before) + section;
      })
      .join('');
  }

  #markOf(spelling: string, marks: Map<string, string>): string {
    const known = marks.get(spelling);
    if (known !== undefined) return known;
    const character = this.#unused();
    marks.set(spelling, character);
    this.#characters.add(character);
    return character;
  }

  #unused(): string {
    let character = String.fromCharCode(this.#nextCode++);
    while (this.#taken.includes(character)) character = String.fromCharCode(this.#nextCode++);
    return character;
  }

  /** Splits a rendered prompt into the template's own added tokens and the text between them, without marks. */
  split(rendered: string): PromptSection[] {
    const sections: PromptSection[] = [];
    const parts = this.#added.split(rendered);
    let text = '';
    for (const [index, part] of parts.entries()) {
      const isMarked =
        this.#added.has(part) &&
        (isDefinedAnd(this.#before.get(part), (mark) => parts[index - 1]?.endsWith(mark) === true) ||
          isDefinedAnd(this.#behind.get(part), (mark) => parts[index + 1]?.startsWith(mark) === true));
      if (!this.#added.has(part) || isMarked) {
        text += part;
        continue;
      }
      if (text !== '') sections.push({ text: this.strip(text), isToken: false });
      sections.push({ text: part, isToken: true });
      text = '';
    }
    if (text !== '') sections.push({ text: this.strip(text), isToken: false });
    return sections;
  }

  /** The text without marks. */
  strip(text: string): string {
    if (!this.any) return text;
    let stripped = '';
    for (const character of text) if (!this.#characters.has(character)) stripped += character;
    return stripped;
  }
}

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [change(key), mapTexts(item, change)]),
    );
  }
  return value;
}

const isDefinedAnd = (mark: string | undefined, test: (mark: string) => boolean) =>
  mark !== undefined && test(mark);

/** UTF-16 units. Of one alone, such as a bracket at the end of a text, no template makes a spelling. */
const shortestPiece = 2;

/** The added tokens of a tokenizer, found in text as the tokenizer finds them: the longest at each place. */
export class AddedTokens {
  readonly ids = new Map<string, number>();
  readonly #controls = new Set<string>();
  /** Contents by their first character, the longest first. */
  readonly #byFirst = new Map<string, string[]>();
  readonly #beginnings = new Set<string>();
  readonly #endings = new Set<string>();
  #longest = 0;
  /** All that is protected, one spelling after another. */
  readonly #joined: string;

  constructor(tokenizer: PreTrainedTokenizer) {
    for (const [id, token] of tokenizer._tokenizer.get_added_tokens_decoder()) {
      if (token.content === '') continue;
      this.ids.set(token.content, id);
      if (token.special) this.#controls.add(token.content);
    }
    for (const content of [...this.ids.keys()].sort((a, b) => b.length - a.length)) {
      const others = this.#byFirst.get(content[0]!);
      if (others) others.push(content);
      else this.#byFirst.set(content[0]!, [content]);
    }
    const spellings = [...this.ids.keys()].filter((content) => this.protects(content));
    this.#joined = spellings.join('\0');
    for (const content of spellings) {
      this.#longest = Math.max(this.#longest, content.length);
      for (let length = shortestPiece; length < content.length; length++) {
        this.#beginnings.add(content.slice(0, length));
        this.#endings.add(content.slice(-length));
      }
    }
  }

  has(text: string): boolean {
    return this.ids.has(text);
  }

  /** A token that no text of an answer has, such as the end of a turn. */
  isControl(text: string): boolean {
    return this.#controls.has(text);
  }

  /** Runs of white space are added tokens of some vocabularies, but they are how text is written there. */
  protects(text: string): boolean {
    return this.has(text) && text.trim().length > 1;
  }

  /** Whether what stands before a text could make a spelling of its beginning, or what stands behind it of its end. */
  piecesOf(text: string): { begins: boolean; ends: boolean } {
    if (text.length < shortestPiece || this.has(text)) return { begins: false, ends: false };
    let begins = text.length < this.#longest && this.#joined.includes(text);
    let ends = false;
    for (let length = shortestPiece; length < Math.min(this.#longest, text.length + 1); length++) {
      begins ||= this.#endings.has(text.slice(0, length));
      ends ||= this.#beginnings.has(text.slice(-length));
    }
    return { begins, ends };
  }

  /** Added tokens and the text between them, in order; joined they are `text`. Empty parts are left out. */
  split(text: string): string[] {
    const parts: string[] = [];
    let start = 0;
    for (let at = 0; at < text.length; ) {
      const found = this.#byFirst.get(text[at]!)?.find((content) => text.startsWith(content, at));
      if (found === undefined) {
        at++;
        continue;
      }
      if (at > start) parts.push(text.slice(start, at));
      parts.push(found);
      at += found.length;
      start = at;
    }
    if (start < text.length) parts.push(text.slice(start));
    return parts;
  }
}
