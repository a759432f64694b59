import { isObject } from '../chat/fields.ts';
import { malformed } from './answer.ts';
import { excerpt } from './failures.ts';

/** What one delta says of one call; texts are empty, and the others `null`, where it says nothing. */
export interface CallPiece {
  /** The server's own number. */
  index: number | null;
  id: string | null;
  name: string;
  /** Of the arguments. */
  text: string;
}

/** Throws a `RemoteServerError` for what is no piece of a call of OpenAI's shape. */
export function callPiece(given: unknown): CallPiece {
  if (!isObject(given)) throw malformed(`a tool call that is no object, ${excerpt(given)}`);
  const { index, id, type } = given;
  if (index !== undefined && index !== null && !Number.isInteger(index)) {
    throw malformed(`a tool call whose index is no integer, ${excerpt(given)}`);
  }
  // The pieces behind the first may say nothing of it.
  if (type && type !== 'function') throw malformed(`a tool call of type ${JSON.stringify(type)}`);
  const called = given.function ?? {};
  if (!isObject(called)) throw malformed(`a tool call whose function is no object, ${excerpt(given)}`);
  const { name, arguments: text } = called;
  for (const value of [id, name, text]) {
    if (value !== undefined && value !== null && typeof value !== 'string') {
      throw malformed(`a tool call whose id, name or arguments are no text, ${excerpt(given)}`);
    }
  }
  return {
    index: (index as number | undefined) ?? null,
    id: (id as string | null | undefined) || null,
    name: ((name as string | null | undefined) ?? '').trim(),
    text: (text as string | null | undefined) ?? '',
  };
}

/** Says nothing: some servers end their calls with one. */
export const isBlank = ({ id, name, text }: CallPiece) => id === null && name === '' && text === '';
