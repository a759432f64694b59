import type { BackendChoice, FromWorker, GenerateJob, ToWorker } from '../../../src/protocol.ts';

type Message<Type extends FromWorker['type']> = Extract<FromWorker, { type: Type }>;

/** Speaks the protocol with a worker of its own, for tests below the engine. Runs on the page. */
export class WorkerClient {
  readonly worker: Worker = window.startWorker();
  readonly messages: FromWorker[] = [];
  #requests = 0;
  readonly #waiting = new Set<(message: FromWorker) => void>();

  constructor() {
    this.worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      this.messages.push(data);
      for (const listener of this.#waiting) listener(data);
    };
    this.worker.onerror = (event) => {
      throw new Error(`The worker failed: ${event.message}`);
    };
  }

  send(message: ToWorker): void {
    this.worker.postMessage(message);
  }

  /** The first message from now on for which `pick` gives something. */
  next<Result>(pick: (message: FromWorker) => Result | undefined): Promise<Result> {
    return new Promise((resolve) => {
      const listener = (message: FromWorker) => {
        const picked = pick(message);
        if (picked === undefined) return;
        this.#waiting.delete(listener);
        resolve(picked);
      };
      this.#waiting.add(listener);
    });
  }

  /** Loads the embedded model. */
  async load(backend: BackendChoice): Promise<Message<'loaded'>> {
    const loaded = this.next((message) =>
      message.type === 'loaded' || (message.type === 'failed' && message.request === null)
        ? message
        : undefined,
    );
    const url = new URL('/models/tiny/', location.href).href;
    this.send({ type: 'load', model: { kind: 'folder', url }, backend, wasmUrl: null });
    const message = await loaded;
    if (message.type === 'failed') throw new Error(`${message.error.name}: ${message.error.message}`);
    return message;
  }

  /** Starts a request; `end` settles with `done` or `failed`. */
  generate(job: Partial<GenerateJob> & Pick<GenerateJob, 'messages'>) {
    const request = ++this.#requests;
    const ids: number[] = [];
    const end = this.next((message) => {
      if (message.type === 'tokens' && message.request === request && message.choice === 0)
        ids.push(...message.ids);
      const isEnd = message.type === 'done' || message.type === 'failed';
      return isEnd && message.request === request ? message : undefined;
    });
    this.send({
      type: 'generate',
      request,
      job: { tools: null, templateArguments: {}, sampling: {}, maxTokens: null, choices: 1, ...job },
    });
    return { request, ids, end };
  }

  async memory(): Promise<Message<'memory'>> {
    const answer = this.next((message) => (message.type === 'memory' ? message : undefined));
    this.send({ type: 'memory' });
    return answer;
  }

  /** Closes the model and ends the worker. */
  async close(): Promise<void> {
    const closed = this.next((message) => (message.type === 'closed' ? true : undefined));
    this.send({ type: 'close' });
    await closed;
    this.worker.terminate();
  }
}
