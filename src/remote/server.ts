import { isObject } from '../chat/fields.ts';
import { RemoteServerError } from '../errors.ts';
import { readEvents } from './events.ts';
import { Exchange } from './exchange.ts';
import { excerpt, Failure, parsed, responseFailure, tellsError, toldFailure } from './failures.ts';

export interface ServerOptions {
  /** Without a slash at its end. */
  baseURL: string;
  headers: Readonly<Record<string, string>>;
  fetch: typeof globalThis.fetch;
  /** Further tries after one that failed before its first chunk. */
  maxRetries: number;
  /** Milliseconds; a server that asks to wait longer is not asked again. */
  maxRetryDelay: number;
  /** Milliseconds until a response has come, or the first chunk of a stream. */
  timeout: number;
  /** Milliseconds that may pass between two pieces of a stream. */
  idleTimeout: number;
}

/** Milliseconds before the first further try; twice as many before each one after it. */
const firstDelay = 500;
const longestDelay = 8000;

/** An HTTP server that speaks OpenAI's interface. */
export class RemoteServer {
  readonly #options: ServerOptions;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  /**
   * The JSON object that a `GET` brings, or with a body a `POST`.
   *
   * @param path below the base URL, or with `isBeside` beside its `/v1`, where vLLM has what OpenAI has not
   */
  json(
    path: string,
    signal: AbortSignal,
    { body, isBeside = false }: { body?: object; isBeside?: boolean } = {},
  ): Promise<Record<string, unknown>> {
    const { baseURL } = this.#options;
    const url = `${isBeside ? baseURL.replace(/\/v1$/, '') : baseURL}${path}`;
    return this.#tries(signal, async () => {
      const exchange = new Exchange(signal);
      try {
        const response = await this.#send(exchange, url, body);
        return await objectOf(response, exchange, 'a JSON object');
      } finally {
        exchange.end();
      }
    });
  }

  /**
   * The events of the stream that a `POST` brings, once the first one has come: up to there failures that may pass are
   * tried again. Later ones are thrown as the error that they stand for, where the events are read.
   *
   * @param onAccepted called when the server has answered with a stream
   */
  events(
    path: string,
    body: object,
    signal: AbortSignal,
    onAccepted: () => void,
  ): Promise<AsyncIterable<Record<string, unknown>>> {
    return this.#tries(signal, async () => {
      const exchange = new Exchange(signal);
      const url = `${this.#options.baseURL}${path}`;
      const response = await this.#send(exchange, url, body, { accept: 'text/event-stream' });
      const type = response.headers.get('content-type') ?? '';
      if (!/^text\/event-stream\b/i.test(type)) {
        try {
          return one(await wholeAnswer(response, exchange));
        } finally {
          exchange.end();
        }
      }
      onAccepted();
      const events = readEvents(response, exchange, this.#options);
      const first = await events.next();
      if (first.done) {
        const message = 'The server ended its answer before the first chunk.';
        throw new Failure(new RemoteServerError(message, { code: 'incomplete_stream' }), true);
      }
      return followed(first.value, events);
    });
  }

  /** A response with a status of success. */
  async #send(
    exchange: Exchange,
    url: string,
    body?: object,
    accept: Record<string, string> = {},
  ): Promise<Response> {
    const { headers, timeout, fetch } = this.#options;
    exchange.limit(timeout, 'did not answer');
    let response: Response;
    try {
      response = await fetch(url, {
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
        headers: { ...(body && { 'content-type': 'application/json' }), ...accept, ...headers },
        signal: exchange.signal,
      });
    } catch (thrown) {
      exchange.end();
      const what =
        `${url} can't be reached: check 'baseURL', the network and, on another origin, ` +
        "the server's CORS headers";
      const error = exchange.error(thrown, what);
      throw new Failure(error, error instanceof RemoteServerError);
    }
    if (response.ok) return response;
    const failure = await responseFailure(response);
    exchange.end();
    throw failure;
  }

  async #tries<Value>(signal: AbortSignal, once: () => Promise<Value>): Promise<Value> {
    const { maxRetries, maxRetryDelay } = this.#options;
    for (let tried = 0; ; tried++) {
      signal.throwIfAborted();
      try {
        return await once();
      } catch (thrown) {
        if (!(thrown instanceof Failure)) throw thrown;
        const { error, retry, wait } = thrown;
        // A third at random: clients that failed together must not come back together.
        const own = Math.min(firstDelay * 2 ** tried, longestDelay) * (1 - Math.random() / 3);
        const delay = wait ?? own;
        if (!retry || tried >= maxRetries || delay > maxRetryDelay) throw error;
        await pause(delay, signal);
      }
    }
  }
}

async function* followed(
  first: Record<string, unknown>,
  rest: AsyncGenerator<Record<string, unknown>, void>,
): AsyncGenerator<Record<string, unknown>, void> {
  try {
    yield first;
    yield* rest;
  } catch (thrown) {
    throw thrown instanceof Failure ? thrown.error : thrown;
  } finally {
    await rest.return();
  }
}

async function* one(event: Record<string, unknown>): AsyncGenerator<Record<string, unknown>, void> {
  yield event;
}

/** The whole answer of a server that does not stream, as the only event. */
async function wholeAnswer(response: Response, exchange: Exchange): Promise<Record<string, unknown>> {
  const expected = 'a stream of events';
  const answer = await objectOf(response, exchange, expected);
  if (Array.isArray(answer.choices) && answer.choices.length > 0) return answer;
  throw new Failure(notThat(response, expected, JSON.stringify(answer)), false);
}

/** The JSON object of a response. Throws a {@link Failure} for anything else, and for an error that it tells. */
async function objectOf(
  response: Response,
  exchange: Exchange,
  expected: string,
): Promise<Record<string, unknown>> {
  const text = await response.text().catch((thrown: unknown) => {
    const error = exchange.error(thrown, `The answer of ${response.url} broke off`);
    throw new Failure(error, error instanceof RemoteServerError);
  });
  const body = parsed(text);
  if (tellsError(body)) throw toldFailure(body);
  if (isObject(body)) return body;
  throw new Failure(notThat(response, expected, text), false);
}

function notThat(response: Response, expected: string, text: string): RemoteServerError {
  const type = response.headers.get('content-type') ?? 'no content type';
  const said = /^text\/html\b/.test(type) ? null : excerpt(text);
  return new RemoteServerError(
    `${response.url} answered with ${type}, not with ${expected}: 'baseURL' must be the address of an ` +
      `OpenAI-compatible API, often one that ends in /v1.${said === null ? '' : ` It said: ${said}`}`,
    { code: 'invalid_answer' },
  );
}

/** Rejects with the signal's reason. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (end: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      end();
    };
    const abort = () => settle(() => reject(signal.reason));
    const timer = setTimeout(() => settle(resolve), milliseconds);
    signal.addEventListener('abort', abort);
  });
}
