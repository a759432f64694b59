import { isObject } from '../chat/fields.ts';
import type { TextCompletion, TextCompletionChoice, TextLogprobs } from '../chat/text-types.ts';
import {
  type AnswerReader,
  choicesOf,
  incomplete,
  malformed,
  stopReasonOf,
  textEnd,
  textOf,
} from './answer.ts';
import { excerpt } from './failures.ts';

export interface RawTextAnswerOptions {
  /** Of all prompts together. */
  choices: number;
  /** The request's stop strings and stop tokens. */
  stop: readonly unknown[];
  includeUsage: boolean;
}

/** The chunks of a server that goes on with raw prompts. */
export class RawTextAnswer implements AnswerReader<TextCompletion> {
  /** What follows the last finish reason may tell the usage. */
  readonly ended = false;
  readonly #options: RawTextAnswerOptions;
  readonly #ended: boolean[];

  constructor(options: RawTextAnswerOptions) {
    this.#options = options;
    this.#ended = Array.from({ length: options.choices }, () => false);
  }

  get whole(): boolean {
    return this.#ended.every((ended) => ended);
  }

  read(event: Record<string, unknown>): TextCompletion[] {
    const choices = choicesOf(event).flatMap((choice) => this.#read(choice) ?? []);
    const usage = isObject(event.usage) ? (event.usage as unknown as TextCompletion['usage']) : null;
    const { includeUsage } = this.#options;
    if (choices.length === 0 && !(includeUsage && usage)) return [];
    const chunk: TextCompletion = {
      id: String(event.id ?? 'cmpl'),
      object: 'text_completion',
      created: Number(event.created ?? 0),
      model: String(event.model ?? ''),
      choices,
      ...(includeUsage && { usage }),
    };
    return [chunk];
  }

  /** `null` behind a choice's end, where only a blank one may come. */
  #read(choice: Record<string, unknown>): TextCompletionChoice | null {
    const index = Number(choice.index ?? 0);
    if (!(index in this.#ended)) throw malformed(`choice ${index} of ${this.#ended.length}`);
    const text = textOf(choice);
    if (this.#ended[index]) {
      if (text !== '') throw malformed(`more of choice ${index} behind its end, ${excerpt(text)}`);
      return null;
    }
    const end = textEnd(choice);
    if (end !== null) this.#ended[index] = true;
    const { logprobs, token_ids: ids, prompt_token_ids: promptIds } = choice;
    return {
      index,
      text,
      logprobs: isObject(logprobs) ? (logprobs as unknown as TextLogprobs) : null,
      finish_reason: end,
      stop_reason: stopReasonOf(choice, this.#options.stop),
      ...(Array.isArray(ids) && { token_ids: ids as number[] }),
      ...(Array.isArray(promptIds) && { prompt_token_ids: promptIds as number[] }),
    };
  }

  finish(): TextCompletion[] {
    const open = this.#ended.indexOf(false);
    if (open >= 0) throw incomplete(open);
    return [];
  }
}
