import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionCreateParamsBase,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
  ChatCompletionToolCall,
  RequestOptions,
} from '../chat/types.ts';

/** What the loop needs of an engine. */
export interface ToolRunEngine {
  chat: {
    completions: {
      create(
        body: ChatCompletionCreateParamsStreaming,
        options?: RequestOptions,
      ): Promise<AsyncIterable<ChatCompletionChunk>>;
    };
  };
}

/**
 * A schema of a library that follows Standard Schema, for example one of zod. It checks the arguments, and where it
 * follows Standard JSON Schema too (zod from 4.2 on) it tells the model what they are.
 */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
    };
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a tool gets beside its arguments. */
export interface ToolContext {
  /** Aborts when the run does. */
  signal: AbortSignal;
  /** The call's id in the messages. */
  id: string;
  /** Counts from 1. */
  round: number;
}

/** A tool that the loop can run. */
export interface RunnableTool<Arguments = unknown> {
  name: string;
  /** What it is for, to the model. */
  description?: string;
  /**
   * A JSON schema, which is told to the model; or a {@link StandardSchema}, which also checks the arguments before
   * `run` gets them. Unset: a tool without arguments.
   */
  parameters?: StandardSchema<Arguments> | Readonly<Record<string, unknown>>;
  /** `true`: a grammar holds the model to `parameters` while it writes a call. */
  strict?: boolean;
  /** Checks or changes what was parsed of the arguments, before `run` gets it; what it throws is told to the model. */
  validate?(args: unknown): Arguments | Promise<Arguments>;
  /**
   * Answers a call. A string goes to the model as it is, anything else as JSON (`undefined` as null). What it throws is
   * told to the model as `{"error": "…"}`, and the run goes on.
   */
  run(args: Arguments, context: ToolContext): unknown;
}

/** A request of `chat.completions.create`, with tools that can be run. */
export interface RunToolsParams
  extends Omit<ChatCompletionCreateParamsBase, 'tools' | 'stream' | 'stream_options' | 'n'> {
  tools: readonly RunnableTool[];
}

export interface RunToolsOptions extends Omit<RequestOptions, 'incompleteToolCalls'> {
  /** The most answers of the model; default 10. The calls of the last one are run, and their results not read. */
  maxRounds?: number;
}

/** Why a run ended. */
export type ToolRunEnd =
  /** The model answered without a call. */
  | 'answered'
  /** A limit of tokens cut the answer: none of its calls was run. */
  | 'length'
  /** The model ended its turn inside a call, or its answer was withheld: none of its calls was run. */
  | 'incomplete'
  /** `maxRounds` answers called tools. */
  | 'rounds';

export interface ToolRunUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

export interface ToolRunResult {
  reason: ToolRunEnd;
  /** Of the last answer. */
  content: string | null;
  /** Of the last answer. */
  reasoning: string | null;
  /** Answers of the model. */
  rounds: number;
  /** The given messages and all that came: what the next request begins with. */
  messages: ChatCompletionMessageParam[];
  /** Calls of the last answer that were not run, because it was cut; `isCut`: the cut is inside this one. */
  dropped: { call: ChatCompletionToolCall; isCut: boolean }[];
  /** Summed over the rounds. */
  usage: ToolRunUsage;
}

/** What happens in a run, in order. `round` counts from 1, `index` the calls of a round from 0. */
export type ToolRunEvent = { round: number } & (
  | { type: 'round-start' }
  | { type: 'reasoning'; text: string }
  | { type: 'content'; text: string }
  | { type: 'call-start'; index: number; id: string; name: string }
  /** A piece of the call's arguments as the model writes them. */
  | { type: 'call-arguments'; index: number; text: string }
  /** The call will not be run, as its answer was cut; `isCut`: inside this call. */
  | { type: 'call-dropped'; index: number; id: string; name: string; arguments: string; isCut: boolean }
  /** The whole answer, with its usage, and its timings where the request asks for details. */
  | { type: 'round-end'; completion: ChatCompletion }
  | { type: 'tool-start'; index: number; id: string; name: string; arguments: string }
  /** `content` is what the model reads. */
  | {
      type: 'tool-result';
      index: number;
      id: string;
      name: string;
      value: unknown;
      content: string;
      milliseconds: number;
    }
  | {
      type: 'tool-error';
      index: number;
      id: string;
      name: string;
      error: unknown;
      content: string;
      milliseconds: number;
    }
  /** The last event. */
  | { type: 'end'; result: ToolRunResult }
);
