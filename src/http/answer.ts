import type { RequestOptions } from '../chat/types.ts';
import { eventStream } from './sse.ts';

/** An answer in chunks. */
interface Streamed<Chunk> extends AsyncIterable<Chunk> {
  readonly controller: AbortController;
}

/**
 * The response to a request that is answered whole or in chunks: JSON, or server-sent events. Throws what ended the
 * request before its prompt was read; later errors are events of the stream.
 *
 * @param create makes the answer
 * @param served what goes out of the chunks
 */
export async function respond<Chunk extends object>(
  request: Request,
  create: (options: RequestOptions) => Promise<object | Streamed<Chunk>>,
  served: (chunks: AsyncIterable<Chunk>) => AsyncIterable<object> = (chunks) => chunks,
): Promise<Response> {
  let accept = () => {};
  const accepted = new Promise<null>((resolve) => {
    accept = () => resolve(null);
  });
  const answer = await create({
    signal: request.signal,
    onProgress: ({ state }) => {
      if (state === 'prefilling') accept();
    },
  });
  if (!isStreamed<Chunk>(answer)) return Response.json(answer);
  const chunks = await begun(answer, accepted);
  return new Response(
    eventStream(served(chunks), request, () => answer.controller.abort()),
    { headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' } },
  );
}

const isStreamed = <Chunk>(answer: object): answer is Streamed<Chunk> => Symbol.asyncIterator in answer;

/**
 * The stream's chunks, once `accepted` has resolved or the stream has ended; until then a request may turn out to be
 * a bad one (too long, a schema that nothing fits), which is thrown and gets a status of its own.
 */
async function begun<Chunk>(
  stream: AsyncIterable<Chunk>,
  accepted: Promise<null>,
): Promise<AsyncIterable<Chunk>> {
  const iterator = stream[Symbol.asyncIterator]();
  const early: Chunk[] = [];
  let next = iterator.next();
  for (;;) {
    const result = await Promise.race([accepted, next]);
    if (!result || result.done) break;
    early.push(result.value);
    next = iterator.next();
  }
  // The reader meets it; here it must not count as unhandled where there is none.
  next.catch(() => {});
  return (async function* () {
    yield* early;
    for (let result = await next; !result.done; result = await iterator.next()) yield result.value;
  })();
}
