/**
 * What is used of `@mlc-ai/web-llm`, and nothing else of it. The package is the application's own: it comes as a
 * module by its address, when a model is loaded with it. Its types are not used, for half of this is private to it.
 */
import { ModelLoadError } from '../../../src/errors.ts';

/** The versions whose private names this backend was tested with. */
export const knownVersions = ['0.2.86'];

/** Where a model's files are, and how it is run; what else web-llm knows of it goes through unread. */
export interface ModelRecord {
  /** URL of the folder. */
  model: string;
  model_id: string;
  /** URL of the compiled model. */
  model_lib: string;
  overrides?: Record<string, unknown>;
}

export interface AppConfig {
  model_list: ModelRecord[];
  [option: string]: unknown;
}

/** Sees each row of logits in memory, and what was drawn from it. */
export interface LogitProcessor {
  processLogits(logits: Float32Array): Float32Array;
  processSampledToken(token: number): void;
  resetState(): void;
}

export interface ProgressReport {
  /** 0 to 1, of one of three phases after each other. */
  progress: number;
  text: string;
}

/** The engine's public part. */
export interface WebLlmEngine {
  reload(modelId: string, chatOptions?: Record<string, unknown>): Promise<void>;
  unload(): Promise<void>;
  resetChat(keepStats: boolean, modelId: string): Promise<void>;
  forwardTokensAndSample(inputIds: number[], isPrefill: boolean, modelId: string): Promise<number>;
}

export interface WebLlm {
  MLCEngine: new (options: {
    appConfig: AppConfig;
    initProgressCallback(report: ProgressReport): void;
    logitProcessorRegistry: Map<string, LogitProcessor>;
    logLevel: string;
  }) => WebLlmEngine;
  prebuiltAppConfig: AppConfig;
  deleteModelAllInfoInCache(modelId: string, appConfig: AppConfig): Promise<void>;
}

/** A tensor of TVM's runtime. */
export interface Tensor {
  toArray(): Float32Array;
  dispose(): void;
}

/** Takes the place of web-llm's grammar matcher: its mask is what the next row is masked with on the GPU. */
export interface MaskSource {
  /** One bit a token, as many words as {@link Pipeline.bitmaskSize}. */
  getNextTokenBitmask(): Promise<Int32Array>;
  acceptToken(token: number): boolean;
  reset(): void;
  dispose(): void;
}

/** How one token is drawn; unset: as the chat configuration says. */
export interface GenerationConfig {
  temperature: number;
  top_p: number;
  presence_penalty: number;
  frequency_penalty: number;
  repetition_penalty: number;
  logit_bias?: Record<number, number>;
  response_format?: { type: 'grammar' };
}

/** The engine's private part: a model and its KV cache. Its names are looked for before any of them is used. */
export interface Pipeline {
  tvm: { beginScope(): void; endScope(): void };
  device: { sync(): Promise<void> };
  /** Tokens read. */
  filledKVCacheLength: number;
  /** Tokens of the answer, with their counts, for the penalties. */
  appearedTokensFreq: Map<number, number>;
  fullVocabSize: number;
  bitmaskSize: number;
  prefillChunkSize: number;
  logitProcessor: LogitProcessor | undefined;
  grammarMatcher: MaskSource | undefined;
  /** Logits behind the last token, of shape [1, 1, vocabulary], on the GPU; the caller disposes of them. */
  forwardKnownTokens(ids: number[], isPrefill: boolean): Promise<Tensor | undefined>;
  /** The same for one token. */
  forwardDecodeToken(id: number): Promise<Tensor>;
  /** Masks, biases and penalizes the logits where they are, and draws from them. */
  sampleFromRawLogits(logits: Tensor, config: GenerationConfig): Promise<number>;
  /** Begins a copy of logits to memory, within a scope; it is there after `device.sync()`. */
  updateLogitsOnCPU(logits: Tensor): Tensor;
  setSeed(seed: number): void;
  resetChat(keepStats: boolean): void;
}

const publicNames: Record<string, (library: WebLlm) => unknown> = {
  MLCEngine: ({ MLCEngine }) => MLCEngine,
  'MLCEngine.reload': ({ MLCEngine }) => MLCEngine.prototype.reload,
  'MLCEngine.unload': ({ MLCEngine }) => MLCEngine.prototype.unload,
  'MLCEngine.resetChat': ({ MLCEngine }) => MLCEngine.prototype.resetChat,
  'MLCEngine.forwardTokensAndSample': ({ MLCEngine }) => MLCEngine.prototype.forwardTokensAndSample,
  deleteModelAllInfoInCache: ({ deleteModelAllInfoInCache }) => deleteModelAllInfoInCache,
};

/**
 * Fetches the package.
 *
 * @param importModule imports an ES module by its URL
 * @throws ModelLoadError when it can't be had (`web_llm_missing`), or is none that can be used (`web_llm_unsupported`)
 */
export async function importWebLlm(
  url: string,
  importModule: (url: string) => Promise<unknown>,
): Promise<WebLlm> {
  let library: WebLlm;
  try {
    library = (await importModule(url)) as WebLlm;
  } catch (cause) {
    throw new ModelLoadError(
      `@mlc-ai/web-llm could not be loaded from ${url}: ${cause instanceof Error ? cause.message : cause}. ` +
        'Install it with `npm install @mlc-ai/web-llm`, and give the address of its module as webLlm.module.',
      { code: 'web_llm_missing', cause },
    );
  }
  const missing = Object.entries(publicNames).filter(([name, find]) => {
    try {
      return typeof find(library) !== 'function';
    } catch {
      return name !== '';
    }
  });
  if (!Array.isArray(library.prebuiltAppConfig?.model_list)) {
    missing.push(['prebuiltAppConfig.model_list', () => undefined]);
  }
  if (missing.length === 0) return library;
  throw new ModelLoadError(
    `The module at ${url} is not a @mlc-ai/web-llm that can be used: it lacks ${missing.map(([name]) => name).join(', ')}. ` +
      `Known to work: ${knownVersions.join(', ')}.`,
    { code: 'web_llm_unsupported' },
  );
}
