import { ChoiceAssembly, type ChoiceOptions } from '../chat/choice.ts';
import { isObject } from '../chat/fields.ts';
import type { Echo } from '../chat/prompt-end.ts';
import { TokenRecord, type TokenText } from '../chat/token-record.ts';
import type { ChatCompletionChunk, ChatCompletionChunkChoice, ChatCompletionDelta } from '../chat/types.ts';
import { BadRequestError } from '../errors.ts';
import type { Parser } from '../parser/parser.ts';
import { type AnswerReader, choicesOf, incomplete, malformed, textEnd, textOf } from './answer.ts';
import { excerpt } from './failures.ts';
import { tokenLogprobs } from './token-logprobs.ts';

export interface TextAnswerOptions extends Omit<ChoiceOptions, 'choice' | 'parser' | 'record'> {
  choices: number;
  /** What each choice begins with. */
  echo: Echo | null;
  promptTokenIds: Uint32Array;
  vocabulary: TokenText;
  /** Whether the chunks tell token ids. */
  returnTokenIds: boolean;
  /** Most probable tokens that the chunks tell with each one; `null`: no log probabilities. */
  logprobs: number | null;
  includeUsage: boolean;
  /** One parser a choice, for an output that comes as token ids or as text. */
  createParser: (kind: 'ids' | 'text') => Parser;
}

interface TextChoice {
  assembly: ChoiceAssembly;
  kind: 'ids' | 'text';
  /** Tokens that have come; `null` where the server does not tell. */
  tokens: number | null;
}

type Usage = NonNullable<ChatCompletionChunk['usage']>;

/**
 * The chunks of a server that gives its model's output as it is, split here: by its token ids where the server tells
 * them, so that a marker that is only spelled is text, else by its text.
 */
export class TextAnswer implements AnswerReader {
  readonly #options: TextAnswerOptions;
  readonly #choices: (TextChoice | undefined)[];
  #common: Pick<ChatCompletionChunk, 'id' | 'created' | 'model'> | null = null;
  /** Of the whole answer. */
  #usage: Partial<Usage> | null = null;

  constructor(options: TextAnswerOptions) {
    this.#options = options;
    this.#choices = Array.from({ length: options.choices }, () => undefined);
  }

  get whole(): boolean {
    return this.#choices.every((choice) => choice?.assembly.ended);
  }

  /** A stop string or the end of the first call has cut what the server goes on with. */
  get ended(): boolean {
    return this.whole && this.#choices.some((choice) => choice?.assembly.cutAt !== null);
  }

  read(event: Record<string, unknown>): ChatCompletionChunk[] {
    const { usage } = event;
    const choices = choicesOf(event);
    this.#common ??= {
      id: String(event.id ?? 'cmpl'),
      created: Number(event.created ?? 0),
      model: String(event.model ?? ''),
    };
    if (choices.length === 0 && isObject(usage)) this.#usage = usage;
    return choices.flatMap((choice) => this.#read(choice, isObject(usage) ? usage : {}));
  }

