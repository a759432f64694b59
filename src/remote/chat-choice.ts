import { isObject } from '../chat/fields.ts';
import type { ChatCompletionChunkChoice, ChatCompletionDelta, IncompleteToolCalls } from '../chat/types.ts';
import { endOf, malformed, stopReasonOf } from './answer.ts';
import { callPiece, isBlank } from './call-piece.ts';
import { ChoiceCalls } from './choice-calls.ts';
import { contentTexts, joinedTexts } from './content-texts.ts';
import { excerpt } from './failures.ts';

export interface ChatChoiceOptions {
  index: number;
  /** The request's stop strings and stop tokens. */
  stop: readonly unknown[];
  incompleteToolCalls: IncompleteToolCalls;
  /** `false`: reasoning, and what could show it, is left out. */
  deliverReasoning: boolean;
}

/** What deltas hold that is read here, and what may be in them beside it. */
const knownFields: readonly string[] = [
  'role',
  'name',
  'content',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'refusal',
  'tool_calls',
  'function_call',
];

/** One choice of a server's chat stream, brought into the form in which the engine gives its own. */
export class ChatChoice {
  readonly #options: ChatChoiceOptions;
  readonly #calls: ChoiceCalls;
  #role: string | null = null;
  #ended = false;
  /** All that has come, delivered or not. */
  readonly #came = { reasoning: '', content: '', refusal: '' };
  /** Names of fields that are not known, and hold something. */
  readonly #unknown = new Set<string>();

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
    const { index } = this.#options;
    const { finish_reason: finish } = choice;
    const delta = fieldsOf(choice, 'delta');
    const message = fieldsOf(choice, 'message');
    if (message && !finish && !this.#ended) {
      throw malformed(`a message in place of a delta, ${excerpt(message)}`);
    }
    if (this.#ended) {
      if (delta && saysMore(delta))
        throw malformed(`more of choice ${index} behind its end, ${excerpt(delta)}`);
      if (message) this.#compare(message);
      if (message && this.#calls.count === 0 && saysMore({ tool_calls: message.tool_calls })) {
        throw malformed(`calls of choice ${index} behind its end, ${excerpt(message)}`);
      }
      return [];
    }
    const deltas = this.#deltas(delta ?? {});
    if (message) deltas.push(...this.#whole(message));
    if (!delta && !message && isFilled(choice.text)) this.#unknown.add('text');
    const parts: ChatCompletionChunkChoice[] = deltas.map((part) => ({
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
    // Some servers have an empty one in each chunk but the last.
    if (finish) parts.push(...this.#end(finish, stopReasonOf(choice, this.#options.stop)));
    const told = this.#told(choice);
    if (Object.keys(told).length > 0) {
      if (parts.length === 0) parts.push({ index, delta: {}, finish_reason: null });
      Object.assign(parts[0]!, told);
    }
    return parts;
  }

  #deltas(delta: Record<string, unknown>): ChatCompletionDelta[] {
    const { role, content, refusal, tool_calls: calls, function_call: older } = delta;
    // Some servers send both, one of them empty.
    const reasoning = delta.reasoning || delta.reasoning_content;
    const deltas: ChatCompletionDelta[] = [];
    if (typeof role === 'string' && this.#role === null) {
      this.#role = role;
      deltas.push({ role: 'assistant' });
    }
    for (const { kind, text } of [...contentTexts(reasoning, 'reasoning'), ...contentTexts(content)]) {
      this.#calls.close();
      this.#came[kind] += text;
      if (kind === 'content' || this.#options.deliverReasoning) deltas.push({ [kind]: text });
    }
    for (const { text } of contentTexts(refusal)) {
      this.#came.refusal += text;
      deltas.push({ refusal: text });
    }
    if (calls !== undefined && calls !== null && !Array.isArray(calls)) {
      throw malformed(`tool calls that are no array, ${excerpt(calls)}`);
    }
    const pieces = [...this.#calls.read(calls ?? [])];
    // Some servers tell a call in both forms.
    if (isFilled(older) && (calls ?? []).length === 0) pieces.push(...this.#calls.readOlder(older));
    for (const piece of pieces) deltas.push({ tool_calls: [piece] });
    for (const [name, value] of Object.entries(delta)) {
      if (!knownFields.includes(name) && isFilled(value)) this.#unknown.add(name);
    }
    return deltas;
  }

  get #isEmpty(): boolean {
    return Object.values(this.#came).every((text) => text === '') && this.#calls.count === 0;
  }

  /** The message of a server that does not stream, or that tells the whole once more at the end. */
  #whole(message: Record<string, unknown>): ChatCompletionDelta[] {
    if (this.#isEmpty) return this.#deltas(message);
    this.#compare(message);
    const { tool_calls, function_call } = message;
    return this.#calls.count === 0 ? this.#deltas({ tool_calls, function_call }) : [];
  }

  #compare(message: Record<string, unknown>): void {
    const { content, refusal, reasoning, reasoning_content: older } = message;
    const texts = [...contentTexts(reasoning || older, 'reasoning'), ...contentTexts(content)];
    const told = {
      reasoning: joinedTexts(texts, 'reasoning'),
      content: joinedTexts(texts, 'content'),
      refusal: joinedTexts(contentTexts(refusal), 'content'),
    };
    const isSame = (Object.keys(told) as (keyof typeof told)[]).every(
      (kind) => told[kind] === '' || told[kind] === this.#came[kind],
    );
    if (!isSame) throw malformed(`a message that is not what its deltas were, ${excerpt(message)}`);
  }

  #end(finish: unknown, stop: string | number | null): ChatCompletionChunkChoice[] {
    const end = endOf(finish);
    const isOwn = end === 'stop';
    const isAboutCalls = finish === 'tool_calls' || finish === 'function_call';
    if (this.#isEmpty && (this.#unknown.size > 0 || isAboutCalls)) {
      const fields = [...this.#unknown].join(', ');
      throw malformed(
        `an answer that ends with ${JSON.stringify(finish)} and has no text and no call` +
          (fields === '' ? '' : `, but ${fields}, which is not known here`),
      );
    }
    this.#ended = true;
    const { index, stop: stops } = this.#options;
    const isStopString = typeof stop === 'string' && stops.includes(stop);
    const { deltas, delivered, incomplete } = this.#calls.end(!isOwn || isStopString);
    const reason = isOwn ? (delivered > 0 && !isStopString ? 'tool_calls' : 'stop') : end;
    const last: ChatCompletionChunkChoice = {
      index,
      delta: {},
      finish_reason: reason,
      stop_reason: stop,
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

function fieldsOf(
  choice: Record<string, unknown>,
  name: 'delta' | 'message',
): Record<string, unknown> | null {
  const value = choice[name] ?? null;
  if (value === null || isObject(value)) return value;
  throw malformed(`a chunk whose ${name} is no object, ${excerpt(value)}`);
}

/** Holds some text, or things. */
const isFilled = (value: unknown) =>
  typeof value === 'object' && value !== null
    ? Object.values(value).length > 0
    : typeof value === 'string' && value !== '';

/** Whether a delta goes on with the answer. */
function saysMore({
  content,
  reasoning,
  reasoning_content,
  refusal,
  ...delta
}: Record<string, unknown>): boolean {
  const { tool_calls: calls, function_call: older } = delta;
  const pieces = Array.isArray(calls) ? calls.map(callPiece) : [];
  const texts = [content, reasoning, reasoning_content, refusal, older];
  return texts.some(isFilled) || pieces.some((piece) => !isBlank(piece));
}
