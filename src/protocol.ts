/**
 * All messages between page and worker. The worker pushes, the page never pulls: a busy page does not
 * stall decoding. Everything about a request carries its number; everything about a choice its index.
 *
 * ```
 *  page                                worker
 *  load ──────────────────────────────▶
 *       ◀───────── progress … loaded | failed
 *  generate ──────────────────────────▶ queued
 *       ◀── state { prefilling, … }      rendering, prefilling
 *       ◀── started { promptTokenIds }   decoding
 *       ◀── tokens { choice, from, ids, logprobs? } …
 *  cut { choice, at } ────────────────▶  ending
 *       ◀── done { choices, usage, timings } | failed
 * ```
 */
import type { ErrorName, SerializedError } from './errors.ts';

/** Where a model's files are. */
export type ModelSource =
  /** A folder with `config.json`, `tokenizer.json`, `onnx/…`: an absolute URL that ends with `/`. */
  | { kind: 'folder'; url: string }
  /** A repository of the Hugging Face Hub, for example `onnx-community/Qwen3-0.6B-ONNX`. */
  | { kind: 'hub'; repository: string; revision: string }
  /** Single files by their name relative to the model's folder: URLs as a bundler emits them, or the files themselves. */
  | { kind: 'files'; id: string; files: Record<string, string | Blob> };

/** `auto`: WebGPU on a real GPU, WASM where there is none or only a software adapter. */
export type DeviceChoice = 'auto' | 'webgpu' | 'wasm';

/** The folder of the origin private file system where models' files are kept. */
export const modelStorageName = 'tokenprism-models';

/**
 * Whether a model's files are kept for the next visit. `auto`: where that is possible; `required`: a load that can't keep
 * them fails with a `StorageQuotaError`; `none`: they are not.
 */
export type CacheChoice = 'auto' | 'required' | 'none';

/** What a load left with the browser. */
export interface StorageReport {
  /** Whether the next load finds all files whose content is known; the small rest comes from the HTTP cache. */
  kept: boolean;
  /** Why not, for people; `null` where they are kept. */
  reason: string | null;
  /**
   * Whether the browser has promised not to evict this origin's files by itself, for which it is asked where files are
   * kept; `null` where it does not say.
   */
  persistent: boolean | null;
}

/** Weight formats by the Hub's convention; the file is `onnx/model` + suffix + `.onnx`. */
export type Dtype = 'auto' | 'fp32' | 'fp16' | 'q8' | 'q4' | 'q4f16' | 'int8' | 'uint8' | 'bnb4';

/** What computes the logits. */
export type BackendChoice =
  | { kind: 'onnx'; device: DeviceChoice; dtype: Dtype }
  | WebLlmChoice
  /** Replays given outputs through the real worker, protocol and page. For tests of everything but the model. */
  | { kind: 'scripted'; turns: ScriptedTurn[] };

/**
 * How web-llm is driven: `pipeline` leaves the logits on the GPU, by names that are private to some versions of it;
 * `public` has them in memory with each token, by names that all have; `auto`: the first where the names are there.
 */
export type WebLlmRoute = 'auto' | 'pipeline' | 'public';

/** MLC's runtime, which the application has installed. */
export interface WebLlmChoice {
  kind: 'web-llm';
  /** Absolute URL of the package's module. */
  module: string;
  /** Id of the model in web-llm's list, which then says where its files are, whatever the load says; else `null`. */
  listed: string | null;
  /** Absolute URL of the compiled model; `null`: as web-llm's list says. */
  modelLib: string | null;
  /** Tokens of prompt and answer together; `null`: as the model's record or configuration says. */
  contextLength: number | null;
  route: WebLlmRoute;
}

/**
 * One answer of the scripted backend, given out in the order of the requests (round and round).
 * `text` is tokenized with special tokens recognised; `ids` is taken as it is. An end-of-sequence token
 * is appended unless `open` is set: then the output is over with its last token, and the model ends its turn if more is
 * asked of it.
 */
export interface ScriptedTurn {
  text?: string;
  ids?: number[];
  open?: boolean;
  /** Milliseconds before each token. */
  delay?: number;
  /** Milliseconds before the first token, as if the prompt took so long to read; unset: `delay`. */
  firstDelay?: number;
  /** Fails the forward pass before this token index with a device loss, once. */
  loseDeviceAt?: number;
  /** Crashes the worker before this token index, once. */
  crashAt?: number;
  /** Fails the forward pass before the token index `at` (unset: 0) with this error, as one of the model's own. */
  error?: { name: ErrorName; message: string; at?: number };
}

