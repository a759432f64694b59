import { RequestAbortedError, WorkerError } from '../errors.ts';
import type { Parser } from '../parser/parser.ts';
import type { ChoiceEnd, DeviceReport, FromWorker } from '../protocol.ts';
import { ChoiceAssembly, type ChoiceOptions } from './choice.ts';
import type { Echo } from './prompt-end.ts';
import { TokenRecord, type TokenText } from './token-record.ts';
import type {
  ChatCompletionChunk,
  ChatCompletionChunkChoice,
  ChatCompletionDelta,
  CompletionUsage,
} from './types.ts';

/** The worker's messages about one request, failures aside. */
export type GenerationMessage = Extract<
  FromWorker,
  { type: 'state' | 'started' | 'prompt' | 'tokens' | 'done' }
>;
type Started = Extract<FromWorker, { type: 'started' }>;
type Tokens = Extract<FromWorker, { type: 'tokens' }>;
type Done = Extract<FromWorker, { type: 'done' }>;

export interface AnswerOptions extends Omit<ChoiceOptions, 'choice' | 'parser' | 'record'> {
  model: string;
  device: DeviceReport;
  /** Number of choices. */
  choices: number;
  includeUsage: boolean;
  includeDetails: boolean;
  /** What each choice begins with. */
  echo: Echo | null;
  /** What chunks tell of single tokens; `null` for nothing. */
  record: { vocabulary: TokenText; withIds: boolean } | null;
  /** One parser a choice; `promptTokenIds` decide its first state. */
  createParser: (promptTokenIds: Uint32Array) => Parser;
}

/** What a message of the worker brings. */
export interface AnswerStep {
  chunks: ChatCompletionChunk[];
  /** Choices whose output ends at a token before what the worker may have generated. */
  cuts: { choice: number; at: number }[];
  done: boolean;
}

/** Turns the worker's messages about one request into chunks. */
export class AnswerAssembly {
  readonly #options: AnswerOptions;
  readonly #id = completionId();
  readonly #created = Math.floor(Date.now() / 1000);
  #started: Started | null = null;
  #choices: ChoiceAssembly[] = [];
  #received: number[] = [];
  #allowed: (number | null)[][] = [];

  constructor(options: AnswerOptions) {
    this.#options = options;
  }

  /** Throws a `WorkerError` where the worker breaks the protocol. */
  handle(message: GenerationMessage): AnswerStep {
    switch (message.type) {
      case 'state':
      case 'prompt':
        return { chunks: [], cuts: [], done: false };
      case 'started':
        return { chunks: this.#start(message), cuts: [], done: false };
      case 'tokens':
        return this.#tokens(message);
      case 'done':
        return { chunks: this.#finish(message), cuts: [], done: true };
    }
  }

  #start(started: Started): ChatCompletionChunk[] {
    if (this.#started) throw new WorkerError('The worker started a request twice. Reload the page.');
    this.#started = started;
    const { choices, createParser, echo, record: told, ...options } = this.#options;
    for (let choice = 0; choice < choices; choice++) {
      const parser = createParser(started.promptTokenIds);
      const record = told && new TokenRecord(told.vocabulary, told.withIds);
      this.#choices.push(new ChoiceAssembly({ ...options, choice, parser, record }));
      this.#received.push(0);
      this.#allowed.push([]);
    }
    const first: ChatCompletionDelta[] = [{ role: 'assistant' }];
    if (echo?.reasoning) first.push({ reasoning: echo.reasoning });
    if (echo?.content) first.push({ content: echo.content });
    const chunks = this.#choices.flatMap((_, index) =>
      first.map((delta) => this.#chunk([{ index, delta: { ...delta }, finish_reason: null }])),
    );
    if (told?.withIds) chunks[0]!.prompt_token_ids = Array.from(started.promptTokenIds);
    return chunks;
  }

  #tokens({ choice: index, from, ids, logprobs, allowed }: Tokens): AnswerStep {
    const choice = this.#choice(index);
    const received = this.#received[index] ?? 0;
    if (from !== received) {
      throw new WorkerError(`The worker sent token ${from} of choice ${index} instead of ${received}.`);
    }
    this.#received[index] = received + ids.length;
    if (allowed) this.#allowed[index]!.push(...allowed);
    const cutBefore = choice.cutAt;
    const chunks = choice.feed({ ids }, logprobs).map((part) => this.#chunk([part]));
    const at = choice.cutAt;
    return { chunks, cuts: at !== null && cutBefore === null ? [{ choice: index, at }] : [], done: false };
  }

  #finish(done: Done): ChatCompletionChunk[] {
    const { includeUsage, includeDetails, device } = this.#options;
    if (!this.#started) throw new WorkerError('The worker ended a request that it had not started.');
    const chunks: ChatCompletionChunk[] = [];
    for (const end of done.choices) {
      const choice = this.#choice(end.choice);
      if (end.reason === 'abort' && !choice.ended) throw new RequestAbortedError('The request was aborted.');
      for (const part of choice.end(end.reason)) chunks.push(this.#chunk([part]));
    }
    const open = this.#choices.findIndex((choice) => !choice.ended);
    if (open >= 0) throw new WorkerError(`The worker ended a request without an end of choice ${open}.`);
    if (includeUsage || includeDetails) {
      const last = this.#chunk([]);
      if (includeUsage) last.usage = this.#usage(done);
      if (includeDetails) {
        const { prompt, promptTokenIds, seed } = this.#started;
        last.tokenprism = {
          prompt,
          prompt_token_ids: Array.from(promptTokenIds),
          seed,
          allowed_tokens: this.#allowed,
          timings: done.timings,
          device,
        };
      }
      chunks.push(last);
    }
    return chunks;
  }

  #usage({ usage, choices }: Done): CompletionUsage {
    const completionTokens =
      usage.completionTokens - choices.reduce((sum, end) => sum + this.#surplus(end), 0);
    return {
      prompt_tokens: usage.promptTokens,
      completion_tokens: completionTokens,
      total_tokens: usage.promptTokens + completionTokens,
      prompt_tokens_details: { cached_tokens: usage.cachedTokens },
      completion_tokens_details: {
        reasoning_tokens: this.#choices.reduce((sum, choice) => sum + choice.reasoningTokens, 0),
      },
    };
  }

  /** Tokens that the worker counts beyond a cut: it had ended before the cut reached it. */
  #surplus(end: ChoiceEnd): number {
    const at = this.#choice(end.choice).cutAt;
    return at === null ? 0 : Math.max(0, end.completionTokens - at);
  }

  #choice(index: number): ChoiceAssembly {
    const choice = this.#choices[index];
    if (!choice) throw new WorkerError(`The worker sent output for choice ${index}, which does not exist.`);
    return choice;
  }

  #chunk(choices: ChatCompletionChunkChoice[]): ChatCompletionChunk {
    const { model, includeUsage } = this.#options;
    return {
      id: this.#id,
      object: 'chat.completion.chunk',
      created: this.#created,
      model,
      choices,
      ...(includeUsage && { usage: null }),
    };
  }
}

/** `chatcmpl-` and 32 hex digits. */
function completionId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `chatcmpl-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
