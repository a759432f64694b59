import type { Completions } from '../chat/completions.ts';
import type { Models } from '../chat/models.ts';
import { ChatCompletionStream } from '../chat/stream.ts';
import type { ChatCompletionChunk, ChatCompletionCreateParams, IncompleteToolCalls } from '../chat/types.ts';
import { BadRequestError } from '../errors.ts';
import { eventStream } from './sse.ts';
import { wholeCalls } from './whole-calls.ts';

/** The engine, seen from its HTTP surface. */
export interface ChatSurface {
  completions: Pick<Completions, 'create'>;
  models: Pick<Models, 'list' | 'retrieve'>;
  incompleteToolCalls: IncompleteToolCalls;
}

/**
 * `POST /v1/chat/completions`: the completion as JSON, or with `stream: true` its chunks as server-sent events.
 * Throws what ended the request before its prompt was read; later errors are events of the stream.
 */
export async function completeChat(surface: ChatSurface, request: Request): Promise<Response> {
  const body = await readJson(request);
  let accept = () => {};
  const accepted = new Promise<null>((resolve) => {
    accept = () => resolve(null);
  });
  // Whatever it holds: `create` checks it.
  const answer = await surface.completions.create(body as ChatCompletionCreateParams, {
    signal: request.signal,
    onProgress: ({ state }) => {
      if (state === 'prefilling') accept();
    },
  });
  if (!(answer instanceof ChatCompletionStream)) return Response.json(answer);
  const chunks = await begun(answer, accepted);
  const served = surface.incompleteToolCalls === 'separate' ? wholeCalls(chunks) : chunks;
  return new Response(
    eventStream(served, request, () => answer.controller.abort()),
    { headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' } },
  );
}

/**
 * The stream's chunks, once `accepted` has resolved or the stream has ended; until then a request may turn out to be
 * a bad one (too long, a schema that nothing fits), which is thrown and gets a status of its own.
 */
async function begun(
  stream: ChatCompletionStream,
  accepted: Promise<null>,
): Promise<AsyncIterable<ChatCompletionChunk>> {
  const iterator = stream[Symbol.asyncIterator]();
  const early: ChatCompletionChunk[] = [];
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

async function readJson(request: Request): Promise<unknown> {
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    const got = type ? `got ${JSON.stringify(type)}` : 'there is none';
    throw new BadRequestError(`The header Content-Type must be application/json; ${got}.`, {
      code: 'unsupported_content_type',
    });
  }
  const text = await request.text();
  try {
    return JSON.parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new BadRequestError(`The body is not JSON (${why}).`, { code: 'invalid_json', cause });
  }
}
