/** What a server says when it refuses or fails, as the errors that a caller meets. */
import { isObject } from '../chat/fields.ts';
import {
  AuthenticationError,
  BadRequestError,
  type ErrorDetails,
  ModelNotFoundError,
  PermissionDeniedError,
  RateLimitError,
  RemoteServerError,
  type TokenprismError,
} from '../errors.ts';

/** A try that failed: the error that it ends with, and whether another one may do better. */
export class Failure extends Error {
  readonly error: TokenprismError;
  readonly retry: boolean;
  /** Milliseconds that the server asks to wait; `null` where it says nothing. */
  readonly wait: number | null;

  constructor(error: TokenprismError, retry: boolean, wait: number | null = null) {
    super(error.message);
    this.error = error;
    this.retry = retry;
    this.wait = wait;
  }
}

interface Told {
  message: string | null;
  param: string | null;
  code: string | null;
}

/** Length of a text that is no JSON, as far as it is shown. */
const shownLength = 200;

/** The failure that a response with an error status stands for. Reads its body. */
export async function responseFailure(response: Response): Promise<Failure> {
  const { status, headers, url } = response;
  const text = await response.text().catch(() => '');
  const isPage = /^text\/html\b/.test(headers.get('content-type') ?? '');
  const told = isPage ? { message: null, param: null, code: null } : tellingOf(parsed(text) ?? text);
  const wait = waitOf(headers);
  const advised = headers.get('x-should-retry');
  const retry = advised === null ? isPassing(status) : advised === 'true';
  const what = isPage ? 'a web page' : 'nothing to say why';
  const message = told.message ?? `${url} answered with status ${status} and ${what}.`;
  const asks = status === 429 && wait !== null;
  const whole = asks ? `${sentence(message)} It asks to wait ${wait / 1000} s.` : message;
  return new Failure(statusError(status, { ...told, message: whole }), retry, wait);
}

/**
 * The failure that an event of a stream tells, or the body of a response whose status says that all is well. It may name
 * a status, as a response has one, or a type.
 */
export function toldFailure(body: unknown): Failure {
  const status = statusOf(body);
  const told = tellingOf(body);
  const message = told.message ?? 'The server ended its answer with an error that it does not describe.';
  return new Failure(statusError(status, { ...told, message }), isPassing(status));
}

/** Whether a body tells an error, in any of the forms that `tellingOf` reads. */
export function tellsError(body: unknown): boolean {
  return isObject(body) && (Boolean(body.error) || body.object === 'error');
}

const statusOfType: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  BadRequestError: 400,
  authentication_error: 401,
  permission_error: 403,
  rate_limit_error: 429,
  RateLimitError: 429,
};

function statusOf(body: unknown): number {
  const error = isObject(body) && isObject(body.error) ? body.error : body;
  if (!isObject(error)) return 500;
  const codes = [error.code, error.status, error.status_code].map(Number);
  const known = codes.find((code) => Number.isInteger(code) && code >= 400 && code < 600);
  return known ?? statusOfType[String(error.type)] ?? 500;
}

/** Whether another try may meet another answer. */
const isPassing = (status: number) => status === 408 || status === 409 || status === 429 || status >= 500;

function statusError(status: number, { message, param, code }: Told & { message: string }): TokenprismError {
  const details: ErrorDetails = { param, code };
  switch (status) {
    case 401:
      return new AuthenticationError(`${sentence(message)} Give the server's key as 'apiKey'.`, {
        ...details,
        code: code ?? 'invalid_api_key',
      });
    case 403:
      return new PermissionDeniedError(message, details);
    case 404:
      if (/\bmodel\b/i.test(message) && !/^https?:/.test(message)) {
        return new ModelNotFoundError(message, { param: param ?? 'model', code: code ?? 'model_not_found' });
      }
      return new RemoteServerError(
        `${sentence(message)} The server has no such path: 'baseURL' must end as its API does, often in /v1.`,
        { code: 'unknown_url' },
      );
    case 429:
      return new RateLimitError(message, { ...details, code: code ?? 'rate_limit_exceeded' });
    default:
      if (status >= 500 || status < 400)
        return new RemoteServerError(message, { code: code ?? 'server_error' });
      return new BadRequestError(message, { ...details, code: code ?? codeOf(message) });
  }
}

/** vLLM has no code for a prompt that is too long, only these words. */
const codeOf = (message: string) =>
  /maximum (?:context|model) length|longer than the maximum/i.test(message)
    ? 'context_length_exceeded'
    : null;

/**
 * OpenAI's and vLLM's `{ error: { message, … } }`, vLLM's older `{ object: 'error', message }`, `{ error: 'text' }`,
 * FastAPI's `detail`; of anything else its own text, so that no word of a server is lost.
 */
function tellingOf(body: unknown): Told {
  const error = isObject(body) && isObject(body.error) ? body.error : body;
  if (!isObject(error)) return { message: excerpt(error), param: null, code: null };
  const message =
    textOf(error.error) ??
    textOf(error.message) ??
    detailOf(error.detail) ??
    (isObject(body) ? textOf(body.message) : null) ??
    excerpt(error);
  return { message, param: textOf(error.param), code: textOf(error.code) };
}

/** A text as it is, anything else as JSON, both shortened. */
export function excerpt(value: unknown): string | null {
  const text = typeof value === 'string' ? value.trim() : JSON.stringify(value ?? '');
  if (/^(\{\}|""|)$/.test(text)) return null;
  return text.length > shownLength ? `${text.slice(0, shownLength)}…` : text;
}

/** A sentence, or a list of what is wrong with which field. */
function detailOf(detail: unknown): string | null {
  if (!Array.isArray(detail)) return textOf(detail);
  const entries = detail.filter(isObject).map(({ loc, msg }) => {
    const path = Array.isArray(loc) ? loc.filter((part) => part !== 'body').join('.') : '';
    return path ? `${path}: ${String(msg)}` : String(msg);
  });
  return entries.join('; ') || null;
}

const sentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);

/** The value of a JSON text; `null` where it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Milliseconds of `retry-after-ms`, or of `retry-after` in seconds or as a date. */
function waitOf(headers: Headers): number | null {
  const milliseconds = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  const after = headers.get('retry-after');
  if (after === null) return null;
  const wait = Number.isNaN(Number(after)) ? Date.parse(after) - Date.now() : Number(after) * 1000;
  return Number.isNaN(wait) ? null : Math.max(0, wait);
}
