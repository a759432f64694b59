import { EngineUnavailableError } from '../errors.ts';
import { errorBody } from '../http/errors.ts';
import { whenReleased } from '../locks.ts';
import type { FromEngine, Head, RequestMessage, ToEngine } from './messages.ts';

/** Where an answer streams from. */
export interface Front {
  /** Sends the request, with the port that it is answered over. */
  send(message: RequestMessage, port: MessagePort): void;
  /** Its lock, until the engine tells one of its own. */
  lock: string;
}

/** An answer that has begun. */
export interface Answer {
  response: Response;
  /** Resolves when all of it has come, or nothing more will. */
  ended: Promise<void>;
}

/**
 * One request and its answer, as the service worker has them. Resolves when the answer has begun: a whole one, or an
 * event stream with its first event; with `null` where the front or the engine went before that, so that another one
 * can be asked. An event stream whose engine goes later ends in an error event.
 *
 * @param signal ends the request; rejects with its reason unless the answer has begun
 */
export function exchange(front: Front, message: RequestMessage, signal: AbortSignal): Promise<Answer | null> {
  const { port1: port, port2 } = new MessageChannel();
  const tell = (message: ToEngine) => port.postMessage(message);
  let onEnd = () => {};
  const ended = new Promise<void>((resolve) => {
    onEnd = resolve;
  });
  return new Promise((resolve, reject) => {
    let stream: AnswerStream | null = null;
    /** Ends with the answer, or when its engine tells another sign of life. */
    let watch = new AbortController();
    let isOver = false;
    const end = () => {
      isOver = true;
      watch.abort();
      signal.removeEventListener('abort', abort);
      // What was told before still arrives.
      port.close();
      onEnd();
    };
    const abort = () => {
      tell({ type: 'abort' });
      end();
      reject(signal.reason);
    };
    const lose = () => {
      if (isOver) return;
      // In case that it is there all the same.
      tell({ type: 'abort' });
      end();
      if (stream) stream.lose();
      else resolve(null);
    };
    const watchOver = (lock: string) => {
      watch.abort();
      watch = new AbortController();
      whenReleased(lock, watch.signal).then((isReleased) => isReleased && lose());
    };
    const receive = (message: FromEngine) => {
      switch (message.type) {
        case 'elsewhere':
          return watchOver(message.lock);
        case 'whole':
          end();
          return resolve({ response: wholeResponse(message.head, message.body), ended });
        case 'begin':
          stream = new AnswerStream(message.first, {
            pull: () => tell({ type: 'pull' }),
            cancel: () => {
              tell({ type: 'abort' });
              end();
            },
          });
          return resolve({ response: stream.response(message.head), ended });
        case 'chunk':
          return stream?.push(message.bytes);
        case 'end':
          end();
          return stream?.end();
        case 'gone':
          return watchOver(front.lock);
      }
    };
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener('abort', abort);
    port.onmessage = ({ data }: MessageEvent<FromEngine>) => {
      if (!isOver) receive(data);
    };
    watchOver(front.lock);
    front.send(message, port2);
  });
}

/** Some statuses allow no body, not even an empty one. */
function wholeResponse(head: Head, body: ArrayBuffer): Response {
  return new Response(body.byteLength > 0 ? body : null, head);
}

/** The body of an answer in events: a chunk is asked for when the reader wants one. */
class AnswerStream {
  readonly #body: ReadableStream<Uint8Array>;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  /** Ends the reader's pull. */
  #pulled = () => {};

  constructor(first: Uint8Array, source: { pull(): void; cancel(): void }) {
    this.#body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          controller.enqueue(first);
        },
        pull: () =>
          new Promise<void>((resolve) => {
            this.#pulled = resolve;
            source.pull();
          }),
        cancel: () => source.cancel(),
      },
      { highWaterMark: 0 },
    );
  }

  response(head: Head): Response {
    return new Response(this.#body, head);
  }

  push(bytes: Uint8Array): void {
    this.#controller.enqueue(bytes);
    this.#pulled();
  }

  end(): void {
    this.#controller.close();
    this.#pulled();
  }

  /** Each chunk is a whole event, so another one may follow wherever the answer broke off. */
  lose(): void {
    const error = new EngineUnavailableError(
      'The answer broke off: the tab that ran the engine was closed or reloaded. Ask again; another tab takes over.',
      { code: 'engine_lost' },
    );
    this.push(new TextEncoder().encode(`data: ${JSON.stringify(errorBody(error))}\n\n`));
    this.end();
  }
}
