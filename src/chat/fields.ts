/** Checks of single request fields. Every error says which field, what it may be, and what it was. */
import { BadRequestError } from '../errors.ts';

export type Fields = Record<string, unknown>;

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value as it reads best in an error message; long ones are shortened. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint') {
    return `a ${typeof value}`;
  }
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array';
  if (isObject(value)) return 'an object';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

export function badType(param: string, expected: string, value: unknown): BadRequestError {
  const code = value === undefined ? 'missing_required_parameter' : 'invalid_type';
  return new BadRequestError(`'${param}' must be ${expected}; got ${shown(value)}.`, { param, code });
}

export function badValue(param: string, message: string, code = 'invalid_value'): BadRequestError {
  return new BadRequestError(message, { param, code });
}

export interface NumberRange {
  min: number;
  max: number;
  integer?: boolean;
  /** `min` itself is not allowed. */
  above?: boolean;
}

/** The number in `fields[name]`; `undefined` where it is unset. */
export function numberField(fields: Fields, name: string, range: NumberRange): number | undefined {
  const value = fields[name];
  return value === undefined || value === null ? undefined : checkNumber(value, name, range);
}

/** The value, if it is a number within the range. */
export function checkNumber(value: unknown, name: string, range: NumberRange): number {
  const { min, max, integer, above } = range;
  const kind = integer ? 'an integer' : 'a number';
  const lower = above ? `above ${min}` : `of at least ${min}`;
  const bounds =
    Number.isFinite(max) && max !== Number.MAX_SAFE_INTEGER ? `${lower} and at most ${max}` : lower;
  const expected = `${kind} ${bounds}`;
  if (typeof value !== 'number' || !Number.isFinite(value)) throw badType(name, expected, value);
  if (integer && !Number.isSafeInteger(value)) throw badType(name, expected, value);
  if (value < min || value > max || (above && value === min)) {
    const kindOfCode = integer ? 'integer' : 'decimal';
    const code = value > max ? `${kindOfCode}_above_max_value` : `${kindOfCode}_below_min_value`;
    throw badValue(name, `'${name}' must be ${expected}; got ${value}.`, code);
  }
  return value;
}

/** The boolean in `fields[name]`, or `otherwise` where it is unset. */
export function booleanField(fields: Fields, name: string, otherwise: boolean, path = name): boolean {
  const value = fields[name];
  if (value === undefined || value === null) return otherwise;
  if (typeof value !== 'boolean') throw badType(path, 'true or false', value);
  return value;
}

/**
 * A copy of `value` that is plain JSON: what the chat template is given, and what can cross to the worker.
 * Throws a `BadRequestError` where it cannot be written as JSON.
 */
export function jsonCopy(value: unknown, param: string): unknown {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const why = cause instanceof RangeError ? 'it is nested thousands of levels deep' : reason;
    throw new BadRequestError(`'${param}' cannot be written as JSON (${why}). Pass plain JSON values.`, {
      param,
      code: 'invalid_value',
      cause,
    });
  }
}
