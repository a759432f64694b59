/**
 * Requests and answers: the `openai` package's types, narrowed to what the engine honours and extended by
 * what it adds (`reasoning`, `incomplete_tool_calls`, sampling and template options).
 */
import type {
  ChatCompletionDeveloperMessageParam,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionStreamOptions,
  ChatCompletionAssistantMessageParam as OpenAIAssistantMessage,
  ChatCompletion as OpenAIChatCompletion,
  ChatCompletionChunk as OpenAIChatCompletionChunk,
  ChatCompletionCreateParamsBase as OpenAICreateParams,
  ChatCompletionMessage as OpenAIMessage,
  ChatCompletionMessageParam as OpenAIMessageParam,
} from 'openai/resources/chat/completions';
import type { DeviceReport, RequestState, Timings } from '../protocol.ts';
import type { ReasoningField } from './reasoning-field.ts';

export type { ChatCompletionFunctionTool, ChatCompletionTool } from 'openai/resources/chat/completions';

/** A call as it stands in a finished message: `function.arguments` is JSON text that parses. */
export type ChatCompletionToolCall = ChatCompletionMessageFunctionToolCall;

/** An assistant turn of the history; its reasoning goes to the chat template, which decides what to keep. */
export interface AssistantMessageParam extends OpenAIAssistantMessage {
  reasoning?: string | null;
  /** The older name of `reasoning`, which wins where both are given. */
  reasoning_content?: string | null;
}

export type ChatCompletionMessageParam =
  | Exclude<OpenAIMessageParam, OpenAIAssistantMessage>
  | ChatCompletionDeveloperMessageParam
  | AssistantMessageParam;

/** Fields of the OpenAI request that are honoured. */
type HonouredFields = Pick<
  OpenAICreateParams,
  | 'tools'
  | 'tool_choice'
  | 'parallel_tool_calls'
  | 'max_tokens'
  | 'max_completion_tokens'
  | 'temperature'
  | 'top_p'
  | 'presence_penalty'
  | 'frequency_penalty'
  | 'seed'
  | 'stop'
  | 'n'
  | 'reasoning_effort'
  | 'response_format'
  | 'logprobs'
  | 'top_logprobs'
  | 'logit_bias'
>;

/** Fields of the OpenAI request that change nothing here and are accepted as they come. */
type IgnoredFields = Pick<
  OpenAICreateParams,
  'user' | 'metadata' | 'store' | 'safety_identifier' | 'prompt_cache_key'
>;

export interface StructuredOutputs {
  /** A JSON schema, or its text. */
  json?: unknown;
  /** Any JSON object. */
  json_object?: boolean;
  /** A regular expression for the whole content. */
  regex?: string;
  /** The content is one of these. */
  choice?: string[];
  /** A grammar in xgrammar's EBNF whose rule `root` is the content. */
  grammar?: string;
  /** A structural tag in xgrammar's notation, or its text. */
  structural_tag?: unknown;
}

export interface ChatCompletionCreateParamsBase extends HonouredFields, IgnoredFields {
  messages: ChatCompletionMessageParam[];
  /** The loaded model's id; may be left out. */
  model?: string | null;
  stream?: boolean | null;
  stream_options?: Pick<ChatCompletionStreamOptions, 'include_usage'> | null;
  /** The k most probable tokens to sample from; 0 or -1 is off. */
  top_k?: number | null;
  /** Least probability relative to the most probable token, 0 to 1; 0 is off. */
  min_p?: number | null;
  /** Above 0; 1 is off. Over prompt and answer. */
  repetition_penalty?: number | null;
  /** Extra variables of the chat template, for example `{ enable_thinking: false }`. */
  chat_template_kwargs?: Record<string, unknown> | null;
  /** `false`: the model still thinks, its reasoning is counted but not delivered. Default `true`. */
  include_reasoning?: boolean | null;
  /** Holds the content to a form, as vLLM has it; exactly one of these. */
  structured_outputs?: StructuredOutputs | null;
  /** After so many tokens of reasoning its end is forced. */
  thinking_token_budget?: number | null;
  /** Ids of tokens that end the answer as the model's own end does: they count, and are no text of it. */
  stop_token_ids?: number[] | null;
  /** So many tokens come before the answer can end by itself, a stop token or a stop string. */
  min_tokens?: number | null;
  /** `true`: the model's own end of turn does not end the answer; `max_tokens` does. */
  ignore_eos?: boolean | null;
  /** `true`: choices carry `token_ids`, the answer or the first chunk `prompt_token_ids`. */
  return_token_ids?: boolean | null;
  /** `false`: control tokens are text of the answer, but for the one that ends it. Default `true`. */
  skip_special_tokens?: boolean | null;
  /** `false`: the prompt ends behind the last message, and does not begin the model's turn. Default `true`. */
  add_generation_prompt?: boolean | null;
  /** `true`: the model goes on with the text of the last message, which is the assistant's. */
  continue_final_message?: boolean | null;
  /** `true`: the answer begins with the text of the last message, which is the assistant's. */
  echo?: boolean | null;
  /** Where the answer has its reasoning, and messages theirs. Default as `createEngine` has it: `reasoning`. */
  reasoning_field?: ReasoningField | null;
  /** `true`: the answer, or the last chunk, carries {@link RequestDetails} as `tokenprism`. Default `false`. */
  include_details?: boolean | null;
}

