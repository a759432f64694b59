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

/** The text in coloured spans; whatever is no JSON token (a cut string, say) stays plain. */
export function highlightJson(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  let end = 0;
  for (const match of text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|true|false|null/g)) {
    const token = match[1] ?? match[0];
    const kind = match[1] === undefined ? 'number' : match[2] === undefined ? 'string' : 'key';
    const span = document.createElement('span');
    span.className = `json-${kind}`;
    span.textContent = token;
    fragment.append(text.slice(end, match.index), span);
    end = match.index + token.length;
  }
  fragment.append(text.slice(end));
  return fragment;
}
