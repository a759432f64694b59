import type { ChatCompletionChunk } from '../chat/types.ts';
import { RemoteServerError } from '../errors.ts';

/** Turns the events of one answer's stream into chunks. */
export interface AnswerReader {
  /** Throws a `RemoteServerError` for an event that is none of the interface. */
  read(event: Record<string, unknown>): ChatCompletionChunk[];
  /** Every choice has ended; the usage may follow. */
  readonly whole: boolean;
  /** Nothing that may follow counts: the stream can be left. */
  readonly ended: boolean;
  /** The last chunks. Throws a `RemoteServerError` where the stream ended before every choice had. */
  finish(): ChatCompletionChunk[];
}

/** Of a stream that ended before its answer. */
export function incomplete(choice: number): RemoteServerError {
  return new RemoteServerError(
    `The server's stream ended before choice ${choice} had a finish reason: its answer is not whole. ` +
      'Send the request again.',
    { code: 'incomplete_stream' },
  );
}
