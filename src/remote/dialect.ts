import type { FormatReport } from '../chat/format.ts';
import type { ReasoningPlacement } from '../chat/reasoning-field.ts';
import type { AnswerReader } from './answer.ts';

/** One request as it goes to the server, and how its answer is read. */
export interface RemoteRequest {
  /** Below the base URL. */
  path: string;
  body: Record<string, unknown>;
  /** Whether the caller gets a stream; the server is asked for one in any case. */
  stream: boolean;
  reader: AnswerReader;
  /** Puts the reasoning elsewhere than in `reasoning`. */
  placement: ReasoningPlacement | null;
}

/** Where a model's output is split: by the server, or here. */
export interface Dialect {
  /** What splits the output here; `null` where the server does. */
  readonly format: FormatReport | null;
  /**
   * Throws a `BadRequestError` that names the field.
   *
   * @param model the name that the server knows the model by
   */
  prepare(body: unknown, model: string, signal: AbortSignal): Promise<RemoteRequest>;
  close(): Promise<void>;
}
