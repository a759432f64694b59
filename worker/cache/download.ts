import { ModelLoadError, RequestAbortedError } from '../../src/errors.ts';
import { backOff, isTemporary, longestWait, mostTries, progressBytes, retryAfter } from './retry.ts';

/** What transfers go through; replaced in tests. */
export interface Network {
  fetch(url: string, init: RequestInit): Promise<Response>;
  signal: AbortSignal;
  /** Resolves after so many milliseconds; rejects with the reason of `signal` where that aborts. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Whether the browser knows that there is no network. */
  isOffline(): boolean;
  /** How long a server may say nothing before the connection counts as broken. */
  stallMilliseconds: number;
}

/** Where the bytes go, in order. */
export interface Target {
  /** Bytes so far, those of earlier visits included. */
  readonly loaded: number;
  write(bytes: Uint8Array<ArrayBuffer>): void;
  /** What came so far is of no use. */
  restart(): void;
}

export interface Transfer {
  url: string;
  target: Target;
  /** Bytes of the whole file; `null`: what the server says. */
  size: number | null;
  /** Whether the whole is verified afterwards: parts may then be joined although the server names no version. */
  isVerified: boolean;
  cache: RequestCache;
  /** After each piece, and when the target began anew; `total` is 0 while it is not known. */
  onBytes(total: number): void;
}

/** `absent`: the server says that there is no such file; `page`: it answers with a web page in its place. */
export type TransferEnd = 'whole' | 'absent' | 'page';

/** A try that broke off: another one may do better. */
class Interruption extends Error {
  readonly code: string;
  /** Milliseconds that the server asks to wait; `null`: it does not. */
  readonly wait: number | null;

  constructor(message: string, details: { code?: string; wait?: number | null; cause?: unknown } = {}) {
    super(message, { cause: details.cause });
    this.code = details.code ?? 'download_failed';
    this.wait = details.wait ?? null;
  }
}

/** More came than the file has: it is another one. */
export class SurplusError extends Error {}

/**
 * Fetches a file into `transfer.target`. What broke off goes on from where it was, if the server can; else from the
 * beginning. Tries are bounded: see `retry.ts`.
 *
 * @throws ModelLoadError when the server refuses, or the tries are used up
 * @throws RequestAbortedError when the signal aborts
 * @throws SurplusError when more than `transfer.size` bytes come
 */
export async function download(transfer: Transfer, network: Network): Promise<TransferEnd> {
  return new Download(transfer, network).run();
}

class Download {
  readonly #transfer: Transfer;
  readonly #network: Network;
  /** ETag or date of what the target has; `null` where the server names none. */
  #version: string | null = null;
  /** Bytes that came in the running try. */
  #gained = 0;
  /** Tries in a row that asked for a range and got no answer: it may be the range that is refused. */
  #silentRanges = 0;

  constructor(transfer: Transfer, network: Network) {
    this.#transfer = transfer;
    this.#network = network;
  }

  async run(): Promise<TransferEnd> {
    const { url } = this.#transfer;
    let hasBegun = false;
    for (let failures = 0; ; ) {
      this.#gained = 0;
      let interruption: Interruption;
      try {
        return await this.#try();
      } catch (error) {
        if (this.#network.signal.aborted) throw aborted(this.#network.signal);
        if (!(error instanceof Interruption)) throw error;
        interruption = error;
      }
      hasBegun ||= this.#gained > 0;
      failures = this.#gained >= progressBytes ? 1 : failures + 1;
      const { message, code, cause } = interruption;
      const tooLong = (interruption.wait ?? 0) > longestWait;
      const isOffline = !hasBegun && this.#network.isOffline();
      if (failures >= mostTries || tooLong || isOffline) {
        const tries = isOffline
          ? 'there is no network'
          : tooLong
            ? 'the wait is too long'
            : `${failures} tries`;
        throw new ModelLoadError(`${url} could not be downloaded (${tries}): ${message}`, { cause, code });
      }
      await this.#wait(interruption.wait ?? backOff(failures, Math.random));
    }
  }

  async #wait(milliseconds: number): Promise<void> {
    const { signal, wait } = this.#network;
    try {
      await wait(milliseconds, signal);
    } catch (error) {
      throw signal.aborted ? aborted(signal) : error;
    }
  }

