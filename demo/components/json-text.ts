/** JSON as it is shown: short values on one line, others indented, with its parts marked for colour. */

const oneLineLimit = 88;

/** Indented or on one line; text that is not JSON comes back as it is. */
export function prettyJson(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    const indented = JSON.stringify(value, null, 2);
    // Line breaks inside strings are escaped, so every newline here is layout.
    const line = indented.replace(/\n\s*/g, ' ');
    return line.length <= oneLineLimit ? line : indented;
  } catch {
    return text;
  }
}

export interface JsonToken {
  /** `null`: layout, or no token of JSON. */
  kind: 'key' | 'string' | 'number' | null;
  text: string;
}

/** The text in pieces by what they are; together they are the text. */
export function jsonTokens(text: string): JsonToken[] {
  const tokens: JsonToken[] = [];
  let end = 0;
  for (const match of text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|true|false|null/g)) {
    const token = match[1] ?? match[0];
    if (match.index > end) tokens.push({ kind: null, text: text.slice(end, match.index) });
    tokens.push({
      kind: match[1] === undefined ? 'number' : match[2] === undefined ? 'string' : 'key',
      text: token,
    });
    end = match.index + token.length;
  }
  if (end < text.length) tokens.push({ kind: null, text: text.slice(end) });
  return tokens;
}
