import type { SchemaView } from './schema.ts';

/** Where a call reader says what it has read. */
export interface CallSink {
  /** A call begins. False when it may not (then the text is none). */
  start(name: string): boolean;
  /** The next piece of the call's arguments as JSON text. */
  arguments(json: string): void;
  /** The end of the call was seen. */
  end(): void;
}

export interface CallReaderContext {
  sink: CallSink;
  /** The name that the call's header gave, or null where the text itself holds it. */
  name: string | null;
  /** The parameter schema of a function; of an undeclared one it knows nothing. */
  schemaOf(name: string): SchemaView;
}

/** Reads the text of one envelope (one call, or a list of calls) with its own quoting. */
export interface CallReader {
  /** @returns the position after what was read; less than `to` at the end or at a character that has no place here */
  read(text: string, from: number, to: number): number;
  /** Inside quotes, where a marker is text. */
  readonly inString: boolean;
  readonly isDone: boolean;
  /** Behind a call: what was read of a further one that has not begun, and is text if it never does. */
  readonly unclaimed?: string;
  /** The call's arguments ended; at most closers of the envelope are missing. */
  readonly isWhole: boolean;
  /**
   * The stream was cut: a call whose name is complete begins, though its arguments have not. False when there is none.
   * Where the header gave the name, the call has begun long since.
   */
  begin?(): boolean;
  /** A marker from outside ended the text. False when the call was cut where it can't be completed. */
  close(): boolean;
}
