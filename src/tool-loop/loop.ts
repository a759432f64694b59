import { CompletionCollector } from '../chat/collector.ts';
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionMessageParam,
  ChatCompletionToolCall,
} from '../chat/types.ts';
import { BadRequestError, RequestAbortedError } from '../errors.ts';
import { errorText, resultText, ToolBox } from './tools.ts';
import type {
  RunToolsOptions,
  RunToolsParams,
  ToolRunEnd,
  ToolRunEngine,
  ToolRunEvent,
  ToolRunResult,
  ToolRunUsage,
} from './types.ts';

export interface LoopOptions extends RunToolsOptions {
  signal: AbortSignal;
  /** Empty; the conversation grows in it. */
  messages: ChatCompletionMessageParam[];
  emit(event: ToolRunEvent): void;
}

const defaultRounds = 10;

/** See `runTools`. Rejects with what the engine throws, and with a `RequestAbortedError` after an abort. */
export async function runLoop(
  engine: ToolRunEngine,
  params: RunToolsParams,
  { maxRounds = defaultRounds, onProgress, ...options }: LoopOptions,
): Promise<ToolRunResult> {
  checkParams(engine, params);
  const { tools, messages, ...request } = params;
  const loop = new ToolLoop(new ToolBox(tools), options);
  options.messages.push(...messages);
  for (let round = 1; ; round++) {
    options.emit({ type: 'round-start', round });
    const stream = await engine.chat.completions.create(
      {
        ...request,
        messages: [...options.messages],
        tools: loop.tools.definitions,
        // A call that has to come would come in every round.
        ...(round > 1 && request.tool_choice && request.tool_choice !== 'none' && { tool_choice: 'auto' }),
        stream: true,
        stream_options: { include_usage: true },
      },
      // Cut calls must be known as such, whatever the engine does with them.
      { signal: options.signal, onProgress, incompleteToolCalls: 'separate' },
    );
    const end = await loop.round(round, stream);
    if (!end && round < maxRounds) continue;
    return loop.end(round, end ?? 'rounds');
  }
}

/** Texts of an answer, wherever its reasoning stood. */
type SaidText = Pick<ToolRunResult, 'content' | 'reasoning'>;

/** One run, round by round. */
class ToolLoop {
  readonly tools: ToolBox;
  readonly #options: Pick<LoopOptions, 'signal' | 'messages' | 'emit'>;
  readonly #usage: ToolRunUsage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  readonly #aborted: Promise<never>;
  #answer: SaidText = { content: null, reasoning: null };
  #dropped: ToolRunResult['dropped'] = [];

  constructor(tools: ToolBox, options: Pick<LoopOptions, 'signal' | 'messages' | 'emit'>) {
    this.tools = tools;
    this.#options = options;
    const { signal } = options;
    this.#aborted = new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
    this.#aborted.catch(() => {});
  }

  /** Reads an answer, and runs its calls where all of it came. Why the run ends here; `null` where it goes on. */
  async round(round: number, stream: AsyncIterable<ChatCompletionChunk>): Promise<ToolRunEnd | null> {
    const { emit, messages } = this.#options;
    const collector = new CompletionCollector();
    for await (const chunk of stream) {
      collector.add(chunk);
      for (const event of deltaEvents(round, chunk)) emit(event);
    }
    const completion = collector.finish();
    this.#count(completion.usage);
    const choice = completion.choices[0];
    if (!choice) throw new BadRequestError('The answer has no choice.', { code: 'no_choice' });
    const { message, finish_reason: finishReason } = choice;
    this.#answer = {
      content: message.content,
      reasoning: message.reasoning ?? message.reasoning_content ?? null,
    };
    emit({ type: 'round-end', round, completion });
    const cut = choice.incomplete_tool_calls ?? [];
    const calls = (message.tool_calls ?? []).map((call, index) => withId(call, round, index));
    const wasCut = cut.length > 0 || finishReason === 'length' || finishReason === 'content_filter';
    if (wasCut || calls.length === 0) {
      messages.push(historyMessage(this.#answer, []));
      this.#drop(round, calls, cut);
      if (!wasCut) return 'answered';
      return finishReason === 'length' ? 'length' : 'incomplete';
    }
    await this.#runCalls(round, this.#answer, calls);
    return null;
  }

  end(rounds: number, reason: ToolRunEnd): ToolRunResult {
    const result: ToolRunResult = {
      reason,
      ...this.#answer,
      rounds,
      messages: [...this.#options.messages],
      dropped: this.#dropped,
      usage: this.#usage,
    };
    this.#options.emit({ type: 'end', round: rounds, result });
    return result;
  }

  #drop(
    round: number,
    whole: readonly ChatCompletionToolCall[],
    cut: readonly ChatCompletionToolCall[],
  ): void {
    this.#dropped = [
      ...whole.map((call) => ({ call, isCut: false })),
      ...cut.map((call) => ({ call, isCut: true })),
    ];
    for (const [index, { call, isCut }] of this.#dropped.entries()) {
      const { name, arguments: text } = call.function;
      this.#options.emit({ type: 'call-dropped', round, index, id: call.id, name, arguments: text, isCut });
    }
  }

