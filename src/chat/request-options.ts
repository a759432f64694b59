import { badType, badValue } from './fields.ts';
import type { RequestOptions } from './types.ts';

const known: readonly string[] = ['signal', 'onProgress', 'incompleteToolCalls'];

/** Throws a `BadRequestError` that names the option. */
export function checkRequestOptions(options: RequestOptions): void {
  if (typeof options !== 'object' || options === null) {
    throw badType('options', 'an object such as { signal }', options);
  }
  checkOptionNames(options, known);
  const { signal, onProgress, incompleteToolCalls } = options;
  if (signal && !(signal instanceof AbortSignal)) throw badType('signal', 'an AbortSignal', signal);
  if (onProgress !== undefined && typeof onProgress !== 'function') {
    throw badType('onProgress', 'a function', onProgress);
  }
  if (incompleteToolCalls !== undefined && !/^(separate|raw|close)$/.test(incompleteToolCalls)) {
    throw badType('incompleteToolCalls', '"separate", "raw" or "close"', incompleteToolCalls);
  }
}

/** What OpenAI's client takes as well, and has no place here. */
const ofClients: Readonly<Record<string, string>> = {
  timeout: 'give a signal such as AbortSignal.timeout(milliseconds)',
  maxRetries: 'nothing is tried again here; createRemoteEngine has this option',
  headers: 'nothing goes over the network here; createRemoteEngine has this option',
};

/** Throws a `BadRequestError` for an option that is not known, by its name. */
export function checkOptionNames(options: object, names: readonly string[]): void {
  for (const [name, value] of Object.entries(options)) {
    if (names.includes(name) || value === undefined) continue;
    const advice = Object.hasOwn(ofClients, name) ? ofClients[name]! : `there are ${names.join(', ')}`;
    throw badValue(name, `'${name}' is not an option here: ${advice}.`, 'unsupported_parameter');
  }
}
