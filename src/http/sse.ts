import { errorBody } from './errors.ts';

/**
 * The body of a streamed answer: each chunk as one server-sent event, then `data: [DONE]`. An error is an event of
 * its own, `data: {"error": …}`, which OpenAI's clients raise; no `[DONE]` follows it, as the answer is not whole.
 *
 * A chunk is taken when the reader asks for it. Cancelling the body calls `abort`; when the request's signal
 * aborts, which ends `chunks` too, the reader gets its reason at once.
 */
export function eventStream(
  chunks: AsyncIterable<object>,
  request: Request,
  abort: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const iterator = chunks[Symbol.asyncIterator]();
  const event = (data: string) => encoder.encode(`data: ${data}\n\n`);
  let ended = false;
  let onAbort = () => {};
  const end = () => {
    ended = true;
    // Through the request, which must live as long: its signal follows the caller's no longer than that.
    request.signal.removeEventListener('abort', onAbort);
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        onAbort = () => {
          end();
          controller.error(request.signal.reason);
        };
        if (request.signal.aborted) onAbort();
        else request.signal.addEventListener('abort', onAbort);
      },
      async pull(controller) {
        let last: string;
        try {
          const next = await iterator.next();
          if (ended) return;
          if (!next.done) return controller.enqueue(event(JSON.stringify(next.value)));
          last = '[DONE]';
        } catch (error) {
          if (ended) return;
          last = JSON.stringify(errorBody(error));
        }
        end();
        controller.enqueue(event(last));
        controller.close();
      },
      cancel() {
        end();
        abort();
      },
    },
    { highWaterMark: 0 },
  );
}
