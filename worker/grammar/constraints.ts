import { Vocabulary } from '../../src/detokenizer/vocabulary.ts';
import { BadRequestError } from '../../src/errors.ts';
import { checkVocabulary, loadFormat } from '../../src/formats/index.ts';
import { type MessageFormat, spellings } from '../../src/parser/format.ts';
import { continuedText, type GenerateJob, type TokenTable } from '../../src/protocol.ts';
import { ChoiceConstraint } from './constraint.ts';
import { EbnfGrammar } from './ebnf.ts';
import { GrammarEngine } from './engine.ts';
import { namingField } from './given-field.ts';
import { AllowanceSpentError, withAllowance } from './language/allowance.ts';
import { AnswerCheck, heldAnswer } from './post-check.ts';
import { ReasoningBudget } from './reasoning-budget.ts';
import { BACKTICK, ReasoningGate } from './reasoning-gate.ts';
import { SpelledEnd } from './spelled-end.ts';
import { structuralTag } from './structural-tag.ts';
import { markerTokens } from './vocabulary.ts';

export interface ConstraintsOptions {
  table: TokenTable;
  /** Values of a row of logits. */
  width: number;
  eosTokenIds: readonly number[];
  /** Text to ids, special tokens recognised. */
  encode(text: string): readonly number[];
  /** Milliseconds that one compile may take; default as the grammar engine has it. */
  compileLimit?: number;
}

export interface MakeOptions {
  /**
   * Whether text that the grammar forces is taken in the tokenizer's own tokens, though the model could spell it in
   * others. Default: true.
   */
  spellsForcedText?: boolean;
}

/** Makes what the choices of a request are held to. One for each loaded model. */
export class Constraints {
  readonly #options: ConstraintsOptions;
  readonly #vocabulary: Vocabulary;
  readonly #markers: ReadonlyMap<string, number>;
  #engine: GrammarEngine | null = null;
  #backticks: Uint32Array | null = null;
  readonly #spelledEnds = new Map<string, SpelledEnd>();

  constructor(options: ConstraintsOptions) {
    this.#options = options;
    this.#vocabulary = new Vocabulary(options.table);
    this.#markers = markerTokens(options.table);
  }

