import type { ParserEvent } from '../parser/events.ts';
import type { Parser, ParserDelta } from '../parser/parser.ts';
import type { EndReason, TokenLogprobs } from '../protocol.ts';
import { JsonCloser } from './json-closer.ts';
import { StopStrings } from './stop-strings.ts';
import type { TokenRecord } from './token-record.ts';
import type {
  ChatCompletionChunkChoice,
  ChatCompletionDelta,
  ChatCompletionToolCallDelta,
  FinishReason,
  IncompleteToolCalls,
} from './types.ts';

export interface ChoiceOptions {
  choice: number;
  parser: Parser;
  /** Matched on content only. */
  stop: readonly string[];
  /** Stop strings count behind so many tokens. */
  minTokens?: number;
  /** Tokens that end the choice because the request says so. */
  stopTokenIds?: readonly number[];
  /** What the chunks tell of single tokens. */
  record?: TokenRecord | null;
  /** `false`: the choice ends with its first whole call. */
  parallelToolCalls: boolean;
  /** `false`: calls are removed from the answer (`tool_choice: "none"`). */
  deliverCalls: boolean;
  /** `false`: reasoning is counted and not delivered. */
  deliverReasoning: boolean;
  incompleteToolCalls: IncompleteToolCalls;
}

/** Turns the token ids of one choice into the choice's part of the chunks. */
export class ChoiceAssembly {
  readonly #options: ChoiceOptions;
  readonly #stop: StopStrings;
  readonly #canCut: boolean;
  readonly #incomplete: number[] = [];
  #calls = 0;
  /** Where a cut call is to be closed. */
  #closer: JsonCloser | null = null;
  /** With each, the tokens that it reads up to. */
  #deltas: { delta: ChatCompletionDelta; tokens: number }[] = [];
  /** Those of the event at hand. */
  #tokens = 0;
  #ended = false;
  #lastId: number | null = null;
  #stopReason: string | number | null = null;
  #cutAt: number | null = null;

  constructor(options: ChoiceOptions) {
    this.#options = options;
    this.#stop = new StopStrings(options.stop);
    this.#canCut = options.stop.length > 0 || !options.parallelToolCalls;
  }

  /** Tokens that count (exclusive end), once a stop string or the end of the first call has cut the choice. */
  get cutAt(): number | null {
    return this.#cutAt;
  }

  /** True once the last chunk of the choice was given out. */
  get ended(): boolean {
    return this.#ended;
  }

  get reasoningTokens(): number {
    return this.#options.parser.reasoningTokens;
  }

  /**
   * The chunks that a delta brings, in order; after a cut the last one carries the finish reason.
   *
   * @param logprobs of the delta's ids, one each
   */
  feed(delta: ParserDelta, logprobs?: readonly TokenLogprobs[]): ChatCompletionChunkChoice[] {
    if (this.#ended) return [];
    if ('ids' in delta) {
      this.#options.record?.add(delta.ids, logprobs);
      this.#lastId = delta.ids[delta.ids.length - 1] ?? this.#lastId;
    }
    for (const piece of this.#canCut ? pieces(delta) : [delta]) {
      const finish = this.#handle(this.#options.parser.feed(piece));
      if (finish !== null) return this.#last(finish);
    }
    return this.#take();
  }

  /** The last chunks of a choice that ended in the worker. */
  end(reason: EndReason): ChatCompletionChunkChoice[] {
    if (this.#ended) return [];
    const end = reason === 'eos' ? 'stop' : reason;
    const finish = this.#handle(this.#options.parser.finish(end));
    if (finish !== null) return this.#last(finish);
    this.#content(this.#stop.release());
    if (end === 'length') return this.#last('length');
    const { stopTokenIds = [] } = this.#options;
    if (end === 'stop') this.#stopReason = stopTokenIds.find((id) => id === this.#lastId) ?? null;
    return this.#last(end === 'stop' && this.#calls > 0 ? 'tool_calls' : 'stop');
  }

  /** Returns the finish reason where an event cuts the choice; events after it do not count. */
  #handle(events: readonly ParserEvent[]): FinishReason {
    for (const event of events) {
      const finish = this.#event(event);
      if (finish === null) continue;
      this.#cutAt = event.tokens;
      return finish;
    }
    return null;
  }

  #event(event: ParserEvent): FinishReason {
    this.#tokens = event.tokens;
    if (event.type === 'content') {
      const { minTokens = 0 } = this.#options;
      // Text that is fed without ids has no tokens.
      if (minTokens > 0 && event.tokens <= minTokens) {
        this.#content(event.text);
        return null;
      }
      const { text, matched } = this.#stop.push(event.text);
      this.#content(text);
      this.#stopReason = matched;
      return matched === null ? null : 'stop';
    }
    // Markup or reasoning stands between: no stop string spans it.
    this.#content(this.#stop.release());
    if (event.type === 'reasoning') {
      if (this.#options.deliverReasoning) this.#append({ reasoning: event.text });
      return null;
    }
    if (!this.#options.deliverCalls) return null;
    switch (event.type) {
      case 'call-start':
        this.#closer = this.#options.incompleteToolCalls === 'close' ? new JsonCloser() : null;
        this.#append({
          tool_calls: [
            {
              index: event.index,
              id: event.id,
              type: 'function',
              function: { name: event.name, arguments: '' },
            },
          ],
        });
        return null;
      case 'call-arguments':
        this.#arguments(event.index, event.text);
        return null;
      case 'call-end':
        return this.#callDelivered();
      case 'call-incomplete':
        return this.#cutCall(event.index);
    }
  }

