import { type ChosenFormat, checkFormatNames, chooseFormat } from '../chat/format.ts';
import { Vocabulary } from '../detokenizer/vocabulary.ts';
import { Connection } from '../engine/connection.ts';
import type { CheckedOptions } from '../engine/options.ts';
import { ProgressSum } from '../engine/progress.ts';
import { EngineClosedError } from '../errors.ts';
import type { GenerateJob, ModelReport } from '../protocol.ts';

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

type PromptJob = Pick<GenerateJob, 'messages' | 'tools' | 'templateArguments' | 'promptEnd'>;

/**
 * Renders prompts in the worker that renders those of local models too; its model is a replay that nobody listens to,
 * so that no weights are needed. A worker that crashed is replaced at the next prompt.
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

  /** Throws a `BadRequestError` where the template refuses the messages, or they are longer than the context. */
  async render(job: PromptJob, signal: AbortSignal): Promise<RenderedPrompt> {
    const { connection } = await this.session();
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        signal.removeEventListener('abort', abort);
        end();
      };
      const abort = () => {
        generation.abort();
        settle(() => reject(signal.reason));
      };
      const generation = connection.generate(
        { ...job, sampling: {}, maxTokens: 1, choices: 1 },
        {
          message: (message) => {
            if (message.type !== 'started') return;
            generation.abort();
            settle(() => resolve({ ids: message.promptTokenIds, text: message.prompt }));
          },
          fail: (error) => settle(() => reject(error)),
        },
      );
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort);
    });
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
