/**
 * The agent loop: assistant → run its tool calls → tool messages → assistant again, until it answers.
 * Knows no DOM; what happens comes out as a stream of events in the order in which it happened.
 */
import type {
  ChatCompletionChunk,
  ChatCompletionMessageParam,
  ChatCompletionTool,
  RequestProgress,
} from '../src/index.ts';

/** More than any sensible question needs; a model that calls in circles stops here. */
export const maximumRounds = 6;

/** What one round may generate. Small models can fall into repeating themselves. */
const maximumTokens = 512;

export type AgentEvent =
  | { type: 'round-start'; round: number }
  | { type: 'reasoning'; text: string }
  | { type: 'content'; text: string }
  /** `index` counts the calls of this round from 0. */
  | { type: 'call-start'; index: number; name: string }
  | { type: 'call-arguments'; index: number; text: string }
  /** The call was cut inside its arguments: it is never run. */
  | { type: 'call-incomplete'; index: number }
  | { type: 'call-running'; index: number }
  /** `result` is the JSON text that the model gets. */
  | { type: 'call-result'; index: number; result: string; milliseconds: number }
  | { type: 'round-end'; tokensPerSecond: number | null }
  /** The last event. `length`: a token limit cut the answer; `rounds`: the last allowed round called tools. */
  | { type: 'end'; reason: 'answered' | 'length' | 'rounds' };

/** What the loop needs of an engine: a streaming `chat.completions.create`. */
export type Complete = (
  body: {
    messages: ChatCompletionMessageParam[];
    tools: ChatCompletionTool[];
    max_tokens: number;
    chat_template_kwargs: Record<string, unknown>;
    include_details: boolean;
    stream: true;
  },
  options: { signal: AbortSignal; onProgress?: (progress: RequestProgress) => void },
) => Promise<AsyncIterable<ChatCompletionChunk>>;

export interface AgentTools {
  definitions: ChatCompletionTool[];
  run(name: string, args: unknown): Promise<string>;
}

export interface RunOptions {
  thinking: boolean;
  signal: AbortSignal;
  /** How far the model is with reading the prompt, before the first token of a round. */
  onProgress?: (progress: RequestProgress) => void;
}

interface Call {
  id: string;
  name: string;
  arguments: string;
}

/** One conversation. `messages` is the history as the model gets it: whole messages only. */
export class Agent {
  readonly messages: ChatCompletionMessageParam[] = [];
  private readonly complete: Complete;
  private readonly tools: AgentTools;

  constructor(complete: Complete, tools: AgentTools) {
    this.complete = complete;
    this.tools = tools;
  }

  /** Adds the question to the history and answers it. */
  ask(question: string, options: RunOptions): AsyncGenerator<AgentEvent, void, undefined> {
    this.messages.push({ role: 'user', content: question });
    return this.resume(options);
  }

  /**
   * Answers what the history asks, which is also the way on after an error. Throws what the engine throws;
   * the rounds that were finished before, and after an abort the text that had come, stay in the history.
   */
  async *resume({ thinking, signal, onProgress }: RunOptions): AsyncGenerator<AgentEvent, void, undefined> {
    for (let round = 1; round <= maximumRounds; round++) {
      yield { type: 'round-start', round };
      const answer = new RoundAnswer();
      try {
        const stream = await this.complete(
          {
            messages: [...this.messages],
            tools: this.tools.definitions,
            max_tokens: maximumTokens,
            chat_template_kwargs: { enable_thinking: thinking },
            include_details: true,
            stream: true,
          },
          { signal, onProgress },
        );
        for await (const chunk of stream) yield* answer.read(chunk);
      } catch (error) {
        if (signal.aborted) this.keepPartial(answer);
        throw error;
      }
      yield { type: 'round-end', tokensPerSecond: answer.tokensPerSecond };

      const calls = answer.wholeCalls();
      this.messages.push(answer.message(calls.map(([, call]) => call)));
      if (calls.length === 0) {
        yield { type: 'end', reason: answer.finishReason === 'length' ? 'length' : 'answered' };
        return;
      }
      for (const [index, call] of calls) {
        yield { type: 'call-running', index };
        const started = performance.now();
        const result = await this.tools.run(call.name, JSON.parse(call.arguments));
        this.messages.push({ role: 'tool', tool_call_id: call.id, content: result });
        yield { type: 'call-result', index, result, milliseconds: performance.now() - started };
      }
      signal.throwIfAborted();
    }
    yield { type: 'end', reason: 'rounds' };
  }

  /** A question that was stopped before anything came is forgotten, or two questions would follow each other. */
  private keepPartial(answer: RoundAnswer): void {
    if (answer.content.trim() !== '') this.messages.push(answer.message([]));
    else if (this.messages.at(-1)?.role === 'user') this.messages.pop();
  }
}

/** Collects one streamed message for the history, and tells what each chunk brought. */
class RoundAnswer {
  content = '';
  finishReason: string | null = null;
  tokensPerSecond: number | null = null;
  private reasoning = '';
  private readonly calls = new Map<number, Call>();
  private readonly incomplete = new Set<number>();

  *read(chunk: ChatCompletionChunk): Generator<AgentEvent, void, undefined> {
    this.tokensPerSecond = chunk.tokenprism?.timings?.tokensPerSecond ?? this.tokensPerSecond;
    const choice = chunk.choices[0];
    if (!choice) return;
    const { delta } = choice;
    if (delta.reasoning) {
      this.reasoning += delta.reasoning;
      yield { type: 'reasoning', text: delta.reasoning };
    }
    if (delta.content) {
      this.content += delta.content;
      yield { type: 'content', text: delta.content };
    }
    for (const { index, id, function: called } of delta.tool_calls ?? []) {
      let call = this.calls.get(index);
      if (!call) {
        call = { id: id ?? '', name: called?.name ?? '', arguments: '' };
        this.calls.set(index, call);
        yield { type: 'call-start', index, name: call.name };
      }
      if (called?.arguments) {
        call.arguments += called.arguments;
        yield { type: 'call-arguments', index, text: called.arguments };
      }
    }
    for (const index of choice.incomplete_tool_calls ?? []) {
      this.incomplete.add(index);
      yield { type: 'call-incomplete', index };
    }
    this.finishReason = choice.finish_reason ?? this.finishReason;
  }

  /** The calls whose end was seen: the only ones that may run. */
  wholeCalls(): [index: number, call: Call][] {
    return [...this.calls].filter(([index]) => !this.incomplete.has(index));
  }

  message(calls: Call[]): ChatCompletionMessageParam {
    return {
      role: 'assistant',
      content: this.content === '' ? null : this.content,
      ...(this.reasoning !== '' && { reasoning: this.reasoning }),
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ id, name, arguments: text }) => ({
          id,
          type: 'function' as const,
          function: { name, arguments: text },
        })),
      }),
    };
  }
}
