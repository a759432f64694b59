import { spellings } from '../../src/parser/format.ts';
import { createParser, type MessageFormat, type Parser, type TokenReader } from '../../src/parser/index.ts';

export interface ReasoningBudgetOptions {
  /** As the page reads the answer. */
  format: MessageFormat;
  vocabulary: TokenReader;
  /** Ids in the vocabulary. */
  size: number;
  /** Values of a row of logits. */
  width: number;
  promptTokenIds: ArrayLike<number>;
  templateArguments: Readonly<Record<string, unknown>>;
  continues?: 'reasoning' | 'content' | null;
  /** Tokens of reasoning, all blocks of it together. */
  budget: number;
  /** Tokens of the marker that ends reasoning. */
  end: readonly number[];
  /** Text to ids, special tokens recognised. */
  encode(text: string): readonly number[];
}

/** How a block of reasoning begins: behind these tokens none of these may come. */
interface Opener {
  behind: readonly number[];
  withheld: readonly number[];
}

/**
 * Ends reasoning that comes after the first block, or on a channel, when the budget is spent, and lets no other block
 * begin. Reads the answer with the page's own parser.
 */
export class ReasoningBudget {
  readonly #options: ReasoningBudgetOptions;
  readonly #parser: Parser;
  readonly #openers: readonly Opener[];
  readonly #masks: (Uint32Array | null)[];
  /** The last tokens. */
  #tail: number[] = [];
  #ending: readonly number[] = [];

  constructor(options: ReasoningBudgetOptions) {
    const { format, vocabulary, templateArguments, promptTokenIds, continues } = options;
    this.#options = options;
    this.#parser = createParser({
      format,
      vocabulary,
      templateArguments,
      prompt: { ids: promptTokenIds },
      continues,
    });
    this.#openers = openersOf(options);
    this.#masks = this.#openers.map(() => null);
  }

  get isSpent(): boolean {
    return this.#parser.reasoningTokens >= this.#options.budget;
  }

  /** The token of the end marker that must come next, or null. */
  forced(): number | null {
    if (this.#ending.length === 0 && this.#parser.inReasoning && this.isSpent)
      this.#ending = this.#options.end;
    return this.#ending[0] ?? null;
  }

  /** Bit `id % 32` of word `id / 32` says whether a token may come next; null lets all of them. */
  mask(): Uint32Array | null {
    if (!this.isSpent || this.#parser.inReasoning) return null;
    const index = this.#openers.findIndex(({ behind }) =>
      behind.every((id, place) => this.#tail.at(place - behind.length) === id),
    );
    if (index < 0) return null;
    let mask = this.#masks[index] ?? null;
    if (!mask) {
      mask = new Uint32Array(Math.ceil(this.#options.width / 32)).fill(0xffffffff);
      for (const id of this.#openers[index]!.withheld) mask[id >> 5]! &= ~(1 << (id & 31));
      this.#masks[index] = mask;
    }
    return mask;
  }

  /** Takes a token of the answer. */
  accept(id: number): void {
    this.#ending = this.#ending[0] === id ? this.#ending.slice(1) : [];
    this.#parser.feed({ ids: [id] });
    this.#tail.push(id);
    if (this.#tail.length > LONGEST_OPENER) this.#tail.shift();
  }
}

/** Tokens of what begins a block of reasoning. */
const LONGEST_OPENER = 8;

function openersOf(options: ReasoningBudgetOptions): Opener[] {
  const { format, vocabulary } = options;
  if (format.channels) return [channelOpener(format.channels.writing, options)];
  if (!format.reasoning) return [];
  const starts = spellings(format.reasoning.terminals[format.reasoning.start]!);
  const withheld = starts.flatMap((text) => vocabulary.idOf(text) ?? []);
  return withheld.length > 0 ? [{ behind: [], withheld }] : [];
}

/** Where a message of reasoning begins otherwise than any other message. */
function channelOpener(
  writing: NonNullable<MessageFormat['channels']>['writing'],
  { encode, vocabulary, size }: ReasoningBudgetOptions,
): Opener {
  const start = encode(writing.reasoningStart);
  const others = [writing.preambleStart, writing.contentStart, writing.callStart('f')].map(encode);
  const shared = Math.max(0, ...others.map((other) => start.findIndex((id, index) => id !== other[index])));
  const first = start[shared]!;
  const text = vocabulary.text(first);
  // A word could be spelled in other tokens, too.
  const withheld =
    vocabulary.idOf(text) === first
      ? [first]
      : Array.from({ length: size }, (_, id) => id).filter((id) => {
          const written = vocabulary.text(id);
          return written !== '' && (text.startsWith(written) || written.startsWith(text));
        });
  return { behind: start.slice(0, shared), withheld };
}
