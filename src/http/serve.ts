import type { ChatSurface } from './chat-completions.ts';
import { errorResponse } from './errors.ts';
import { route } from './routes.ts';

/** Relative addresses resolve against it; of an address only the path counts. */
const base = 'http://engine/';

/**
 * What `fetch` does with its arguments, answered by the engine. Rejects only as `fetch` does: with the reason of
 * an aborted signal, or a `TypeError` where no request can be made of the arguments. All else is a response.
 */
export async function serve(
  surface: ChatSurface,
  input: RequestInfo | URL,
  init?: RequestInit,
): Promise<Response> {
  const isAddress = typeof input === 'string' || input instanceof URL;
  const request = new Request(isAddress ? new URL(input, base) : input, init);
  request.signal.throwIfAborted();
  try {
    return await route(surface, request);
  } catch (error) {
    request.signal.throwIfAborted();
    return errorResponse(error);
  }
}
