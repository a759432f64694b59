import { type ChosenFormat, checkFormatNames, chooseFormat } from '../chat/format.ts';
import { Vocabulary } from '../detokenizer/vocabulary.ts';
import { Connection } from '../engine/connection.ts';
import type { CheckedOptions } from '../engine/options.ts';
import { ProgressSum } from '../engine/progress.ts';
import { EngineClosedError } from '../errors.ts';
import type { ModelReport, PromptJob } from '../protocol.ts';

/** A prompt as a chat template writes it. */
export interface RenderedPrompt {
  ids: Uint32Array;
  text: string;
}

/** A worker that has a model's tokenizer and template, and what the page makes of them. */
export interface PromptSession {
  model: ModelReport;
  vocabulary: Vocabulary;
  format: ChosenFormat;
}

/**
 * Renders prompts in a worker such as local models have, so that tokenizer and template engine are no part of the page;
 * its model is an empty script, so that no weights are needed. A worker that crashed is replaced at the next prompt.
 */
export class PromptRenderer {
  readonly #options: CheckedOptions;
  #opened: Promise<PromptSession & { connection: Connection }> | null = null;
  #isClosed = false;

  /** @param options their backend is the scripted one */
  constructor(options: CheckedOptions) {
    this.#options = options;
  }

  /** Rejects as `createEngine` does. */
  async session(): Promise<PromptSession & { connection: Connection }> {
    if (this.#isClosed) throw new EngineClosedError('The engine is closed.');
    const opened = this.#opened ?? this.#open();
    this.#opened = opened;
    try {
      const session = await opened;
      if (!session.connection.broken) return session;
    } catch (error) {
      if (this.#opened === opened) this.#opened = null;
      throw error;
    }
    if (this.#opened === opened) this.#opened = null;
    return this.session();
  }

  /**
   * Throws a `BadRequestError` where the template refuses the messages. How long they may be is the server's to say:
   * it may hold more than the model's files tell.
   */
  async render(job: PromptJob, signal: AbortSignal): Promise<RenderedPrompt> {
    const { connection } = await this.session();
    let abort = () => {};
    const aborted = new Promise<never>((_, reject) => {
      abort = () => reject(signal.reason);
    });
    signal.addEventListener('abort', abort);
    try {
      signal.throwIfAborted();
      const { promptTokenIds, prompt } = await Promise.race([connection.encode(job), aborted]);
      return { ids: promptTokenIds, text: prompt };
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const session = await this.#opened?.catch(() => null);
    await session?.connection.close();
  }

  async #open(): Promise<PromptSession & { connection: Connection }> {
    const { format: names, job, signal, onProgress, createWorker } = this.#options;
    await checkFormatNames(names);
    const progress = new ProgressSum();
    const connection = new Connection(createWorker(), {
      onProgress: (step) => onProgress?.(progress.add(step)),
    });
    const { model, table } = await connection.load(job, signal);
    try {
      const vocabulary = new Vocabulary(table);
      const format = await chooseFormat(names, { chatTemplate: model.chatTemplate, vocabulary });
      return { connection, model, vocabulary, format };
    } catch (error) {
      await connection.close();
      throw error;
    }
  }
}