  #callDelivered(): FinishReason {
    this.#calls++;
    return this.#options.parallelToolCalls ? null : 'tool_calls';
  }

  #cutCall(index: number): FinishReason {
    const mode = this.#options.incompleteToolCalls;
    if (mode === 'separate') {
      this.#incomplete.push(index);
      return null;
    }
    if (mode === 'close') this.#arguments(index, this.#closer?.closers() ?? '');
    return this.#callDelivered();
  }

  #arguments(index: number, text: string): void {
    this.#closer?.push(text);
    this.#append({ tool_calls: [{ index, function: { arguments: text } }] });
  }

  #content(text: string): void {
    this.#append({ content: text });
  }

  /** Adds to the pending deltas; a neighbour of the same kind is prolonged, so a chunk holds one kind. */
  #append(delta: ChatCompletionDelta): void {
    const call = delta.tool_calls?.[0];
    if (delta.content === '' || delta.reasoning === '') return;
    if (call && call.id === undefined && call.function?.arguments === '') return;
    const pending = this.#deltas.at(-1);
    const last = pending?.delta;
    if (last?.content && delta.content) last.content += delta.content;
    else if (last?.reasoning && delta.reasoning) last.reasoning += delta.reasoning;
    else if (!(call && prolongCall(last?.tool_calls?.[0], call))) {
      this.#deltas.push({ delta, tokens: this.#tokens });
      return;
    }
    pending!.tokens = this.#tokens;
  }

  #take(): ChatCompletionChunkChoice[] {
    const deltas = this.#deltas;
    this.#deltas = [];
    const { choice: index, record } = this.#options;
    return deltas.map(({ delta, tokens }) => ({
      index,
      delta,
      ...record?.take(tokens),
      finish_reason: null,
    }));
  }

  #last(finish: FinishReason): ChatCompletionChunkChoice[] {
    this.#ended = true;
    const parts = this.#take();
    const { choice: index, record } = this.#options;
    const last: ChatCompletionChunkChoice = {
      index,
      delta: {},
      ...record?.take(this.#cutAt ?? Infinity),
      finish_reason: finish,
      stop_reason: this.#stopReason,
    };
    if (this.#incomplete.length > 0) last.incomplete_tool_calls = [...this.#incomplete];
    return [...parts, last];
  }
}

/** Token by token where a choice may be cut: the parser must not have read past the cut. */
function pieces(delta: ParserDelta): ParserDelta[] {
  return 'ids' in delta
    ? Array.from(delta.ids, (id) => ({ ids: [id] }))
    : Array.from(delta.text, (text) => ({ text }));
}

/** Adds the next arguments piece to a pending delta of the same call; `false` where it is another one. */
function prolongCall(
  last: ChatCompletionToolCallDelta | undefined,
  next: ChatCompletionToolCallDelta,
): boolean {
  if (!last?.function || next.id !== undefined || last.index !== next.index) return false;
  last.function.arguments = (last.function.arguments ?? '') + (next.function?.arguments ?? '');
  return true;
}