/** Which device runs the model, and why that one. */
export interface DeviceReport {
  device: 'webgpu' | 'wasm' | 'scripted';
  /** One sentence for people, for example why WASM was chosen. */
  reason: string;
  /** The WebGPU adapter, `null` without one. */
  adapter: {
    vendor: string;
    architecture: string;
    device: string;
    description: string;
    isSoftware: boolean;
    features: string[];
  } | null;
  dtype: string;
  /**
   * How a decode step runs, the fastest way that the self-test passed: replayed from a captured graph (`captured`);
   * encoded anew, on a KV cache that is written in place (`static`) or one that is made anew each time (`growing`).
   */
  decode: 'captured' | 'static' | 'growing' | 'scripted';
  /** Where tokens are chosen: `gpu` reads back what sampling needs of the logits, `cpu` all of them. */
  sampling: 'gpu' | 'cpu';
  /** What keeps the model from a faster way, for people. */
  limits: string[];
}

/** What the page must know of a loaded model. */
export interface ModelReport {
  /** The name that requests and answers carry as `model`. */
  id: string;
  /** Hub `model_type`, for example `qwen3`. */
  modelType: string;
  vocabularySize: number;
  /** Tokens of prompt and answer together. */
  contextLength: number;
  eosTokenIds: number[];
  /** The default chat template, for the recognition of the format. */
  chatTemplate: string;
  /** Sampling defaults from `generation_config.json`. */
  defaults: Partial<SamplingOptions>;
  /** The commit of a Hub repository that the files are of; unset for other models. */
  revision?: string;
  /** What of the files is kept for the next load; unset where none can be, as of the embedded model. */
  storage?: StorageReport;
}

/**
 * The vocabulary as bytes: token `id` is `bytes.subarray(offsets[id], offsets[id + 1])`.
 * Detokenizing is appending bytes and decoding UTF-8.
 */
export interface TokenTable {
  bytes: Uint8Array;
  /** Length is the vocabulary size + 1. */
  offsets: Uint32Array;
  /** One byte a token, see {@link TokenFlag}. */
  flags: Uint8Array;
}

/** Bits of `TokenTable.flags`. */
export const TokenFlag = {
  /** An added token: matched whole in the tokenizer's input, never merged from others. */
  added: 1,
  /** A control token (`special: true`): no text of the model's answer unless a format declares it. */
  special: 2,
} as const;

/** How the next token is chosen. Unset means the model's `generation_config.json`, then the neutral value. */
export interface SamplingOptions {
  /** 0 is greedy. */
  temperature: number;
  /** 0 is off. */
  topK: number;
  /** 1 is off. */
  topP: number;
  /** 0 is off; relative to the largest probability. */
  minP: number;
  /** 1 is off; over prompt and answer. */
  repetitionPenalty: number;
  /** 0 is off; over the answer. */
  presencePenalty: number;
  /** 0 is off; over the answer, by count. */
  frequencyPenalty: number;
  /** The same seed, request and device give the same tokens. `null`: a fresh one, reported in `started`. */
  seed: number | null;
}

/** A message as the chat template reads it: `content` is text, `arguments` an object where it parses. */
export interface TemplateMessage {
  role: string;
  content: string | null;
  reasoning?: string;
  name?: string;
  tool_call_id?: string;
  tool_calls?: {
    id: string;
    type: 'function';
    function: { name: string; arguments: Record<string, unknown> | string };
  }[];
}

/** A function that a call may name, and what its arguments are held to: a JSON schema, or `true` for any object. */
export interface ConstrainedFunction {
  name: string;
  schema: unknown;
  /** Where the schema stands in the request, for errors: `tools[0].function.parameters`. */
  path: string;
}

/** What the content of an answer is held to. `path` names the request field, for errors. */
export type ContentConstraint = { path: string } & (
  | { kind: 'json'; schema: unknown }
  | { kind: 'regex'; pattern: string }
  | { kind: 'choice'; choices: string[] }
  | { kind: 'grammar'; source: string }
  | { kind: 'structural_tag'; tag: unknown }
);

/** What an answer is held to while it is sampled, in the format that the page splits it by. */
export interface Constraint {
  /** Names of the formats, as the registry knows them. */
  format: { reasoning: string | null; tools: string | null };
  /** Calls in the family's own envelope; `null`: not held to one. */
  calls: {
    choice: 'auto' | 'required' | { name: string };
    parallel: boolean;
    functions: ConstrainedFunction[];
  } | null;
  content: ContentConstraint | null;
  /** After so many tokens of reasoning its end marker is forced. */
  thinkingTokenBudget: number | null;
}

