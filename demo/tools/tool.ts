import type { RunnableTool, ToolContext } from '../../src/index.ts';

export type Arguments = Record<string, unknown>;

/** What a demo tool does, without what the model is told of it: small plain JSON comes of the model's arguments. */
export interface Tool {
  /** Throws a {@link ToolError} when the arguments make no sense or there is no answer. */
  run(args: Arguments, context: ToolContext): Promise<object> | object;
  /** One sentence for people that read the result, shown beside it and never given to the model. */
  remark?: string;
}

/** A tool as `runTools` takes it, and what the page has to know of it. */
export interface DemoTool extends RunnableTool {
  description: string;
  parameters: Readonly<Record<string, unknown>>;
  remark?: string;
  /** A person is asked before it runs. */
  asks?: boolean;
}

/** The arguments of a call, which must be an object. */
export function requireObject(args: unknown): Arguments {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    throw new ToolError('the arguments must be an object');
  }
  return args as Arguments;
}

/**
 * The tool has no result. The message goes to the model, which repeats it to the user, so it is a short
 * phrase and not a sentence with advice.
 */
export class ToolError extends Error {
  override name = 'ToolError';
}

/** The value of a string argument, trimmed; it must be there and not blank. */
export function requireText(args: Arguments, key: string): string {
  const value = args[key];
  if (typeof value !== 'string' || value.trim() === '') throw new ToolError(`${key} must be a text`);
  return value.trim();
}

/** The value of an optional string argument, trimmed; `null` when it is missing or blank. */
export function optionalText(args: Arguments, key: string): string | null {
  return args[key] === undefined || args[key] === null || args[key] === '' ? null : requireText(args, key);
}

/** The value of a number argument. */
export function requireNumber(args: Arguments, key: string): number {
  const value = args[key];
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new ToolError(`${key} must be a number`);
  return value;
}

/** City and unit names are compared without case, accents, punctuation and extra spaces. */
export function fold(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/**
 * A number as people want to read it: whole numbers whole, others with 2 decimals, small ones with 3
 * significant digits (so that 2 mm in miles is not 0).
 */
export function readable(value: number): number {
  if (Number.isInteger(value)) return value;
  return Math.abs(value) >= 0.1 ? Math.round(value * 100) / 100 : Number(value.toPrecision(3));
}
