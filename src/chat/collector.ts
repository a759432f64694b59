import { TokenprismError } from '../errors.ts';
import type {
  ChatCompletion,
  ChatCompletionChoice,
  ChatCompletionChunk,
  ChatCompletionChunkChoice,
  ChatCompletionToolCall,
  ChatCompletionToolCallDelta,
  ServedChunk,
  ServedChunkChoice,
} from './types.ts';

/** One call while its pieces come in. */
interface CollectedCall {
  index: number;
  id: string;
  name: string;
  arguments: string;
}

interface CollectedChoice {
  reasoning: string;
  /** `null` where no delta has the field. */
  reasoningContent: string | null;
  content: string;
  refusal: string;
  calls: Map<number, CollectedCall>;
  incomplete: Set<number>;
  /** Cut calls that came as such. */
  cut: ChatCompletionToolCall[];
  logprobs: ChatCompletionChoice['logprobs'];
  tokenIds: number[] | null;
  finish: ChatCompletionChoice['finish_reason'] | null;
  stopReason: ChatCompletionChoice['stop_reason'];
}

/**
 * Puts chunks together to the completion that they stream, of any OpenAI-compatible server. Reasoning stands in the
 * message where the deltas have it: in `reasoning`, in `reasoning_content`, or in both.
 */
export class CompletionCollector {
  readonly #choices = new Map<number, CollectedChoice>();
  #first: ChatCompletionChunk | ServedChunk | null = null;
  #usage: ChatCompletion['usage'];
  #details: ChatCompletion['tokenprism'];
  #promptTokenIds: number[] | undefined;
  #fingerprint: string | undefined;

  add(chunk: ChatCompletionChunk | ServedChunk): void {
    this.#first ??= chunk;
    if (chunk.usage) this.#usage = chunk.usage;
    if (chunk.prompt_token_ids) this.#promptTokenIds = chunk.prompt_token_ids;
    if (chunk.tokenprism) this.#details = chunk.tokenprism;
    if (chunk.system_fingerprint) this.#fingerprint = chunk.system_fingerprint;
    for (const choice of chunk.choices) this.#addChoice(choice);
  }

  /** Throws a `TokenprismError` with code `incomplete_stream` when a choice has no finish reason yet. */
  finish(): ChatCompletion {
    const first = this.#first;
    if (!first) throw incompleteStream('The stream ended before its first chunk');
    const completion: ChatCompletion = {
      id: first.id,
      object: 'chat.completion',
      created: first.created,
      model: first.model,
      choices: [...this.#choices].sort(([a], [b]) => a - b).map(([index, choice]) => finished(index, choice)),
    };
    if (this.#fingerprint) completion.system_fingerprint = this.#fingerprint;
    if (this.#usage) completion.usage = this.#usage;
    if (this.#promptTokenIds) completion.prompt_token_ids = this.#promptTokenIds;
    if (this.#details) completion.tokenprism = this.#details;
    return completion;
  }

  #addChoice({
    index,
    delta,
    finish_reason,
    logprobs,
    incomplete_tool_calls,
    stop_reason,
    token_ids,
  }: ChatCompletionChunkChoice | ServedChunkChoice): void {
    let choice = this.#choices.get(index);
    if (!choice) {
      choice = {
        reasoning: '',
        reasoningContent: null,
        content: '',
        refusal: '',
        calls: new Map(),
        incomplete: new Set(),
        cut: [],
        logprobs: null,
        tokenIds: null,
        finish: null,
        stopReason: null,
      };
      this.#choices.set(index, choice);
    }
    choice.reasoning += delta.reasoning ?? '';
    if (delta.reasoning_content !== undefined) {
      choice.reasoningContent = (choice.reasoningContent ?? '') + (delta.reasoning_content ?? '');
    }
    choice.content += delta.content ?? '';
    choice.refusal += delta.refusal ?? '';
    for (const call of delta.tool_calls ?? []) addCall(choice.calls, call);
    for (const call of incomplete_tool_calls ?? []) {
      if (typeof call === 'number') choice.incomplete.add(call);
      else choice.cut.push(call);
    }
    if (logprobs) {
      choice.logprobs ??= { content: null, refusal: null };
      choice.logprobs.content = joined(choice.logprobs.content, logprobs.content);
      choice.logprobs.refusal = joined(choice.logprobs.refusal, logprobs.refusal);
    }
    choice.tokenIds = joined(choice.tokenIds, token_ids);
    if (finish_reason) choice.finish = finish_reason;
    choice.stopReason ??= stop_reason ?? null;
  }
}

/** Reads a stream to its end and returns the completion. Errors of the stream are thrown as they are. */
export async function collectCompletion(
  chunks: AsyncIterable<ChatCompletionChunk | ServedChunk>,
): Promise<ChatCompletion> {
  const collector = new CompletionCollector();
  for await (const chunk of chunks) collector.add(chunk);
  return collector.finish();
}

/** Appends in place, so that a long answer costs what its chunks hold. */
function joined<Item>(collected: Item[] | null, next: Item[] | null | undefined): Item[] | null {
  if (!collected) return next ? [...next] : null;
  if (next) collected.push(...next);
  return collected;
}

function addCall(calls: Map<number, CollectedCall>, delta: ChatCompletionToolCallDelta): void {
  let call = calls.get(delta.index);
  if (!call) {
    call = { index: delta.index, id: '', name: '', arguments: '' };
    calls.set(delta.index, call);
  }
  // Servers that repeat id and name repeat them whole; only arguments come in pieces.
  if (delta.id) call.id = delta.id;
  if (delta.function?.name) call.name = delta.function.name;
  call.arguments += delta.function?.arguments ?? '';
}

function finished(index: number, choice: CollectedChoice): ChatCompletionChoice {
  if (choice.finish === null) {
    throw incompleteStream(`The stream ended before choice ${index} had a finish reason`);
  }
  const calls = [...choice.calls.values()].sort((a, b) => a.index - b.index);
  const whole = calls.filter((call) => !choice.incomplete.has(call.index)).map(toolCall);
  const cut = calls.filter((call) => choice.incomplete.has(call.index)).map(toolCall);
  cut.push(...choice.cut);
  return {
    index,
    message: {
      role: 'assistant',
      content: choice.content || null,
      reasoning: choice.reasoning || null,
      ...(choice.reasoningContent !== null && { reasoning_content: choice.reasoningContent || null }),
      refusal: choice.refusal || null,
      ...(whole.length > 0 && { tool_calls: whole }),
    },
    logprobs: choice.logprobs,
    finish_reason: choice.finish,
    stop_reason: choice.stopReason,
    ...(cut.length > 0 && { incomplete_tool_calls: cut }),
    ...(choice.tokenIds && { token_ids: choice.tokenIds }),
  };
}

function toolCall(call: CollectedCall): ChatCompletionToolCall {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } };
}

function incompleteStream(what: string): TokenprismError {
  return new TokenprismError(`${what}: its answer is not whole. Send the request again.`, {
    code: 'incomplete_stream',
  });
}