  async #try(): Promise<TransferEnd> {
    const { target, size, isVerified } = this.#transfer;
    if (size !== null && target.loaded === size && size > 0) return 'whole';
    // Without a name for the version nobody knows whether the rest belongs to what is there.
    if (!isVerified && this.#version === null) this.#restart();
    const attempt = new AbortController();
    try {
      return await this.#request(attempt.signal);
    } finally {
      // Whatever still comes is of no use.
      attempt.abort();
    }
  }

  async #request(attempt: AbortSignal): Promise<TransferEnd> {
    const { url, target, cache } = this.#transfer;
    const from = this.#silentRanges < 2 ? target.loaded : 0;
    const headers: Record<string, string> = from > 0 ? { range: `bytes=${from}-` } : {};
    let response: Response;
    try {
      const signal = AbortSignal.any([this.#network.signal, attempt]);
      response = await this.#patiently(this.#network.fetch(url, { signal, headers, cache }));
    } catch (cause) {
      if (from > 0) this.#silentRanges++;
      else this.#silentRanges = 0;
      if (cause instanceof Interruption) throw cause;
      throw new Interruption(
        `${messageOf(cause)}. Check the address, the network and, on another origin, its CORS headers.`,
        { cause },
      );
    }
    this.#silentRanges = 0;
    const end = this.#judge(response, from);
    if (end) return end;
    return this.#read(response, this.#begin(response, from));
  }

  /** Ends what is no file; `null` where it may be one. */
  #judge({ status, ok, headers }: Response, from: number): TransferEnd | null {
    const { url } = this.#transfer;
    if (status === 404 || status === 410) return 'absent';
    if (status === 416 && from > 0) {
      // There is no more than what is here, which is not the whole.
      this.#restart();
      throw new Interruption('the server has no such range of the file', { code: 'download_incomplete' });
    }
    if (isTemporary(status)) {
      const wait = retryAfter(headers.get('retry-after'), Date.now());
      const asked = wait === null ? '' : ` and asks to wait ${Math.ceil(wait / 1000)} s`;
      throw new Interruption(`it answered with status ${status}${asked}. Try again later.`, { wait });
    }
    if (!ok) {
      throw new ModelLoadError(`${url} answered with status ${status}.${statusAdvice(status)}`, {
        code: 'download_refused',
      });
    }
    // Single-page servers answer any missing path with their page and status 200; so do portals of guest networks.
    return /^\s*text\/html\b/i.test(headers.get('content-type') ?? '') ? 'page' : null;
  }

  /** Readies the target for the body of `response`; returns the size of the whole file, `null` where it is not known. */
  #begin(response: Response, from: number): number | null {
    const { target, size, isVerified } = this.#transfer;
    const version = versionOf(response.headers);
    const length = contentLength(response.headers);
    if (target.loaded !== (response.status === 206 ? from : 0)) this.#restart();
    if (response.status !== 206) {
      this.#version = version;
      return size ?? length;
    }
    const range = contentRange(response.headers);
    const total = range?.total ?? null;
    const isSame =
      (range ? range.from === from : isVerified) &&
      (size === null || total === null || total === size) &&
      (range !== null || size === null || length === null || from + length === size) &&
      (from === 0 || this.#version === null || version === null || version === this.#version) &&
      (isVerified || from === 0 || version === this.#version);
    if (!isSame) {
      this.#restart();
      throw new Interruption('the server sent another part than it was asked for, or of another version', {
        code: 'download_incomplete',
      });
    }
    this.#version = version;
    return size ?? total ?? (length === null ? null : from + length);
  }

  async #read(response: Response, total: number | null): Promise<TransferEnd> {
    const { target, size, onBytes } = this.#transfer;
    onBytes(total ?? 0);
    const reader = response.body?.getReader();
    try {
      for (;;) {
        const bytes = reader ? await this.#piece(reader) : null;
        if (!bytes) break;
        if (target.loaded === 0 && looksLikePage(bytes)) return 'page';
        if (size !== null && target.loaded + bytes.length > size) {
          throw new SurplusError(`it has more than the ${size} bytes that it should have`);
        }
        target.write(bytes);
        this.#gained += bytes.length;
        onBytes(total ?? 0);
      }
    } finally {
      reader?.cancel().catch(() => {});
    }
    // With transfer compression more bytes arrive than announced, never fewer.
    if (total !== null && target.loaded < total) {
      throw new Interruption(`it ended after ${target.loaded} of ${total} bytes`, {
        code: 'download_incomplete',
      });
    }
    return 'whole';
  }