  /** All at once; their results in the order of the calls. After an abort those that had not ended have failed. */
  async #runCalls(round: number, said: SaidText, calls: ChatCompletionToolCall[]): Promise<void> {
    const { signal, messages } = this.#options;
    const contents = await Promise.all(calls.map((call, index) => this.#runCall(round, index, call)));
    messages.push(
      historyMessage(said, calls),
      ...calls.map(({ id }, index) => ({
        role: 'tool' as const,
        tool_call_id: id,
        content: contents[index]!,
      })),
    );
    if (signal.aborted) {
      throw new RequestAbortedError('The run was aborted.', {
        code: 'request_aborted',
        cause: signal.reason,
      });
    }
  }

  /** What the model reads of the call's result. Never rejects. */
  async #runCall(
    round: number,
    index: number,
    { id, function: called }: ChatCompletionToolCall,
  ): Promise<string> {
    const { emit, signal } = this.#options;
    const { name, arguments: text } = called;
    const shared = { round, index, id, name };
    emit({ type: 'tool-start', ...shared, arguments: text });
    const started = performance.now();
    try {
      const { tool, args } = await Promise.race([this.tools.read(name, text), this.#aborted]);
      signal.throwIfAborted();
      const value = await Promise.race([tool.run(args, { signal, id, round }), this.#aborted]);
      const content = resultText(value);
      emit({ type: 'tool-result', ...shared, value, content, milliseconds: performance.now() - started });
      return content;
    } catch (thrown) {
      const error = signal.aborted ? new Error('The run was aborted before the tool had ended.') : thrown;
      const content = errorText(error);
      emit({ type: 'tool-error', ...shared, error, content, milliseconds: performance.now() - started });
      return content;
    }
  }

  #count(usage: ChatCompletion['usage']): void {
    if (!usage) return;
    this.#usage.prompt_tokens += usage.prompt_tokens;
    this.#usage.completion_tokens += usage.completion_tokens;
    this.#usage.total_tokens += usage.total_tokens;
  }
}

function* deltaEvents(round: number, chunk: ChatCompletionChunk): Generator<ToolRunEvent, void, undefined> {
  const delta = chunk.choices[0]?.delta;
  if (!delta) return;
  const reasoning = delta.reasoning ?? delta.reasoning_content;
  if (reasoning) yield { type: 'reasoning', round, text: reasoning };
  if (delta.content) yield { type: 'content', round, text: delta.content };
  for (const { index, id, function: called } of delta.tool_calls ?? []) {
    if (called?.name) yield { type: 'call-start', round, index, id: id ?? '', name: called.name };
    if (called?.arguments) yield { type: 'call-arguments', round, index, text: called.arguments };
  }
}

/** The message as it goes back to the model, reasoning included: templates decide what of it to keep. */
function historyMessage(
  { content, reasoning }: SaidText,
  calls: ChatCompletionToolCall[],
): ChatCompletionMessageParam {
  return {
    role: 'assistant',
    content: content ?? (calls.length > 0 ? null : ''),
    ...(reasoning && { reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** Some servers name their calls not at all. */
function withId(call: ChatCompletionToolCall, round: number, index: number): ChatCompletionToolCall {
  return call.id ? call : { ...call, id: `call_${round}_${index}` };
}

function checkParams(engine: ToolRunEngine, params: RunToolsParams): void {
  if (typeof engine?.chat?.completions?.create !== 'function') {
    throw bad('engine', "'engine' must be an engine, with chat.completions.create.");
  }
  if (typeof params !== 'object' || params === null) {
    throw bad('params', "The second argument must be an object with 'messages' and 'tools'.");
  }
  if (!Array.isArray(params.messages)) throw bad('messages', "'messages' must be an array of messages.");
  const given: Partial<Record<string, unknown>> = { ...params };
  for (const field of ['n', 'stream', 'stream_options']) {
    if ((given[field] ?? null) !== null) throw bad(field, `'${field}' is for runTools to set; remove it.`);
  }
  for (const field of ['continue_final_message', 'echo', 'add_generation_prompt']) {
    if ((given[field] ?? null) !== null) {
      throw bad(field, `'${field}' says how one answer begins, and a run asks for several; remove it.`);
    }
  }
}

function bad(param: string, message: string): BadRequestError {
  return new BadRequestError(message, { param, code: 'invalid_value' });
}
