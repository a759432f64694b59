import { createParser } from 'eventsource-parser';
import { isObject } from '../chat/fields.ts';
import { RemoteServerError } from '../errors.ts';
import type { Exchange } from './exchange.ts';
import { eventFailure, Failure } from './failures.ts';

export interface StreamLimits {
  /** Milliseconds that may pass between two pieces of a stream. */
  idleTimeout: number;
}

/** How long a server may take to close a response behind `[DONE]`. */
const closingMilliseconds = 1000;

/**
 * The events of a stream, each an object of JSON, up to `[DONE]` or the stream's end: which of both is not told, since
 * it is the choices' finish reasons that make an answer whole. The exchange ends with it.
 *
 * Throws a {@link Failure} where the connection breaks, time is over, or an event is an error or no JSON.
 */
export async function* readEvents(
  response: Response,
  exchange: Exchange,
  { idleTimeout }: StreamLimits,
): AsyncGenerator<Record<string, unknown>, void> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  const waiting: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => waiting.push(data) });
  let hasBegun = false;
  let isDone = false;
  try {
    for (;;) {
      const read = await reader?.read();
      if (!read || read.done) return;
      if (hasBegun) exchange.limit(idleTimeout, 'sent nothing more of its answer');
      parser.feed(decoder.decode(read.value, { stream: true }));
      for (const data of waiting.splice(0)) {
        if (data === '[DONE]') {
          isDone = true;
          return;
        }
        const event = eventOf(data);
        if (!hasBegun) exchange.limit(idleTimeout, 'sent nothing more of its answer');
        hasBegun = true;
        yield event;
      }
    }
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown;
    const error = exchange.error(thrown, 'The connection broke off in the middle of an answer');
    throw new Failure(error, error instanceof RemoteServerError);
  } finally {
    if (isDone) void closed(reader, exchange);
    else exchange.end();
  }
}

/** A connection whose response was read to its end can serve another request. */
async function closed(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
  exchange: Exchange,
): Promise<void> {
  exchange.limit(closingMilliseconds, 'did not close its answer');
  await reader?.read().catch(() => {});
  exchange.end();
}

function eventOf(data: string): Record<string, unknown> {
  let event: unknown = null;
  try {
    event = JSON.parse(data);
  } catch {
    // Said below.
  }
  if (!isObject(event)) {
    const error = new RemoteServerError(`The server sent an event that is no chunk: ${data.slice(0, 80)}`, {
      code: 'invalid_chunk',
    });
    throw new Failure(error, false);
  }
  if ('error' in event && event.error) throw eventFailure({ error: event.error });
  return event;
}
