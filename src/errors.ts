/**
 * Every error that a caller can meet, by name. An error that crosses from the worker travels as
 * {@link SerializedError} and is an instance of its class again on the page.
 */

/** An error as it crosses `postMessage`. */
export interface SerializedError {
  name: ErrorName;
  message: string;
  /** HTTP status that an OpenAI server would answer with. */
  status: number;
  /** OpenAI's machine-readable code, for example `context_length_exceeded`. */
  code: string | null;
  /** The request field at fault, as a path such as `messages[2].content`. */
  param: string | null;
  /** Of what there is too little of. */
  bytes?: ByteShortage;
}

/** Bytes that something needs, and those that there are for it. */
export interface ByteShortage {
  needed: number;
  available: number;
}

export interface ErrorDetails {
  param?: string | null;
  code?: string | null;
  cause?: unknown;
  bytes?: ByteShortage;
}

/** The base of all errors thrown by Tokenprism; has the fields of OpenAI's error object. */
export class TokenprismError extends Error {
  override name: ErrorName = 'TokenprismError';
  readonly status: number = 500;
  readonly code: string | null;
  readonly param: string | null;
  /** Of an error about room, a `StorageQuotaError` or the code `model_too_large`: the numbers, where they are known. */
  readonly bytes: ByteShortage | null;
  /** OpenAI's error type: `invalid_request_error` for 4xx, else `server_error`. */
  get type(): string {
    return this.status < 500 ? 'invalid_request_error' : 'server_error';
  }

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = details.code ?? null;
    this.param = details.param ?? null;
    this.bytes = details.bytes ?? null;
  }

  /** The error in the shape that an OpenAI server sends. */
  toJSON(): { error: { message: string; type: string; param: string | null; code: string | null } } {
    return { error: { message: this.message, type: this.type, param: this.param, code: this.code } };
  }
}

/** The request is wrong: nothing ran. `param` names the field, the message says what to do. */
export class BadRequestError extends TokenprismError {
  override name = 'BadRequestError' as const;
  override readonly status = 400;
}

/** The request names a model that is not the loaded one. */
export class ModelNotFoundError extends TokenprismError {
  override name = 'ModelNotFoundError' as const;
  override readonly status = 404;
}

/** The request was aborted by its caller. Named as the platform names it, so `error.name === 'AbortError'`. */
export class RequestAbortedError extends TokenprismError {
  override name = 'AbortError' as const;
  override readonly status = 499;
}

/**
 * The GPU device was lost while the request ran, ran out of memory or reported an error, and new ones did not help: the
 * engine had gone on with the answer some times. The next request tries again.
 */
export class DeviceLostError extends TokenprismError {
  override name = 'DeviceLostError' as const;
  override readonly status = 503;
}

/** WebGPU was asked for and there is none, or what there is does not compute the model right. */
export class WebGPUUnavailableError extends TokenprismError {
  override name = 'WebGPUUnavailableError' as const;
  override readonly status = 503;
}

/** A model file is missing, is not what it should be, or cannot be run. */
export class ModelLoadError extends TokenprismError {
  override name = 'ModelLoadError' as const;
  override readonly status = 500;
}

/** The model's files have to be kept, by the option `cache: 'required'`, and there is no room or no storage for them. */
export class StorageQuotaError extends TokenprismError {
  override name = 'StorageQuotaError' as const;
  override readonly status = 507;
}

/** The model computed logits from which no token can be chosen (NaN, infinite): nothing was answered from them. */
export class InvalidLogitsError extends TokenprismError {
  override name = 'InvalidLogitsError' as const;
  override readonly status = 500;
}

/** The worker died or broke its protocol, and so did the ones that came in its place; or it did not start at all. */
export class WorkerError extends TokenprismError {
  override name = 'WorkerError' as const;
  override readonly status = 500;
}

/** The engine was closed; make a new one with `createEngine`. */
export class EngineClosedError extends TokenprismError {
  override name = 'EngineClosedError' as const;
  override readonly status = 503;
}

/** No tab has an engine for the request, or the one that had it was closed. Another try may find one. */
export class EngineUnavailableError extends TokenprismError {
  override name = 'EngineUnavailableError' as const;
  override readonly status = 503;
}

/** The service worker can't be registered, or is none that takes the engine's requests. */
export class ServiceWorkerError extends TokenprismError {
  override name = 'ServiceWorkerError' as const;
  override readonly status = 500;
}

/** The answer breaks a keyword of its schema that a grammar can't hold a model to. Another try may fit. */
export class SchemaViolationError extends TokenprismError {
  override name = 'SchemaViolationError' as const;
  override readonly status = 500;
}

/** A remote server takes no key, or wants another one than `apiKey`. */
export class AuthenticationError extends TokenprismError {
  override name = 'AuthenticationError' as const;
  override readonly status = 401;
}

/** A remote server does not let this key do what was asked. */
export class PermissionDeniedError extends TokenprismError {
  override name = 'PermissionDeniedError' as const;
  override readonly status = 403;
}

/** A remote server takes no more requests for now. */
export class RateLimitError extends TokenprismError {
  override name = 'RateLimitError' as const;
  override readonly status = 429;
}

/** A remote server can't be reached, failed, broke its answer off, or gave one that is none of OpenAI's interface. */
export class RemoteServerError extends TokenprismError {
  override name = 'RemoteServerError' as const;
  override readonly status = 502;
}

/** A remote server said nothing for longer than it may. */
export class RemoteTimeoutError extends TokenprismError {
  override name = 'RemoteTimeoutError' as const;
  override readonly status = 504;
}

const classes = {
  TokenprismError,
  BadRequestError,
  ModelNotFoundError,
  AbortError: RequestAbortedError,
  DeviceLostError,
  WebGPUUnavailableError,
  ModelLoadError,
  StorageQuotaError,
  InvalidLogitsError,
  WorkerError,
  EngineClosedError,
  EngineUnavailableError,
  ServiceWorkerError,
  SchemaViolationError,
  AuthenticationError,
  PermissionDeniedError,
  RateLimitError,
  RemoteServerError,
  RemoteTimeoutError,
};

export type ErrorName = keyof typeof classes;

/** Makes any thrown value fit for `postMessage`; what is not ours becomes a `TokenprismError`. */
export function serializeError(thrown: unknown): SerializedError {
  if (thrown instanceof TokenprismError) {
    const { name, message, status, code, param, bytes } = thrown;
    return { name, message, status, code, param, ...(bytes && { bytes }) };
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { name: 'TokenprismError', message, status: 500, code: 'internal_error', param: null };
}

/** The counterpart of {@link serializeError}: an instance of the class that `name` says. */
export function deserializeError(error: SerializedError): TokenprismError {
  const ErrorClass = classes[error.name] ?? TokenprismError;
  return new ErrorClass(error.message, { code: error.code, param: error.param, bytes: error.bytes });
}