export interface ChatCompletionCreateParamsStreaming extends ChatCompletionCreateParamsBase {
  stream: true;
}

export interface ChatCompletionCreateParamsNonStreaming extends ChatCompletionCreateParamsBase {
  stream?: false | null;
}

export type ChatCompletionCreateParams =
  | ChatCompletionCreateParamsStreaming
  | ChatCompletionCreateParamsNonStreaming;

/** Where a request stands before its first token; `done` and `total` are prompt tokens while prefilling. */
export interface RequestProgress {
  state: RequestState;
  done: number | null;
  total: number | null;
}

export interface RequestOptions {
  /** Aborts the request: the model is free within one step, the caller gets a `RequestAbortedError`. */
  signal?: AbortSignal | null;
  /** Called when the request moves from one state to the next, and while the prompt is read. */
  onProgress?: (progress: RequestProgress) => void;
  /** What becomes of a call that was cut; default as `createEngine` has it. */
  incompleteToolCalls?: IncompleteToolCalls;
}

/** What happened in the worker, for tools that show or measure it. Asked for with `include_details`. */
export interface RequestDetails {
  /** The rendered chat template as the model read it. */
  prompt: string;
  prompt_token_ids: number[];
  /** The seed that was used: the given one, or the one that was drawn. */
  seed: number;
  /**
   * Of each choice's tokens, those behind a cut included: of how many tokens that a grammar let come it was taken. 1: it
   * had to come; `null`: nothing held the answer there.
   */
  allowed_tokens: (number | null)[][];
  /** Milliseconds. */
  timings: Timings;
  device: DeviceReport;
}

export interface CompletionUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details: { cached_tokens: number };
  /** Tokens read inside reasoning, markers excluded, summed over the choices. */
  completion_tokens_details: { reasoning_tokens: number };
}

export type FinishReason = OpenAIChatCompletionChunk.Choice['finish_reason'];

export interface ChatCompletionMessage extends Omit<OpenAIMessage, 'tool_calls'> {
  /** `null` without any. */
  reasoning: string | null;
  /** With `reasoning_field` `reasoning_content` or `both`. */
  reasoning_content?: string | null;
  /** Whole calls only; absent without any. */
  tool_calls?: ChatCompletionToolCall[];
}

export interface ChatCompletionChoice extends Omit<OpenAIChatCompletion.Choice, 'message'> {
  message: ChatCompletionMessage;
  /** Calls that were cut inside their arguments, with the raw partial text. Never run them. */
  incomplete_tool_calls?: ChatCompletionToolCall[];
  /** The stop string, or the id of the stop token, that ended the answer; `null` where nothing of both did. */
  stop_reason: string | number | null;
  /** All tokens that count in `usage`, markers and the end included. */
  token_ids?: number[];
}

export interface ChatCompletion extends Omit<OpenAIChatCompletion, 'choices' | 'usage'> {
  choices: ChatCompletionChoice[];
  usage?: OpenAIChatCompletion['usage'];
  prompt_token_ids?: number[];
  tokenprism?: RequestDetails;
}

export type ChatCompletionToolCallDelta = OpenAIChatCompletionChunk.Choice.Delta.ToolCall;

export interface ChatCompletionDelta extends OpenAIChatCompletionChunk.Choice.Delta {
  reasoning?: string | null;
  /** With `reasoning_field` `reasoning_content` or `both`. */
  reasoning_content?: string | null;
}

export interface ChatCompletionChunkChoice extends Omit<OpenAIChatCompletionChunk.Choice, 'delta'> {
  delta: ChatCompletionDelta;
  /** On the last chunk of the choice: the `index` of each call that was cut inside its arguments. */
  incomplete_tool_calls?: number[];
  /** On the last chunk of the choice, as in a whole answer. */
  stop_reason?: string | number | null;
  /** The tokens behind those of the chunk before, up to the last one of this chunk's text. */
  token_ids?: number[];
}

export interface ChatCompletionChunk extends Omit<OpenAIChatCompletionChunk, 'choices'> {
  choices: ChatCompletionChunkChoice[];
  /** On the first chunk. */
  prompt_token_ids?: number[];
  tokenprism?: RequestDetails;
}

/** A chunk as `engine.fetch` sends it: a call is whole and in one piece, one that was cut is told of at the end. */
export interface ServedChunk extends Omit<ChatCompletionChunk, 'choices'> {
  choices: ServedChunkChoice[];
}

export interface ServedChunkChoice extends Omit<ChatCompletionChunkChoice, 'incomplete_tool_calls'> {
  /** On the last chunk of the choice, as in a whole answer. */
  incomplete_tool_calls?: ChatCompletionToolCall[];
}

/**
 * What becomes of a call that was cut inside its arguments: `separate` takes it out of `tool_calls` into
 * `incomplete_tool_calls`; `raw` leaves it in `tool_calls` as it is, as OpenAI does; `close` completes its
 * JSON with closers and leaves it in `tool_calls`.
 */
export type IncompleteToolCalls = 'separate' | 'raw' | 'close';
