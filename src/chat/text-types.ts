/** Requests for completions of raw prompts, and their answers: OpenAI's older interface with vLLM's fields. */
import type {
  CompletionCreateParamsBase,
  Completion as OpenAICompletion,
} from 'openai/resources/completions';
import type { ChatCompletionCreateParamsBase } from './types.ts';

/** Fields of the chat request that mean the same here. */
type SharedFields = Pick<
  ChatCompletionCreateParamsBase,
  | 'model'
  | 'frequency_penalty'
  | 'presence_penalty'
  | 'repetition_penalty'
  | 'logit_bias'
  | 'n'
  | 'seed'
  | 'stop'
  | 'stream_options'
  | 'temperature'
  | 'top_p'
  | 'top_k'
  | 'min_p'
  | 'stop_token_ids'
  | 'min_tokens'
  | 'ignore_eos'
  | 'skip_special_tokens'
  | 'return_token_ids'
  | 'response_format'
  | 'structured_outputs'
  | 'user'
>;

export interface TextCompletionCreateParamsBase extends SharedFields {
  /** A text, several, the ids of one, or those of several. Spellings of special tokens are tokens. */
  prompt: CompletionCreateParamsBase['prompt'];
  /** Default 16, as OpenAI has it; 0 only with `echo`. */
  max_tokens?: number | null;
  /** `true`: the text begins with the prompt, and logprobs with its tokens'. */
  echo?: boolean | null;
  /** Log probabilities of each token and so many of the most probable ones, 0 to 20. */
  logprobs?: number | null;
  /** What the tokenizer puts around a text, such as a token for its beginning. Default `true`. */
  add_special_tokens?: boolean | null;
  /** As many as `n`: there is no choosing among more. */
  best_of?: number | null;
  stream?: boolean | null;
}

export interface TextCompletionCreateParamsStreaming extends TextCompletionCreateParamsBase {
  stream: true;
}

export interface TextCompletionCreateParamsNonStreaming extends TextCompletionCreateParamsBase {
  stream?: false | null;
}

export type TextCompletionCreateParams =
  | TextCompletionCreateParamsStreaming
  | TextCompletionCreateParamsNonStreaming;

/** One entry a token. */
export interface TextLogprobs {
  /** A token that is no whole character is `bytes:` and its bytes as `\xNN`. */
  tokens: string[];
  /** `null` for the first token of a prompt, which follows nothing. */
  token_logprobs: (number | null)[];
  /** With the token itself; `null` where no probable ones were asked for. */
  top_logprobs: (Record<string, number> | null)[] | null;
  /** Where the token begins in the choice's text, in UTF-16 code units. */
  text_offset: number[];
}

export interface TextCompletionChoice {
  /** Choices of the first prompt come first. */
  index: number;
  text: string;
  logprobs: TextLogprobs | null;
  /** `null` in all chunks of a choice but the last. */
  finish_reason: 'stop' | 'length' | null;
  stop_reason: string | number | null;
  /** With `return_token_ids`. */
  token_ids?: number[];
  /** With `return_token_ids`; in a stream on the choice's first chunk. */
  prompt_token_ids?: number[];
}

/** A whole answer, or a chunk of a streamed one. */
export interface TextCompletion extends Omit<OpenAICompletion, 'choices' | 'usage'> {
  choices: TextCompletionChoice[];
  usage?: OpenAICompletion['usage'] | null;
}
