import type { LoadProgress, ModelSource, WebLlmChoice } from '../../../src/protocol.ts';
import type { ModelFiles } from '../../cache/files.ts';
import type { Backend } from '../backend.ts';
import { createWebLlmBackend } from './backend.ts';
import { type ChatConfig, readChatConfig } from './chat-config.ts';
import { importWebLlm, type ModelRecord, type WebLlm } from './library.ts';
import { weightBytes } from './progress.ts';
import { resolveModel } from './record.ts';

/** web-llm, and the model that it shall run. */
export class WebLlmLoad {
  /** Where the model's files are. */
  readonly source: ModelSource;
  /** Id in web-llm's list, where the model was named by it. */
  readonly listed: string | null;
  readonly #library: WebLlm;
  readonly #record: ModelRecord;
  readonly #choice: WebLlmChoice;
  readonly #chatOptions: Record<string, unknown>;
  #chatConfig: ChatConfig | null = null;
  #bytes = 0;

  private constructor(library: WebLlm, choice: WebLlmChoice, record: ModelRecord, source: ModelSource) {
    this.#library = library;
    this.#choice = choice;
    this.#record = record;
    this.source = source;
    this.listed = choice.listed;
    this.#chatOptions =
      choice.contextLength === null
        ? {}
        : { context_window_size: choice.contextLength, sliding_window_size: -1, attention_sink_size: -1 };
  }

  /**
   * Fetches web-llm and finds the model.
   *
   * @throws ModelLoadError when web-llm can't be had, or does not know the model
   */
  static async prepare(
    source: ModelSource,
    choice: WebLlmChoice,
    importModule: (url: string) => Promise<unknown>,
  ): Promise<WebLlmLoad> {
    const library = await importWebLlm(choice.module, importModule);
    const { record, files } = resolveModel(source, choice, library);
    return new WebLlmLoad(library, choice, record, files);
  }

  /** What `config.json` and `generation_config.json` say of other models. */
  async configurations(
    files: ModelFiles,
  ): Promise<{ config: Record<string, unknown>; generation: Record<string, unknown> }> {
    const [file, manifest] = await Promise.all([
      files.json('mlc-chat-config.json'),
      files.optionalJson('tensor-cache.json'),
    ]);
    this.#bytes = weightBytes(manifest);
    this.#chatConfig = readChatConfig(file, { ...this.#record.overrides, ...this.#chatOptions });
    return this.#chatConfig;
  }

  /** After {@link configurations}. */
  createBackend(
    vocabularySize: number,
    onProgress: (progress: LoadProgress) => void,
    signal: AbortSignal,
  ): Promise<Backend> {
    if (!this.#chatConfig) throw new Error('The configurations of the model have not been read.');
    const { config, quantization } = this.#chatConfig;
    return createWebLlmBackend({
      library: this.#library,
      record: this.#record,
      chatOptions: this.#chatOptions,
      route: this.#choice.route,
      contextLength: config.max_position_embeddings,
      width: config.vocab_size,
      vocabularySize,
      quantization,
      bytes: this.#bytes,
      onProgress,
      signal,
    });
  }
}
