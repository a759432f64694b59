import type { GenerationMessage } from '../chat/answer.ts';
import type { Generation, GenerationListener } from '../chat/start.ts';
import type { TokenprismError } from '../errors.ts';
import type { FromWorker, GenerateJob } from '../protocol.ts';
import { AnswerClock } from './answer-clock.ts';
import type { Connection } from './connection.ts';

/** What is left of a request: it has ended, or was interrupted by a fault that is met. */
export type Interruption = 'ended' | 'interrupted';

export interface OpenRequestOptions {
  job: GenerateJob;
  listener: GenerationListener;
  /** Decides on a failure of the worker that runs it. */
  onFailure: (error: TokenprismError, connection: Connection) => Interruption;
  /** The request is over, however it ended. */
  onEnd: () => void;
}

/**
 * A request that has not ended, with all that another worker needs to go on with it: what was asked, and the tokens that
 * have come. Its listener hears the messages of the workers as if they were one.
 */
export class OpenRequest implements Generation {
  /** Faults that it has met while it ran. */
  faults = 0;
  readonly #options: OpenRequestOptions;
  readonly #clock = new AnswerClock();
  readonly #choices: { ids: number[]; cutAt: number | null }[];
  #generation: Generation | null = null;
  #started: Extract<FromWorker, { type: 'started' }> | null = null;
  #hasPromptLogprobs = false;
  #cachedTokens = 0;
  #isDecoding = false;
  #isRunning = false;
  #resumed = 0;

  constructor(options: OpenRequestOptions) {
    this.#options = options;
    this.#choices = Array.from({ length: options.job.choices }, () => ({ ids: [], cutAt: null }));
  }

  /** Whether the worker has begun with it. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Choices that have tokens. */
  get begun(): number {
    return this.#choices.filter(({ ids }) => ids.length > 0).length;
  }

  /** Gives the request to a worker, which goes on behind what has come. Throws where that is of no more use. */
  send(connection: Connection): void {
    this.#isRunning = false;
    this.#generation = connection.generate(this.#job(), {
      message: (message) => this.#receive(message),
      fail: (error) => {
        this.#generation = null;
        if (this.#options.onFailure(error, connection) === 'ended') this.fail(error);
      },
    });
  }

  /** Gives it to another worker after a fault. */
  resume(connection: Connection): void {
    if (this.#isRunning) this.#resumed++;
    this.send(connection);
  }

  fail(error: TokenprismError): void {
    this.#options.onEnd();
    this.#options.listener.fail(error);
  }

  cut(choice: number, at: number): void {
    this.#choices[choice]!.cutAt = at;
    this.#generation?.cut(choice, at);
  }

  abort(): void {
    this.#options.onEnd();
    this.#generation?.abort();
    this.#generation = null;
  }

  #job(): GenerateJob {
    const { job } = this.#options;
    if (!this.#started) return job;
    const { promptTokenIds, seed } = this.#started;
    return {
      ...job,
      promptLogprobs: job.promptLogprobs && !this.#hasPromptLogprobs,
      resume: { promptTokenIds, seed, choices: this.#choices },
    };
  }

  #receive(message: GenerationMessage): void {
    this.#clock.see(message);
    switch (message.type) {
      case 'state':
        this.#isRunning ||= message.state !== 'queued';
        // The prompt is read again after a fault, which is nothing of the answer's.
        if (!this.#isDecoding) this.#cachedTokens = message.cached ?? this.#cachedTokens;
        this.#isDecoding ||= message.state === 'decoding';
        break;
      case 'started':
        this.#started = message;
        break;
      case 'prompt':
        this.#hasPromptLogprobs = true;
        break;
      case 'tokens':
        for (const id of message.ids) this.#choices[message.choice]?.ids.push(id);
        break;
      case 'done':
        this.#options.onEnd();
        this.#options.listener.message(this.#resumed === 0 ? message : this.#whole(message));
        return;
    }
    this.#options.listener.message(message);
  }

  /** The end of an answer that several workers have given, as if one had. */
  #whole(done: Extract<FromWorker, { type: 'done' }>): typeof done {
    return {
      ...done,
      usage: { ...done.usage, cachedTokens: this.#cachedTokens },
      timings: this.#clock.timings(done.timings, this.#resumed),
    };
  }
}