/**
 * Where a prompt ends: with the beginning of the model's turn; behind the last message as the template closes it; or
 * inside the content or reasoning of the last message, which the model then goes on with.
 */
export type PromptEnd = 'turn' | 'messages' | 'content' | 'reasoning';

/** The text of a prompt's last message that an answer goes on with. */
export const continuedText = (end: PromptEnd | undefined): 'content' | 'reasoning' | null =>
  end === 'content' || end === 'reasoning' ? end : null;

/** A prompt that is given as it is, instead of a conversation. */
export type GivenPrompt =
  /** Spellings of special tokens are tokens; `addSpecialTokens`: what the tokenizer puts around a text is put there. */
  { text: string; addSpecialTokens: boolean } | { ids: readonly number[] };

/** What a prompt is made of. */
export type PromptJob = Pick<
  GenerateJob,
  'messages' | 'tools' | 'templateArguments' | 'promptEnd' | 'prompt'
>;

/** One request, as the worker needs it. */
export interface GenerateJob {
  messages: TemplateMessage[];
  /** OpenAI tool objects for the template; `null` when none are offered. */
  tools: unknown[] | null;
  /** Extra variables of the template, for example `{ enable_thinking: false }`. */
  templateArguments: Record<string, unknown>;
  /** Unset: `turn`. */
  promptEnd?: PromptEnd;
  /** In place of the messages. */
  prompt?: GivenPrompt;
  sampling: Partial<SamplingOptions>;
  /** The most tokens to generate; `null`: what the context leaves. */
  maxTokens: number | null;
  /** Parallel choices. */
  choices: number;
  /** Unset or `null`: the model writes what it likes. */
  constraint?: Constraint | null;
  /** Added to these tokens' logits, before anything is chosen. */
  logitBias?: ReadonlyMap<number, number>;
  /** Tokens that end a choice as an EOS does. */
  stopTokenIds?: readonly number[];
  /** A choice has so many tokens before an EOS or a stop token is chosen; where a grammar lets another one come. */
  minTokens?: number;
  /** An EOS ends no choice. */
  ignoreEos?: boolean;
  /** With each token, its log probability and those of so many of the most probable ones; unset or `null`: none. */
  logprobs?: number | null;
  /** The same for the prompt, whose tokens are read one by one for it. */
  promptLogprobs?: boolean;
  /** With each token, how many a grammar let come. */
  tellsAllowed?: boolean;
  /** Unset: the answer begins. */
  resume?: Resumption;
}

/** An answer that a fault cut off, as far as it has come: the worker goes on behind it, and posts what is new. */
export interface Resumption {
  /** As the first worker read the prompt. */
  promptTokenIds: Uint32Array;
  /** That the first worker reported. */
  seed: number;
  /** The tokens of each choice so far, and up to which of them it counts where it was cut. */
  choices: { ids: readonly number[]; cutAt: number | null }[];
}

export type RequestState = 'queued' | 'rendering' | 'prefilling' | 'decoding' | 'ending';

/**
 * Natural logarithms of a token's probability and of the most probable ones', best first: of the model's distribution
 * over what a grammar lets come, before bias, penalties and temperature. `-Infinity` is possible.
 */
export interface TokenLogprobs {
  logprob: number;
  top: { id: number; logprob: number }[];
}

/** Why a choice ended: an EOS or stop token, the limit, a `cut` of the page, an abort. */
export type EndReason = 'eos' | 'length' | 'cut' | 'abort';

export interface ChoiceEnd {
  choice: number;
  reason: EndReason;
  /** Tokens that count, the EOS or stop token included; after a `cut`, its `at`. */
  completionTokens: number;
}

export interface TokenUsage {
  promptTokens: number;
  /** Of the prompt, those whose keys and values were reused. */
  cachedTokens: number;
  completionTokens: number;
}

/** Milliseconds, measured in the worker. */
export interface Timings {
  queued: number;
  rendering: number;
  prefill: number;
  /** From the end of the prefill to the last token. */
  decode: number;
  /** From the arrival of the request to the first token. */
  timeToFirstToken: number;
  /** Decoded tokens a second, the first one excluded; 0 with fewer than two. */
  tokensPerSecond: number;
  /** Tokens that a grammar left no choice about, taken without a forward pass of their own. */
  forcedTokens: number;
  /** Passes of the model over tokens of the answer; the first token comes with the prefill, and needs none. */
  forwards: number;
  /** Tokens that were read in case they come, as they came earlier behind the same text. */
  draftedTokens: number;
  /** Of the drafted tokens, those that then came: each saved a pass. */
  acceptedTokens: number;
  /**
   * New workers that went on with the answer after a fault; unset for none. Times are of the whole answer then, and what
   * is counted of passes and drafts is what the last worker did.
   */
  resumed?: number;
}

