import { spellings } from '../../src/parser/format.ts';
import { createParser, type MessageFormat, type Parser, type TokenReader } from '../../src/parser/index.ts';

export interface ReasoningGateOptions {
  format: MessageFormat;
  vocabulary: TokenReader;
  promptTokenIds: ArrayLike<number>;
  templateArguments: Readonly<Record<string, unknown>>;
}

/**
 * Says when reasoning has ended and a grammar begins: the page's own parser, run over the same tokens, so that both
 * sides go by the same format file. In formats with channels reasoning is part of the grammar, and the gate is open
 * from the first token.
 */
export class ReasoningGate {
  readonly #parser: Parser | null;
  readonly #endIds: ReadonlySet<number>;
  #isOpen: boolean;

  constructor({ format, vocabulary, promptTokenIds, templateArguments }: ReasoningGateOptions) {
    const { reasoning } = format;
    this.#parser = reasoning
      ? createParser({
          format: { ...format, tools: null },
          vocabulary,
          templateArguments,
          prompt: { ids: promptTokenIds },
        })
      : null;
    this.#isOpen = !this.#parser?.inReasoning;
    const ends = reasoning ? spellings(reasoning.terminals[reasoning.end]!) : [];
    this.#endIds = new Set(ends.flatMap((text) => vocabulary.idOf(text) ?? []));
  }

  /** The grammar is at work; once open it stays so. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  get reasoningTokens(): number {
    return this.#parser?.reasoningTokens ?? 0;
  }

  /** Takes a token of the answer. */
  accept(id: number): void {
    if (this.#isOpen || !this.#parser) return;
    this.#parser.feed({ ids: [id] });
    // A quoted marker is told by the character after it; under a grammar that can't be a closing backtick.
    this.#isOpen = !this.#parser.inReasoning || this.#endIds.has(id);
  }
}
