import { createParser, type EventSourceMessage, type ParseError } from 'eventsource-parser';
import { isObject } from '../chat/fields.ts';
import { RemoteServerError } from '../errors.ts';
import type { Exchange } from './exchange.ts';
import { excerpt, Failure, parsed, tellsError, toldFailure } from './failures.ts';

export interface StreamLimits {
  /** Milliseconds that may pass between two pieces of a stream. */
  idleTimeout: number;
}

/** UTF-16 units of one event: tens of times what an answer with a long document in one piece takes. */
const eventLimit = 2 ** 24;

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
  const waiting: (EventSourceMessage | Failure)[] = [];
  const parser = createParser({
    maxBufferSize: eventLimit,
    onEvent: (event) => waiting.push(event),
    onError: (error) => {
      const failure = strayFailure(error);
      if (failure) waiting.push(failure);
    },
  });
  let hasBegun = false;
  let isOver = false;
  let isDone = false;
  try {
    for (;;) {
      const read = await reader?.read();
      if (!read || read.done) {
        if (isOver) return;
        // A last line without an end may hold an error.
        isOver = true;
        parser.reset({ consume: true });
      } else {
        if (hasBegun) exchange.limit(idleTimeout, 'sent nothing more of its answer');
        parser.feed(decoder.decode(read.value, { stream: true }));
      }
      for (const told of waiting.splice(0)) {
        if (told instanceof Failure) throw told;
        if (told.data.trim() === '[DONE]') {
          isDone = true;
          return;
        }
        const event = eventOf(told);
        if (event === null) continue;
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

/** `null` for what only keeps the connection alive. Throws a {@link Failure} for an error and for what is no chunk. */
function eventOf({ event: name, data }: EventSourceMessage): Record<string, unknown> | null {
  const event = parsed(data);
  if (tellsError(event)) throw toldFailure(event);
  if (name === 'error') throw toldFailure(event ?? data);
  if (isObject(event) && ('choices' in event || 'usage' in event)) return event;
  // `event: ping`, or no data at all.
  if (data.trim() === '' || (name !== undefined && name !== 'message')) return null;
  if (isObject(event)) return event;
  const error = new RemoteServerError(`The server sent an event that is no chunk: ${excerpt(data)}`, {
    code: 'invalid_chunk',
  });
  throw new Failure(error, false);
}

/**
 * An error outside of the events: older servers of llama.cpp write a line `error: {…}`, others JSON by itself. Any other
 * line that is no field of an event says nothing.
 */
function strayFailure({ type, field, value, line }: ParseError): Failure | null {
  if (type === 'max-buffer-size-exceeded') {
    const message = `The server sent an event of more than ${eventLimit} characters.`;
    return new Failure(new RemoteServerError(message, { code: 'invalid_chunk' }), false);
  }
  if (field === 'error') return toldFailure({ error: parsed(value ?? '') ?? value });
  const told = parsed(line ?? '');
  return tellsError(told) ? toldFailure(told) : null;
}
