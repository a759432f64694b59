/** Completions of raw prompts: the chat's way from the worker to the chunks, without template and format. */
import type { Vocabulary } from '../detokenizer/vocabulary.ts';
import type { TokenLogprobs } from '../protocol.ts';
import type { GenerationMessage } from './answer.ts';
import type { Create } from './create.ts';
import { checkRequestOptions } from './request-options.ts';
import { type CompletionsHost, startAnswer, whenReady } from './start.ts';
import { type ChatCompletionStream, queued } from './stream.ts';
import {
  appendLogprobs,
  type ScoredToken,
  TextLogprobsWriter,
  tokenName,
  toldName,
} from './text-logprobs.ts';
import { type PreparedText, prepareText } from './text-request.ts';
import { collectText, TextCompletionStream } from './text-stream.ts';
import type {
  TextCompletion,
  TextCompletionChoice,
  TextCompletionCreateParams,
  TextCompletionCreateParamsNonStreaming,
  TextCompletionCreateParamsStreaming,
} from './text-types.ts';
import { textOf } from './tokens.ts';
import type { ChatCompletionChunkChoice, CompletionUsage, RequestOptions } from './types.ts';

export interface TextHost extends CompletionsHost {
  readonly vocabulary: Vocabulary;
}

/** `completions` of an engine. */
export class TextCompletions {
  readonly #host: TextHost;

  constructor(host: TextHost) {
    this.#host = host;
  }

