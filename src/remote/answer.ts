import { isObject } from '../chat/fields.ts';
import type { ChatCompletionChunk } from '../chat/types.ts';
import { RemoteServerError } from '../errors.ts';
import { excerpt, toldFailure } from './failures.ts';

/** Turns the events of one answer's stream into chunks. */
export interface AnswerReader<Chunk = ChatCompletionChunk> {
  /** Throws a `RemoteServerError` for an event that is none of the interface. */
  read(event: Record<string, unknown>): Chunk[];
  /** Every choice has ended; the usage may follow. */
  readonly whole: boolean;
  /** Nothing that may follow counts: the stream can be left. */
  readonly ended: boolean;
  /** The last chunks. Throws a `RemoteServerError` where the stream ended before every choice had. */
  finish(): Chunk[];
}

/** Of a stream that ended before its answer. */
export function incomplete(choice: number): RemoteServerError {
  return new RemoteServerError(
    `The server's stream ended before choice ${choice} had a finish reason: its answer is not whole. ` +
      'Send the request again.',
    { code: 'incomplete_stream' },
  );
}

/** The choices of an event: none where it tells the usage alone. */
export function choicesOf(event: Record<string, unknown>): Record<string, unknown>[] {
  const { choices, usage } = event;
  if (choices === null || (choices === undefined && isObject(usage))) return [];
  if (!Array.isArray(choices)) throw malformed(`a chunk without choices, ${excerpt(event)}`);
  return choices.map((choice: unknown) => {
    if (!isObject(choice)) throw malformed(`a choice that is no object, ${excerpt(choice)}`);
    if (choice.error) throw toldFailure(choice).error;
    return choice;
  });
}

/** The text of one choice of a raw completion. */
export function textOf(choice: Record<string, unknown>): string {
  const text = choice.text ?? '';
  if (typeof text !== 'string') throw malformed(`a text that is none, ${excerpt(text)}`);
  if (text === '' && (choice.delta || choice.message)) {
    throw malformed(`a choice of a chat in place of a text, ${excerpt(choice)}`);
  }
  return text;
}

type End = 'stop' | 'length' | 'content_filter';

/** What servers call the ends of answers; Together, TGI and Mistral have words of their own. */
const ends = new Map<unknown, End>([
  ['stop', 'stop'],
  ['tool_calls', 'stop'],
  ['function_call', 'stop'],
  ['eos', 'stop'],
  ['eos_token', 'stop'],
  ['length', 'length'],
  ['model_length', 'length'],
  ['content_filter', 'content_filter'],
]);

/** Why one choice ended: `stop` is the model's own end. Throws a `RemoteServerError` where the server gave up. */
export function endOf(finish: unknown): End {
  const end = ends.get(finish);
  if (end) return end;
  throw aborted(finish);
}

/** Why one choice of a raw completion ended; `null` where it goes on. Throws where the answer is not whole. */
export function textEnd({ finish_reason: finish }: Record<string, unknown>): 'stop' | 'length' | null {
  // Some servers have an empty one in each chunk but the last.
  if (!finish) return null;
  const end = endOf(finish);
  if (end === 'content_filter') throw aborted(finish);
  return end;
}

/** The stop string or token that ended a choice; SGLang has a name of its own, also for the model's own end. */
export function stopReasonOf(
  { stop_reason: stop, matched_stop: matched }: Record<string, unknown>,
  stops: readonly unknown[],
): string | number | null {
  const told = stop ?? (stops.includes(matched) ? matched : null);
  return typeof told === 'string' || typeof told === 'number' ? told : null;
}

export function malformed(what: string): RemoteServerError {
  return new RemoteServerError(`The server sent ${what}: its answer can't be read.`, {
    code: 'invalid_chunk',
  });
}

/** Of an answer that the server itself says is not whole. */
function aborted(finish: unknown): RemoteServerError {
  return new RemoteServerError(
    `The server ended its answer with ${JSON.stringify(finish)}: it is not whole. Send the request again.`,
    { code: 'answer_aborted' },
  );
}
