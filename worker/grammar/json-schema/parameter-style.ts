import type { JsonType } from './schema.ts';

/** How a family writes parameters. */
export interface ParameterStyle {
  /** What stands before a value; `kind` is how the value stands there: as its text, or as JSON, and that of which type. */
  open(key: string, kind: 'text' | 'json', type?: JsonType): string;
  /** How a key is spelled there, where it is escaped. Default: as it is. */
  escapeKey?(key: string): string;
  /** What stands behind a value. White space at its borders belongs to the markup. */
  close: string;
  /** Between one parameter's closer and the next one's opener. */
  separator: string;
  /** Texts that end a key where it is read; no key holds one. White space at a key's borders is not read. */
  keyEnds: readonly string[];
  /** Texts besides the closer that would end a value, or be taken for markup in it; they do not come in one. */
  avoid?(): readonly string[];
  /** The same, where they begin a line of a value that stands there as its text. JSON has one line. */
  avoidAtLineStart?: readonly string[];
  /** Between these a text may stand as it is, with texts that it could not hold otherwise. */
  verbatim?: { start: string; end: string };
  /** A line break at a border of a value is markup: no text begins or ends with one. */
  trimsLineBreaks?: boolean;
  /** Keys of a parameter that may be read as all arguments in one: the model chooses none of them. */
  wrapperKeys?: readonly string[];
  /**
   * Parameters are elements: values that are lists or objects hold further ones, a list's items under this name.
   * Behind `close` the key comes again, and `closeEnd`. Their tags are known by their letters.
   */
  elements?: { item: string; closeEnd: string };
}
