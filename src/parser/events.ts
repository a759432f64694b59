/** What the parser says: the one stream of events from which every message, chunk and inspector is made. */

/**
 * `tokens` is the number of tokens of the stream that had been read when the last character of the event
 * arrived (0 in text mode), so that output can be cut at a token.
 */
export type ParserEvent =
  | { type: 'reasoning'; text: string; tokens: number }
  | { type: 'content'; text: string; tokens: number }
  /** A call whose name is complete. `index` counts the calls of the choice from 0. */
  | { type: 'call-start'; index: number; id: string; name: string; tokens: number }
  /** The next piece of the arguments' JSON text. All pieces so far can be closed to valid JSON. */
  | { type: 'call-arguments'; index: number; text: string; tokens: number }
  /** The end of the call was seen: its arguments parse. */
  | { type: 'call-end'; index: number; tokens: number }
  /** The call was cut or broken inside its arguments; it must not be run. */
  | { type: 'call-incomplete'; index: number; tokens: number };

/**
 * Why the stream ended: `stop` the model ended its turn; `length`, `abort` and `cut` something else did.
 * What is still held back is text after `stop` and markup otherwise.
 */
export type EndOfStream = 'stop' | 'length' | 'abort' | 'cut';