  #read(choice: Record<string, unknown>, usage: Partial<Usage>): ChatCompletionChunk[] {
    const index = Number(choice.index ?? 0);
    const { token_ids: ids, stop_reason: stop } = choice;
    const text = textOf(choice);
    const end = textEnd(choice);
    if (!(index in this.#choices)) throw malformed(`choice ${index} of ${this.#choices.length}`);
    const known = this.#choices[index];
    // Says nothing yet, not even whether the server tells ids.
    const isBlank = text === '' && !Array.isArray(ids);
    if (!known && isBlank && end === null) return [];
    const { state, chunks } = known ? { state: known, chunks: [] } : this.#begin(index, Array.isArray(ids));
    if (state.kind === 'ids') {
      const told = isBlank ? [] : ids;
      if (!isIds(told)) throw malformed(`text without its token ids, which it sent before, ${excerpt(text)}`);
      state.tokens = (state.tokens ?? 0) + told.length;
      const { logprobs: most } = this.#options;
      const logprobs = most === null ? undefined : tokenLogprobs(choice.logprobs, told, most);
      chunks.push(...this.#chunks(state.assembly.feed({ ids: told }, logprobs)));
    } else {
      if (typeof usage.completion_tokens === 'number') state.tokens = usage.completion_tokens;
      if (text !== '') chunks.push(...this.#chunks(state.assembly.feed({ text })));
    }
    if (end !== null) {
      const last = state.assembly.end(end === 'length' ? 'length' : 'eos');
      // Without ids, only the server knows which of its stop tokens came.
      const ending = last.at(-1);
      if (ending && state.kind === 'text' && typeof stop === 'number') ending.stop_reason = stop;
      chunks.push(...this.#chunks(last));
    }
    return chunks;
  }

  #begin(index: number, hasIds: boolean): { state: TextChoice; chunks: ChatCompletionChunk[] } {
    const { createParser, vocabulary, returnTokenIds, logprobs, promptTokenIds, echo, ...options } =
      this.#options;
    const tellsTokens = returnTokenIds || logprobs !== null;
    if (tellsTokens && !hasIds) {
      const param = returnTokenIds ? 'return_token_ids' : 'logprobs';
      throw new BadRequestError(`'${param}' needs a server that tells token ids; remove it.`, {
        param,
        code: 'unsupported_parameter',
      });
    }
    const kind = hasIds ? 'ids' : 'text';
    const record = tellsTokens ? new TokenRecord(vocabulary, returnTokenIds) : null;
    const assembly = new ChoiceAssembly({ ...options, choice: index, parser: createParser(kind), record });
    const state: TextChoice = { assembly, kind, tokens: null };
    const isFirst = this.#choices.every((choice) => choice === undefined);
    this.#choices[index] = state;
    const deltas: ChatCompletionDelta[] = [{ role: 'assistant' }];
    if (echo?.reasoning) deltas.push({ reasoning: echo.reasoning });
    if (echo?.content) deltas.push({ content: echo.content });
    const chunks = this.#chunks(deltas.map((delta) => ({ index, delta, finish_reason: null })));
    if (isFirst && returnTokenIds) chunks[0]!.prompt_token_ids = Array.from(promptTokenIds);
    return { state, chunks };
  }

  #chunks(parts: readonly ChatCompletionChunkChoice[]): ChatCompletionChunk[] {
    return parts.map((part) => ({ ...this.#chunk(), choices: [part] }));
  }

  #chunk(): ChatCompletionChunk {
    const { includeUsage } = this.#options;
    return {
      ...this.#common!,
      object: 'chat.completion.chunk',
      choices: [],
      ...(includeUsage && { usage: null }),
    };
  }

  finish(): ChatCompletionChunk[] {
    const open = this.#choices.findIndex((choice) => !choice?.assembly.ended);
    if (open >= 0) throw incomplete(open);
    const usage = this.#options.includeUsage ? this.#told() : null;
    return usage ? [{ ...this.#chunk(), usage }] : [];
  }

  /** `null` where the server says nothing of tokens. */
  #told(): Usage | null {
    const choices = this.#choices.filter((choice) => choice !== undefined);
    // What was cut counts up to the cut, where tokens are known one by one.
    const counts = choices.map(({ assembly, kind, tokens }) =>
      kind === 'ids' ? (assembly.cutAt ?? tokens) : tokens,
    );
    const isCut = choices.some(({ assembly }) => assembly.cutAt !== null);
    const known = counts.every((count) => count !== null)
      ? counts.reduce((sum, count) => sum + count, 0)
      : null;
    const completion = isCut ? known : (this.#usage?.completion_tokens ?? known);
    if (completion === null) return null;
    const prompt = this.#options.promptTokenIds.length;
    const reasoning = choices.reduce((sum, { assembly }) => sum + assembly.reasoningTokens, 0);
    return {
      ...this.#usage,
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      ...(choices.every(({ kind }) => kind === 'ids') && {
        completion_tokens_details: { reasoning_tokens: reasoning },
      }),
    };
  }
}

const isIds = (ids: unknown): ids is number[] =>
  Array.isArray(ids) && ids.every((id) => Number.isInteger(id) && id >= 0);
