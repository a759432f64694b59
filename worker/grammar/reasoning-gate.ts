import { spellings } from '../../src/parser/format.ts';
import {
  createParser,
  heldFormat,
  type MessageFormat,
  type Parser,
  type TokenReader,
} from '../../src/parser/index.ts';

export interface ReasoningGateOptions {
  format: MessageFormat;
  vocabulary: TokenReader;
  promptTokenIds: ArrayLike<number>;
  templateArguments: Readonly<Record<string, unknown>>;
  /** The prompt ends inside a text of this kind. */
  continues?: 'reasoning' | 'content' | null;
}

export const BACKTICK = '`';

/** No end marker is longer. */
const TAIL = 64;

/**
 * Says when reasoning has ended and a grammar begins: the page's own parser, run over the same tokens, so that both
 * sides go by the same format file. In formats with channels reasoning is part of the grammar, and the gate is open
 * from the first token.
 */
export class ReasoningGate {
  readonly #parser: Parser | null;
  readonly #endIds: ReadonlySet<number>;
  /** End markers that are spelled out here, and may be quoted. */
  readonly #spelledEnds: readonly string[];
  #tail = '';
  readonly #vocabulary: TokenReader;
  #isOpen: boolean;
  #isUndecided = false;

  constructor({ format, vocabulary, promptTokenIds, templateArguments, continues }: ReasoningGateOptions) {
    const { reasoning } = format;
    this.#vocabulary = vocabulary;
    this.#parser = reasoning
      ? createParser({
          format: heldFormat(format, { calls: false, content: false }),
          vocabulary,
          templateArguments,
          prompt: { ids: promptTokenIds },
          continues,
        })
      : null;
    this.#isOpen = !this.#parser?.inReasoning;
    const end = reasoning?.terminals[reasoning.end];
    const ends = end ? spellings(end) : [];
    this.#endIds = new Set(ends.flatMap((text) => vocabulary.idOf(text) ?? []));
    const canBeQuoted = end !== undefined && end.token !== 'never';
    this.#spelledEnds = canBeQuoted ? ends.filter((text) => vocabulary.idOf(text) === undefined) : [];
  }

  /** The grammar is at work; once open it stays so. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * The end marker came behind a backtick. If the next token begins with another one, the marker was quoted and the
   * model thinks on; if not, the gate is open, and that token is of the answer.
   */
  get isUndecided(): boolean {
    return this.#isUndecided;
  }

  /** The last characters of the reasoning. */
  get tail(): string {
    return this.#tail;
  }

  get reasoningTokens(): number {
    return this.#parser?.reasoningTokens ?? 0;
  }

  /** Takes a token of the answer. */
  accept(id: number): void {
    if (this.#isOpen || !this.#parser) return;
    this.#parser.feed({ ids: [id] });
    // The parser may need more tokens for the character that tells; the first one tells whether it is a backtick.
    const isQuoted = this.#isUndecided && this.#vocabulary.text(id).startsWith(BACKTICK);
    this.#isOpen = !this.#parser.inReasoning || (this.#isUndecided && !isQuoted);
    this.#tail = (this.#tail + this.#vocabulary.text(id)).slice(-TAIL);
    const hasEnded =
      this.#endIds.has(id) || this.#spelledEnds.some((text) => this.#tail.endsWith(BACKTICK + text));
    this.#isUndecided = !this.#isOpen && hasEnded;
  }
}
