import { isObject } from '../chat/fields.ts';
import type {
  ChatCompletionChunkChoice,
  ChatCompletionDelta,
  FinishReason,
  IncompleteToolCalls,
} from '../chat/types.ts';
import { RemoteServerError } from '../errors.ts';
import { ChoiceCalls, malformed } from './choice-calls.ts';

export interface ChatChoiceOptions {
  index: number;
  /** The request's stop strings. */
  stop: readonly unknown[];
  incompleteToolCalls: IncompleteToolCalls;
  /** `false`: reasoning, and what could show it, is left out. */
  deliverReasoning: boolean;
}

/** Ends that are the model's own. */
const ownEnds: readonly unknown[] = ['stop', 'tool_calls', 'function_call'];
/** Ends that cut the answer. */
const cutEnds: readonly unknown[] = ['length', 'content_filter'];

/** One choice of a server's chat stream, brought into the form in which the engine gives its own. */
export class ChatChoice {
  readonly #options: ChatChoiceOptions;
  readonly #calls: ChoiceCalls;
  #role: string | null = null;
  #ended = false;

  constructor(options: ChatChoiceOptions) {
    this.#options = options;
    this.#calls = new ChoiceCalls(options.incompleteToolCalls);
  }

  get ended(): boolean {
    return this.#ended;
  }

  /**
   * The parts that one choice of a server's chunk makes; each holds one kind. What the chunk tells of single tokens
   * goes with the first of them. Throws a `RemoteServerError` for what is no chunk, and where the server gave up.
   */
  read(choice: Record<string, unknown>): ChatCompletionChunkChoice[] {
    const { delta = {}, finish_reason: finish = null, stop_reason: stop = null } = choice;
    if (!isObject(delta)) throw malformed('a chunk whose delta is no object');
    const { index } = this.#options;
    if (this.#ended) {
      if (delta.content || delta.tool_calls) throw malformed(`more of choice ${index} behind its end`);
      return [];
    }
    const parts: ChatCompletionChunkChoice[] = this.#deltas(delta).map((part) => ({
      index,
      delta: part,
      finish_reason: null,
    }));
    const { incomplete_tool_calls: cut } = choice;
    if (Array.isArray(cut)) {
      for (const part of this.#calls.readCut(cut)) {
        parts.push({ index, delta: { tool_calls: [part] }, finish_reason: null });
      }
    }
    if (finish !== null) parts.push(...this.#end(finish, stop));
    const told = this.#told(choice);
    if (Object.keys(told).length > 0) {
      if (parts.length === 0) parts.push({ index, delta: {}, finish_reason: null });
      Object.assign(parts[0]!, told);
    }
    return parts;
  }

  #deltas(delta: Record<string, unknown>): ChatCompletionDelta[] {
    const { role, content, refusal, tool_calls: calls } = delta;
    // Some servers send both, one of them empty.
    const reasoning = delta.reasoning || delta.reasoning_content;
    const deltas: ChatCompletionDelta[] = [];
    if (typeof role === 'string' && this.#role === null) {
      this.#role = role;
      deltas.push({ role: 'assistant' });
    }
    if (hasText(reasoning, 'reasoning')) {
      this.#calls.close();
      if (this.#options.deliverReasoning) deltas.push({ reasoning });
    }
    if (hasText(content, 'content')) {
      this.#calls.close();
      deltas.push({ content });
    }
    if (hasText(refusal, 'refusal')) deltas.push({ refusal });
    if (calls !== undefined && calls !== null && !Array.isArray(calls))
      throw malformed('tool calls that are no array');
    for (const call of calls ?? []) {
      for (const part of this.#calls.read(call)) deltas.push({ tool_calls: [part] });
    }
    return deltas;
  }

  #end(finish: unknown, stop: unknown): ChatCompletionChunkChoice[] {
    const isOwn = ownEnds.includes(finish);
    if (!isOwn && !cutEnds.includes(finish)) {
      throw new RemoteServerError(
        `The server ended its answer with ${JSON.stringify(finish)}: it is not whole. Send the request again.`,
        { code: 'answer_aborted' },
      );
    }
    this.#ended = true;
    const { index, stop: stops } = this.#options;
    const isStopString = stops.includes(stop);
    const { deltas, delivered, incomplete } = this.#calls.end(!isOwn || isStopString);
    const reason = isOwn ? (delivered > 0 && !isStopString ? 'tool_calls' : 'stop') : finish;
    const last: ChatCompletionChunkChoice = {
      index,
      delta: {},
      finish_reason: reason as FinishReason,
      stop_reason: typeof stop === 'string' || typeof stop === 'number' ? stop : null,
    };
    if (incomplete.length > 0) last.incomplete_tool_calls = incomplete;
    const closing = deltas.map((call) => ({ index, delta: { tool_calls: [call] }, finish_reason: null }));
    return [...closing, last];
  }

  /** Log probabilities and token ids of a chunk. */
  #told({ logprobs, token_ids: ids }: Record<string, unknown>): Partial<ChatCompletionChunkChoice> {
    if (!this.#options.deliverReasoning) return {};
    return {
      ...(isObject(logprobs) && { logprobs: logprobs as unknown as ChatCompletionChunkChoice['logprobs'] }),
      ...(Array.isArray(ids) && { token_ids: ids as number[] }),
    };
  }
}

function hasText(value: unknown, field: string): value is string {
  if (value === undefined || value === null || value === '') return false;
  if (typeof value !== 'string') throw malformed(`a ${field} that is no text`);
  return true;
}