  /**
   * Compiles what a job asks for.
   *
   * @returns makes the constraint of one choice; null when the job has none
   * @throws BadRequestError for what can't be held
   */
  async prepare(
    job: GenerateJob,
    promptTokenIds: ArrayLike<number>,
  ): Promise<((options?: MakeOptions) => ChoiceConstraint) | null> {
    const { constraint, templateArguments } = job;
    if (!constraint) return null;
    const format = await loadFormat(constraint.format);
    checkVocabulary(format, this.#vocabulary);
    const grammar = new EbnfGrammar(this.#markers.keys());
    const vocabulary = this.#vocabulary;
    const continues = continuedText(job.promptEnd);
    const gate = () =>
      new ReasoningGate({ format, vocabulary, promptTokenIds, templateArguments, continues });
    let isWhole = true;
    const [root, compiled] = await namingField(constraint, async () => {
      const made = withinAllowance(() =>
        structuralTag(grammar, format, constraint, !gate().isOpen, () => {
          isWhole = false;
        }),
      );
      if (made === null) return [null, null];
      return [made, await this.#acquireEngine().compile(grammar.toString(made))];
    });
    const { thinkingTokenBudget } = constraint;
    if (root === null && thinkingTokenBudget === null) return null;
    const isHeld = constraint.content !== null || constraint.calls?.choice !== 'auto';
    const spelledEnd = root === null ? null : this.#spelledEnd(format);
    const whileThinking = root === null ? null : this.#maskWhileThinking(format, isHeld);
    const budget = (most: number) =>
      new ReasoningBudget({
        format: root === null ? format : heldAnswer(constraint, format),
        vocabulary,
        size: vocabulary.size,
        width: this.#options.width,
        promptTokenIds,
        templateArguments,
        continues,
        budget: most,
        end: this.#reasoningEnd(format),
        encode: this.#options.encode,
      });
    return ({ spellsForcedText = true } = {}) =>
      new ChoiceConstraint({
        gate: gate(),
        matcher: compiled?.matcher() ?? null,
        whileThinking,
        spelledEnd,
        reasoningEnd: this.#reasoningEnd(format),
        backticks: () => this.#backtickMask(),
        thinkingTokenBudget,
        encode: spellsForcedText ? this.#options.encode : null,
        budget: thinkingTokenBudget === null ? null : budget(thinkingTokenBudget),
        check: isWhole
          ? null
          : new AnswerCheck({
              constraint,
              format,
              vocabulary,
              promptTokenIds,
              templateArguments,
              continues,
            }),
      });
  }

  dispose(): void {
    this.#engine?.dispose();
    this.#engine = null;
  }

  #acquireEngine(): GrammarEngine {
    this.#engine ??= new GrammarEngine(this.#options);
    return this.#engine;
  }

  /**
   * An answer that is held to a grammar may leave its reasoning by the end marker only: not by a call's opener, which
   * the grammar would not see, nor, when something is still owed, by the end of the turn.
   */
  #maskWhileThinking(format: MessageFormat, isHeld: boolean): Uint32Array {
    const { width, eosTokenIds } = this.#options;
    const mask = new Uint32Array(Math.ceil(width / 32)).fill(0xffffffff);
    const { tools } = format;
    const openers = (tools?.openersInReasoning ?? []).flatMap((name) => spellings(tools!.terminals[name]!));
    const withheld = openers.flatMap((text) => this.#vocabulary.idOf(text) ?? []);
    for (const id of isHeld ? [...withheld, ...eosTokenIds] : withheld) mask[id >> 5]! &= ~(1 << (id & 31));
    return mask;
  }

  #spelledEnd({ reasoning }: MessageFormat): SpelledEnd | null {
    if (!reasoning) return null;
    const terminal = reasoning.terminals[reasoning.end]!;
    const spelled = spellings(terminal).filter(
      (text) => terminal.token === 'never' || this.#vocabulary.idOf(text) === undefined,
    );
    if (spelled.length === 0) return null;
    let end = this.#spelledEnds.get(reasoning.name);
    if (!end) {
      end = new SpelledEnd(this.#vocabulary, spelled);
      this.#spelledEnds.set(reasoning.name, end);
    }
    return end;
  }

  #backtickMask(): Uint32Array {
    if (!this.#backticks) {
      this.#backticks = new Uint32Array(Math.ceil(this.#options.width / 32));
      for (let id = 0; id < this.#vocabulary.size; id++) {
        if (this.#vocabulary.text(id).startsWith(BACKTICK)) this.#backticks[id >> 5]! |= 1 << (id & 31);
      }
    }
    return this.#backticks;
  }

  #reasoningEnd({ reasoning, channels }: MessageFormat): readonly number[] {
    if (channels) return this.#options.encode(channels.writing.end);
    if (!reasoning) return [];
    const texts = spellings(reasoning.terminals[reasoning.end]!);
    const known = texts.find((text) => this.#vocabulary.idOf(text) !== undefined);
    return known === undefined ? this.#options.encode(texts[0]!) : [this.#vocabulary.idOf(known)!];
  }
}

/** Steps on the automata of one request: about a second. */
const ALLOWED_STEPS = 5_000_000;

function withinAllowance<Made>(make: () => Made): Made {
  try {
    return withAllowance(ALLOWED_STEPS, make);
  } catch (error) {
    if (!(error instanceof AllowanceSpentError)) throw error;
    throw new BadRequestError(`The grammar is too large: ${error.message}.`, {
      code: 'grammar_too_large',
      cause: error,
    });
  }
}
