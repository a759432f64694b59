import { badType, badValue, shown } from '../chat/fields.ts';
import { checkOptionNames, checkRequestOptions } from '../chat/request-options.ts';
import { ChunkQueue } from '../chat/stream.ts';
import type { ChatCompletionMessageParam } from '../chat/types.ts';
import type {
  RunnableTool,
  RunToolsOptions,
  RunToolsParams,
  ToolRunEngine,
  ToolRunEvent,
  ToolRunResult,
} from './types.ts';

/**
 * A run of {@link runTools}: iterate it for its events, once, or await its `result()`, or both. Leaving the loop early
 * aborts the run, and so does `controller.abort()`. The run never waits for a reader.
 */
export class ToolRun implements AsyncIterable<ToolRunEvent> {
  readonly controller = new AbortController();
  /**
   * The conversation so far, whole rounds only: after an error or an abort, what the next request can begin with.
   * Tools that were still running at an abort have an error as their result.
   */
  readonly messages: ChatCompletionMessageParam[] = [];
  readonly #events = new ChunkQueue<ToolRunEvent>();
  readonly #result: Promise<ToolRunResult>;

  constructor(engine: ToolRunEngine, params: RunToolsParams, options: RunToolsOptions) {
    this.#result = this.#run(engine, params, options);
    this.#result.then(
      () => this.#events.end(),
      (error) => this.#events.fail(error),
    );
  }

  /** Rejects with what ended the run before its time; what a tool throws does not. */
  result(): Promise<ToolRunResult> {
    return this.#result;
  }

  [Symbol.asyncIterator](): AsyncIterator<ToolRunEvent, undefined> {
    return {
      next: async () => {
        const value = await this.#events.next();
        return value ? { value, done: false } : { value: undefined, done: true };
      },
      return: async () => {
        this.controller.abort();
        this.#events.discard();
        return { value: undefined, done: true };
      },
    };
  }

  async #run(engine: ToolRunEngine, params: RunToolsParams, given: RunToolsOptions): Promise<ToolRunResult> {
    checkRunOptions(given);
    const { signal, ...options } = given;
    const forwardAbort = () => this.controller.abort(signal?.reason);
    if (signal?.aborted) forwardAbort();
    signal?.addEventListener('abort', forwardAbort);
    try {
      const { runLoop } = await import('./loop.ts');
      return await runLoop(engine, params, {
        ...options,
        signal: this.controller.signal,
        messages: this.messages,
        emit: (event) => this.#events.push([event]),
      });
    } finally {
      signal?.removeEventListener('abort', forwardAbort);
    }
  }
}

const optionNames = ['maxRounds', 'signal', 'onProgress'];

function checkRunOptions(given: RunToolsOptions): void {
  if (typeof given !== 'object' || given === null) {
    throw badType('options', 'an object such as { maxRounds }', given);
  }
  const { maxRounds, ...options } = given;
  if (maxRounds !== undefined && (!Number.isInteger(maxRounds) || maxRounds < 1)) {
    throw badValue('maxRounds', `'maxRounds' must be a whole number from 1 on; got ${shown(maxRounds)}.`);
  }
  if ('incompleteToolCalls' in options && options.incompleteToolCalls !== undefined) {
    throw badValue('incompleteToolCalls', "'incompleteToolCalls' is for runTools to set; remove it.");
  }
  checkOptionNames(options, optionNames);
  checkRequestOptions(options);
}

/**
 * Asks the model, runs the tools that it calls, all calls of an answer at once, gives it their results, and asks again,
 * until it answers without a call. A call of an answer that was cut is never run. `tool_choice` other than `auto` and
 * `none` holds for the first round only.
 *
 * ```ts
 * const run = runTools(engine, { messages, tools: [weather] });
 * for await (const event of run) if (event.type === 'content') show(event.text);
 * const { content, messages } = await run.result();
 * ```
 */
export function runTools(
  engine: ToolRunEngine,
  params: RunToolsParams,
  options: RunToolsOptions = {},
): ToolRun {
  return new ToolRun(engine, params, options);
}

/** Gives `run` the type of the arguments that the tool's schema says. */
export function tool<Arguments = Record<string, unknown>>(
  definition: RunnableTool<Arguments>,
): RunnableTool<Arguments> {
  return definition;
}
