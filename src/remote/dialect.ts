import type { FormatReport } from '../chat/format.ts';
import type { ChatCompletionChunk, IncompleteToolCalls } from '../chat/types.ts';
import type { AnswerReader } from './answer.ts';

/** One request as it goes to the server, and how its answer is read. */
export interface RemoteRequest<Chunk = ChatCompletionChunk> {
  /** Below the base URL. */
  path: string;
  body: Record<string, unknown>;
  /** Whether the caller gets a stream; the server is asked for one in any case. */
  stream: boolean;
  reader: AnswerReader<Chunk>;
  /** Puts the reasoning elsewhere than in `reasoning`. */
  placement: { chunks(chunks: readonly Chunk[]): Chunk[] } | null;
}

/** What a request has from its engine. */
export interface RequestSetting {
  /** The name that the server knows the model by. */
  model: string;
  incompleteToolCalls: IncompleteToolCalls;
  signal: AbortSignal;
}

/** Where a model's output is split: by the server, or here. */
export interface Dialect {
  /** What splits the output here; `null` where the server does. */
  readonly format: FormatReport | null;
  /** Throws a `BadRequestError` that names the field. */
  prepare(body: unknown, given: RequestSetting): Promise<RemoteRequest>;
  close(): Promise<void>;
}
