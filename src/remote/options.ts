import { isObject, shown } from '../chat/fields.ts';
import { type ReasoningField, reasoningFields } from '../chat/reasoning-field.ts';
import type { IncompleteToolCalls } from '../chat/types.ts';
import type { EngineOptions } from '../engine/options.ts';
import { BadRequestError } from '../errors.ts';
import type { ServerOptions } from './server.ts';

/** What `parse: 'client'` needs to render prompts and to split the output; each as `createEngine` has it. */
export type ClientParseOptions = Pick<
  EngineOptions,
  'revision' | 'reasoningParser' | 'toolParser' | 'toolCalling' | 'onProgress' | 'signal' | 'worker'
> & {
  /**
   * Where tokenizer and chat template of the served model are: a Hub repository, or the URL of a folder. Default:
   * `model`, where that is a repository's name. No weights are loaded.
   */
  tokenizer?: string;
};

export interface RemoteEngineOptions extends ClientParseOptions {
  /** Address of an OpenAI-compatible API: `http://localhost:8000/v1`. */
  baseURL: string;
  /** Sent as bearer token. On a page, everybody who can open it can read it. */
  apiKey?: string | null;
  /** The name that the server knows the model by. Default: the only one that it lists. */
  model?: string;
  /** Further headers of every request. */
  headers?: Readonly<Record<string, string>>;
  /**
   * Who splits the output into reasoning, content and calls. `server` (default): the server, which answers at
   * `/chat/completions`. `client`: this side, with the server's `/completions`, for servers started without parsers.
   */
  parse?: 'server' | 'client';
  /** Further tries of a request that failed before its first chunk, where another may do better. Default 2. */
  maxRetries?: number;
  /** Milliseconds; where a server asks to wait longer, the request fails at once. Default 60 000. */
  maxRetryDelay?: number;
  /** Milliseconds until the first chunk of an answer has come. Default 600 000. */
  timeout?: number;
  /** Milliseconds that may pass between two pieces of an answer. Default 120 000. */
  idleTimeout?: number;
  /** Default `separate`. */
  incompleteToolCalls?: IncompleteToolCalls;
  /** Where answers have their reasoning, and messages theirs, unless a request says; default `reasoning`. */
  reasoningField?: ReasoningField;
  /** Default: the platform's. */
  fetch?: typeof globalThis.fetch;
}

export interface CheckedRemoteOptions {
  server: ServerOptions;
  model: string | null;
  parse: 'server' | 'client';
  client: ClientParseOptions;
  incompleteToolCalls: IncompleteToolCalls;
  reasoningField: ReasoningField;
}

const parses = ['server', 'client'] as const;
const incompleteModes: readonly IncompleteToolCalls[] = ['separate', 'raw', 'close'];
/** Longer times are none to the platform's timers. */
const longestTime = 2 ** 31 - 1;

const serverOptions = [
  'baseURL',
  'apiKey',
  'model',
  'headers',
  'parse',
  'maxRetries',
  'maxRetryDelay',
  'timeout',
  'idleTimeout',
  'incompleteToolCalls',
  'reasoningField',
  'fetch',
];
const clientOptions = [
  'tokenizer',
  'revision',
  'reasoningParser',
  'toolParser',
  'toolCalling',
  'onProgress',
  'signal',
  'worker',
] as const;

/** Throws a `BadRequestError` that names the option and what it may be. */
export function checkRemoteOptions(options: RemoteEngineOptions): CheckedRemoteOptions {
  if (!isObject(options)) throw bad('options', 'createRemoteEngine needs an object with a baseURL.');
  const known = [...serverOptions, ...clientOptions];
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) {
      throw bad(name, `createRemoteEngine has no option '${name}'; it has ${known.join(', ')}.`);
    }
  }
  const parse = oneOf('parse', options.parse ?? 'server', parses);
  const client: ClientParseOptions = {};
  for (const name of clientOptions) {
    const value = options[name];
    if (value === undefined) continue;
    if (parse === 'server') throw bad(name, `'${name}' is for parse: 'client'; remove it, or set that.`);
    Object.assign(client, { [name]: value });
  }
  const model = textOption(options, 'model');
  const apiKey = textOption(options, 'apiKey');
  const { fetch = globalThis.fetch.bind(globalThis) } = options;
  if (typeof fetch !== 'function') throw bad('fetch', "'fetch' must be a function such as the platform's.");
  return {
    server: {
      baseURL: addressOf(options.baseURL),
      headers: {
        ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
        ...headersOf(options.headers),
      },
      fetch,
      maxRetries: count('maxRetries', options.maxRetries ?? 2, 100),
      maxRetryDelay: count('maxRetryDelay', options.maxRetryDelay ?? 60_000, longestTime),
      timeout: count('timeout', options.timeout ?? 600_000, longestTime),
      idleTimeout: count('idleTimeout', options.idleTimeout ?? 120_000, longestTime),
    },
    model,
    parse,
    client,
    incompleteToolCalls: oneOf(
      'incompleteToolCalls',
      options.incompleteToolCalls ?? 'separate',
      incompleteModes,
    ),
    reasoningField: oneOf('reasoningField', options.reasoningField ?? 'reasoning', reasoningFields),
  };
}

/** The address without a slash at its end; on a page it may be relative. */
function addressOf(given: unknown): string {
  const example = 'such as "http://localhost:8000/v1"';
  if (typeof given !== 'string' || given === '') {
    throw bad('baseURL', `'baseURL' must be the address of an OpenAI-compatible API ${example}.`);
  }
  let url: URL;
  try {
    url = new URL(given, globalThis.document?.baseURI ?? globalThis.location?.href);
  } catch {
    throw bad('baseURL', `'baseURL' is no address: ${shown(given)}. Give one ${example}.`);
  }
  if (!/^https?:$/.test(url.protocol) || url.search || url.hash) {
    throw bad(
      'baseURL',
      `'baseURL' must be an http(s) address without '?' and '#' ${example}; got ${shown(given)}.`,
    );
  }
  return url.href.replace(/\/+$/, '');
}

function headersOf(headers: unknown): Record<string, string> {
  if (headers === undefined) return {};
  if (!isObject(headers)) throw bad('headers', "'headers' must be an object of names with texts.");
  const read: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string') throw bad(`headers.${name}`, `'headers.${name}' must be a text.`);
    read[name.toLowerCase()] = value;
  }
  return read;
}

function textOption(options: RemoteEngineOptions, name: 'model' | 'apiKey'): string | null {
  const value = options[name] ?? null;
  if (value === null || (typeof value === 'string' && value !== '')) return value;
  throw bad(name, `'${name}' must be a text that is not empty; got ${shown(value)}.`);
}

function count(name: string, value: unknown, most: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most) return value;
  throw bad(name, `'${name}' must be an integer from 0 to ${most}; got ${shown(value)}.`);
}

function oneOf<Value extends string>(name: string, value: Value, allowed: readonly Value[]): Value {
  if (allowed.includes(value)) return value;
  throw bad(name, `'${name}' must be one of ${allowed.join(', ')}; got ${shown(value)}.`);
}

function bad(param: string, message: string): BadRequestError {
  return new BadRequestError(message, { param, code: 'invalid_value' });
}