  /** The next bytes of a body; `null` at its end. */
  async #piece(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array<ArrayBuffer> | null> {
    try {
      const { done, value } = await this.#patiently(reader.read());
      return done ? null : (value as Uint8Array<ArrayBuffer>);
    } catch (cause) {
      if (cause instanceof Interruption || this.#network.signal.aborted) throw cause;
      throw new Interruption(
        `the connection broke after ${this.#transfer.target.loaded} bytes: ${messageOf(cause)}`,
        { code: 'download_incomplete', cause },
      );
    }
  }

  /** Waits for the server, but not for ever. */
  async #patiently<Result>(answer: Promise<Result>): Promise<Result> {
    const { signal, stallMilliseconds } = this.#network;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let stop = () => {};
    const ended = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(
          new Interruption(`the server sent nothing for ${stallMilliseconds / 1000} s`, {
            code: 'download_stalled',
          }),
        );
      }, stallMilliseconds);
      stop = () => reject(signal.reason);
      signal.addEventListener('abort', stop);
      if (signal.aborted) stop();
    });
    answer.catch(() => {});
    try {
      return await Promise.race([answer, ended]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    }
  }

  #restart(): void {
    const { target, onBytes, size } = this.#transfer;
    this.#version = null;
    if (target.loaded === 0) return;
    target.restart();
    onBytes(size ?? 0);
  }
}

export function aborted(signal: AbortSignal): RequestAbortedError {
  return new RequestAbortedError('The load was aborted.', { cause: signal.reason });
}

/** What equal parts have in common: a strong ETag, or a date. Weak ones are of files that need not be equal in bytes. */
function versionOf(headers: Headers): string | null {
  const etag = headers.get('etag');
  if (etag !== null && !etag.startsWith('W/')) return etag;
  return headers.get('last-modified');
}

/** Bytes of the body; `null` where they are of a compressed form, or not told. */
function contentLength(headers: Headers): number | null {
  const encoding = headers.get('content-encoding');
  if (encoding !== null && encoding !== 'identity') return null;
  return Number(headers.get('content-length') ?? 0) || null;
}

/** `null` where the header is missing, or hidden from pages of other origins. */
function contentRange(headers: Headers): { from: number; total: number | null } | null {
  const header = headers.get('content-range');
  if (header === null) return null;
  const match = /^\s*bytes (\d+)-\d+\/(\d+|\*)\s*$/i.exec(header);
  // A range that can't be read is none that was asked for.
  if (!match) return { from: -1, total: null };
  return { from: Number(match[1]), total: match[2] === '*' ? null : Number(match[2]) };
}

/** Neither JSON nor ONNX nor a chat template begins like a web page. */
function looksLikePage(bytes: Uint8Array): boolean {
  return /^\s*<(!doctype html|html|head|body)\b/i.test(new TextDecoder().decode(bytes.subarray(0, 64)));
}

export const messageOf = (thrown: unknown) => (thrown instanceof Error ? thrown.message : String(thrown));

function statusAdvice(status: number): string {
  if (status === 401 || status === 403) {
    return ' The repository may not exist, or be private or gated; use one that is public.';
  }
  return '';
}