/** Milliseconds of a load, measured in the worker. Tokenizer and runtime are made ready while files come. */
export interface LoadTimings {
  /** Until the last byte of the last file was there, from the network or a cache. */
  download: number;
  /** Making sessions of the weights. */
  session: number;
  /** The self-test, which compiles the GPU's kernels. */
  warmup: number;
  /** From the message `load` to the end. */
  total: number;
}

export type ToWorker =
  /**
   * `wasmUrl` is the absolute URL of ONNX Runtime's WebAssembly file. The page gives it because an application's
   * bundler follows the page's assets but not the worker's; `null`: the file that lies beside the worker. `drafts`
   * unset: tokens are drafted. `cache` unset: `auto`. `answered`: choices that the engine's earlier workers have given
   * whole, which the scripted backend does not give again; unset in its first one.
   */
  | {
      type: 'load';
      model: ModelSource;
      backend: BackendChoice;
      wasmUrl: string | null;
      drafts?: boolean;
      cache?: CacheChoice;
      answered?: number;
    }
  | { type: 'generate'; request: number; job: GenerateJob }
  /** The output of `choice` counts up to its token `at` (exclusive): a stop string, the end of the first call. */
  | { type: 'cut'; request: number; choice: number; at: number }
  | { type: 'abort'; request: number }
  /** Asks for a prompt as the model would read it: `encoded`, or `failed`. */
  | { type: 'encode'; request: number; job: PromptJob }
  /** Asks for `memory`, for tests and inspectors. */
  | { type: 'memory' }
  /** Releases everything; the worker answers with `closed` and can be terminated. */
  | { type: 'close' };

export type FromWorker =
  /**
   * The worker has started. It holds this Web Lock for as long as it lives, for one that is ended from outside says nothing;
   * `null`: none yet, or none at all where there are none.
   */
  | { type: 'alive'; lock: string | null }
  | { type: 'progress'; progress: LoadProgress }
  | { type: 'loaded'; model: ModelReport; device: DeviceReport; table: TokenTable; timings: LoadTimings }
  /** A new device after a loss; nothing else of `loaded` changes. */
  | { type: 'device'; device: DeviceReport }
  /** While prefilling: tokens of the prompt that are read, all of them, and those that earlier requests had read. */
  | { type: 'state'; request: number; state: RequestState; done?: number; total?: number; cached?: number }
  | { type: 'encoded'; request: number; promptTokenIds: Uint32Array; prompt: string }
  | { type: 'started'; request: number; promptTokenIds: Uint32Array; prompt: string; seed: number }
  /** Of the prompt's tokens, the first aside, which follows nothing. Before the answer. */
  | { type: 'prompt'; request: number; logprobs: TokenLogprobs[] }
  /**
   * `ids` are the tokens from index `from` on of this choice, in order, none left out; `logprobs` are theirs, one
   * each, where the job asks for them; so is `allowed`: of how many tokens that a grammar let come each was taken, `null`
   * where nothing held the answer.
   */
  | {
      type: 'tokens';
      request: number;
      choice: number;
      from: number;
      ids: number[];
      logprobs?: TokenLogprobs[];
      allowed?: (number | null)[];
    }
  | { type: 'done'; request: number; choices: ChoiceEnd[]; usage: TokenUsage; timings: Timings }
  /** With a request: it ends here. Without: the load failed, or the worker is of no more use. */
  | { type: 'failed'; request: number | null; error: SerializedError }
  /** Live GPU buffers of the running device; zeros where there is none. */
  | { type: 'memory'; gpuBuffers: number; gpuBytes: number }
  | { type: 'closed' };

/** Bytes of one file, or a step that has no bytes. */
export interface LoadProgress {
  phase: 'download' | 'tokenizer' | 'session' | 'warmup';
  /** File name relative to the model's folder; `null` outside of downloads. */
  file: string | null;
  loaded: number;
  /** 0 where the server does not say. */
  total: number;
  /** Of `loaded`, the bytes that came over the network in this load; unset outside of downloads. */
  received?: number;
}
