import { badType } from './fields.ts';
import type { RequestOptions } from './types.ts';

/** Throws a `BadRequestError` that names the option. */
export function checkRequestOptions({ signal, onProgress, incompleteToolCalls }: RequestOptions): void {
  if (signal && !(signal instanceof AbortSignal)) throw badType('signal', 'an AbortSignal', signal);
  if (onProgress !== undefined && typeof onProgress !== 'function') {
    throw badType('onProgress', 'a function', onProgress);
  }
  if (incompleteToolCalls !== undefined && !/^(separate|raw|close)$/.test(incompleteToolCalls)) {
    throw badType('incompleteToolCalls', '"separate", "raw" or "close"', incompleteToolCalls);
  }
}
