/**
 * What a JSON text says so far. A string that is cut is as long as it came; a key, a number or a word that may still
 * go on is left out.
 *
 * @returns `undefined` where nothing is said yet, or the text is no JSON
 */
export function partialJson(text: string): unknown {
  const closers: string[] = [];
  let inString = false;
  /** Where the text can be closed: behind the last whole value or open bracket. */
  let safe = { end: 0, closers: '' };
  let expectsKey = false;
  let isKey = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (inString) {
      if (character === '\\') at++;
      else if (character === '"') {
        inString = false;
        if (!isKey) safe = { end: at + 1, closers: tail(closers) };
      }
      continue;
    }
    if (character === '"') {
      inString = true;
      isKey = expectsKey && closers.at(-1) === '}';
    } else if (character === '{' || character === '[') {
      closers.push(character === '{' ? '}' : ']');
      expectsKey = character === '{';
      safe = { end: at + 1, closers: tail(closers) };
    } else if (character === '}' || character === ']') {
      closers.pop();
      expectsKey = false;
      safe = { end: at + 1, closers: tail(closers) };
    } else if (character === ',') {
      expectsKey = closers.at(-1) === '}';
      safe = { end: at, closers: tail(closers) };
    } else if (character === ':') expectsKey = false;
  }
  if (closers.length === 0) return parsed(text);
  if (inString && !isKey) {
    // An escape may be cut in the middle.
    const whole = text.replace(/\\(?:u[\da-f]{0,3})?$/i, '');
    const value = parsed(`${whole}"${tail(closers)}`);
    if (value !== undefined) return value;
  }
  return parsed(text.slice(0, safe.end) + safe.closers);
}

const tail = (closers: readonly string[]) => [...closers].reverse().join('');

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
