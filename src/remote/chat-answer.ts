import type { ChatCompletionChunk, IncompleteToolCalls } from '../chat/types.ts';
import { type AnswerReader, choicesOf, incomplete, malformed } from './answer.ts';
import { ChatChoice } from './chat-choice.ts';

export interface ChatAnswerOptions {
  choices: number;
  /** The request's stop strings and stop tokens. */
  stop: readonly unknown[];
  incompleteToolCalls: IncompleteToolCalls;
  deliverReasoning: boolean;
  /** Whether the chunks tell the usage. */
  includeUsage: boolean;
}

/** The chunks of a server that splits its model's output itself. */
export class ChatAnswer implements AnswerReader {
  /** What follows the last finish reason may tell the usage. */
  readonly ended = false;
  readonly #options: ChatAnswerOptions;
  readonly #choices: ChatChoice[];

  constructor(options: ChatAnswerOptions) {
    this.#options = options;
    this.#choices = Array.from(
      { length: options.choices },
      (_, index) => new ChatChoice({ ...options, index }),
    );
  }

  get whole(): boolean {
    return this.#choices.every(({ ended }) => ended);
  }

  read(event: Record<string, unknown>): ChatCompletionChunk[] {
    const { choices: _, usage = null, prompt_token_ids: promptTokenIds, ...rest } = event;
    const parts = choicesOf(event).flatMap((choice) => {
      const known = this.#choices[Number(choice.index ?? 0)];
      if (!known) throw malformed(`choice ${String(choice.index)} of ${this.#choices.length}`);
      return known.read(choice);
    });
    const { includeUsage, deliverReasoning } = this.#options;
    const common = {
      ...rest,
      object: 'chat.completion.chunk',
      choices: [],
    } as unknown as ChatCompletionChunk;
    const chunks: ChatCompletionChunk[] = parts.map((part) => ({
      ...common,
      choices: [part],
      ...(includeUsage && { usage: null }),
    }));
    if (includeUsage && usage !== null) {
      const told = usage as NonNullable<ChatCompletionChunk['usage']>;
      if (chunks.length === 0) chunks.push({ ...common, usage: told });
      else chunks[chunks.length - 1]!.usage = told;
    }
    if (Array.isArray(promptTokenIds) && deliverReasoning && chunks[0]) {
      chunks[0].prompt_token_ids = promptTokenIds as number[];
    }
    return chunks;
  }

  finish(): ChatCompletionChunk[] {
    const open = this.#choices.findIndex(({ ended }) => !ended);
    if (open >= 0) throw incomplete(open);
    return [];
  }
}
