import { deserializeError, type ErrorName, serializeError, TokenprismError } from '../errors.ts';

/** Another try meets the same error: OpenAI's clients are told not to make it. */
const lasting: ReadonlySet<ErrorName> = new Set([
  'EngineClosedError',
  'ModelLoadError',
  'WebGPUUnavailableError',
]);

/** OpenAI's error object for whatever was thrown: `{ error: { message, type, param, code } }`. */
export function errorBody(thrown: unknown): ReturnType<TokenprismError['toJSON']> {
  return named(thrown).toJSON();
}

/** The response to a request that failed: the error's status and OpenAI's body. */
export function errorResponse(thrown: unknown): Response {
  const error = named(thrown);
  const headers: HeadersInit = lasting.has(error.name) ? { 'x-should-retry': 'false' } : {};
  return Response.json(error, { status: error.status, headers });
}

/** The response to a request that no part of the engine has seen. */
export function refusal(status: number, code: string, message: string, headers: HeadersInit = {}): Response {
  const error = { message, type: 'invalid_request_error', param: null, code };
  return Response.json({ error }, { status, headers });
}

function named(thrown: unknown): TokenprismError {
  return thrown instanceof TokenprismError ? thrown : deserializeError(serializeError(thrown));
}