  /**
   * Goes on with a prompt, or with each of several, one after the other. With `stream: true` resolves to a stream of
   * chunks as soon as the request is found good; else to the whole completion, which is that same stream collected.
   * Rejects as `chat.completions.create` does.
   */
  readonly create = (async (
    body: TextCompletionCreateParams,
    options: RequestOptions = {},
  ): Promise<TextCompletion | TextCompletionStream> => {
    const prepared = prepareText(body, this.#host.context);
    checkRequestOptions(options);
    const ready = whenReady(this.#host, options.signal);
    if (ready) await ready;
    const answers = prepared.requests.map((request, index) => {
      const answer = new PromptAnswer(this.#host, prepared, index);
      answer.stream = startAnswer(this.#host, request, {
        ...options,
        onMessage: (message) => answer.note(message),
      });
      return answer;
    });
    const controller = new AbortController();
    controller.signal.addEventListener('abort', () => {
      for (const { stream } of answers) stream.controller.abort(controller.signal.reason);
    });
    const chunks = queued(chunksOf(this.#host.context.modelId, prepared, answers));
    const stream = new TextCompletionStream(chunks, controller);
    return prepared.stream ? stream : collectText(stream);
  }) as Create<
    TextCompletionCreateParamsNonStreaming,
    TextCompletionCreateParamsStreaming,
    TextCompletion,
    TextCompletionStream
  >;
}

/** One prompt's choices. */
class PromptAnswer {
  stream!: ChatCompletionStream;
  readonly #host: TextHost;
  readonly #prepared: PreparedText;
  readonly #index: number;
  #promptTokenIds: Uint32Array = new Uint32Array(0);
  #promptLogprobs: TokenLogprobs[] = [];
  readonly #writers = new Map<number, TextLogprobsWriter>();

  constructor(host: TextHost, prepared: PreparedText, index: number) {
    this.#host = host;
    this.#prepared = prepared;
    this.#index = index;
  }

  note(message: GenerationMessage): void {
    if (message.type === 'started') this.#promptTokenIds = message.promptTokenIds;
    if (message.type === 'prompt') this.#promptLogprobs = message.logprobs;
  }

  /** `null` for a chunk that says nothing here. */
  choice(given: ChatCompletionChunkChoice): TextCompletionChoice | null {
    const { returnTokenIds, logprobs } = this.#prepared;
    const { index, delta, finish_reason, stop_reason = null, token_ids = [] } = given;
    if (delta.role) return null;
    const choice: TextCompletionChoice = {
      index: this.#index * this.#prepared.choices + index,
      text: delta.content ?? '',
      logprobs: null,
      finish_reason: finish_reason === 'length' ? 'length' : finish_reason && 'stop',
      stop_reason,
    };
    if (returnTokenIds) choice.token_ids = token_ids;
    const isFirst = !this.#writers.has(index);
    if (isFirst) this.#begin(choice, index);
    if (logprobs === null) return choice;
    const entries = given.logprobs?.content ?? [];
    const scored = token_ids.map((id, at): ScoredToken => {
      const { logprob, top_logprobs } = entries[at]!;
      const top = top_logprobs.map((entry) => ({
        name: toldName(entry.token, entry.bytes ?? []),
        logprob: entry.logprob,
      }));
      return { id, logprob, top };
    });
    const written = this.#writers.get(index)!.write(scored);
    if (choice.logprobs) appendLogprobs(choice.logprobs, written);
    else choice.logprobs = written;
    return choice;
  }

  /** The first chunk of a choice has what is told of the prompt. */
  #begin(choice: TextCompletionChoice, index: number): void {
    const { vocabulary } = this.#host;
    const { requests, echo, logprobs, returnTokenIds } = this.#prepared;
    const { job, skipSpecialTokens } = requests[this.#index]!;
    const writer = new TextLogprobsWriter(vocabulary, logprobs !== 0, !skipSpecialTokens);
    this.#writers.set(index, writer);
    if (returnTokenIds) choice.prompt_token_ids = Array.from(this.#promptTokenIds);
    if (!echo) return;
    const prompt = job.prompt!;
    const given = 'text' in prompt ? prompt.text : textOf(this.#promptTokenIds, vocabulary);
    choice.text = given + choice.text;
    if (logprobs === null) return;
    const scored = Array.from(this.#promptTokenIds, (id, at): ScoredToken => {
      const told = this.#promptLogprobs[at - 1];
      const top = (told?.top ?? []).map((entry) => ({
        name: tokenName(vocabulary, entry.id),
        logprob: entry.logprob,
      }));
      return { id, logprob: told?.logprob ?? null, top };
    });
    // What the tokenizer put before the text is none of it.
    const [first = -1] = this.#promptTokenIds;
    const isAdded = vocabulary.isSpecial(first) && !given.startsWith(vocabulary.text(first));
    choice.logprobs = writer.write(scored, (_id, at) => !(isAdded && at === 0));
  }
}

/** Prompt by prompt. */
async function* chunksOf(
  model: string,
  { stream: isStreamed, includeUsage }: PreparedText,
  answers: readonly PromptAnswer[],
): AsyncGenerator<TextCompletion[], undefined> {
  const head = {
    id: textId(),
    object: 'text_completion' as const,
    created: Math.floor(Date.now() / 1000),
    model,
  };
  const tellsUsage = includeUsage || !isStreamed;
  const usage: CompletionUsage[] = [];
  try {
    for (const answer of answers) {
      for await (const chunk of answer.stream) {
        if (chunk.usage) usage.push(chunk.usage as CompletionUsage);
        const choices = chunk.choices.flatMap((choice) => answer.choice(choice) ?? []);
        if (choices.length > 0) yield [{ ...head, choices, ...(tellsUsage && { usage: null }) }];
      }
    }
  } finally {
    // Nobody waits for the others where one has failed.
    for (const { stream } of answers) stream.controller.abort();
  }
  if (tellsUsage) yield [{ ...head, choices: [], usage: usage.reduce(added) }];
}

function added(sum: CompletionUsage, next: CompletionUsage): CompletionUsage {
  const { prompt_tokens_details: cached, completion_tokens_details: thought } = next;
  return {
    prompt_tokens: sum.prompt_tokens + next.prompt_tokens,
    completion_tokens: sum.completion_tokens + next.completion_tokens,
    total_tokens: sum.total_tokens + next.total_tokens,
    prompt_tokens_details: {
      cached_tokens: sum.prompt_tokens_details.cached_tokens + cached.cached_tokens,
    },
    completion_tokens_details: {
      reasoning_tokens: sum.completion_tokens_details.reasoning_tokens + thought.reasoning_tokens,
    },
  };
}

/** `cmpl-` and 32 hex digits. */
function textId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `cmpl-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
