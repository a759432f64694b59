/** Objects with bare keys and strings between delimiters, read without the parser. */
import { UnreadableError } from './unreadable.ts';

/** The object that begins at `from`; nothing but its own text stands between its brackets. */
export function readDelimited(
  text: string,
  from: number,
  delimiter: string,
): { value: unknown; end: number } {
  let at = from;
  const fail = (wanted: string): never => {
    throw new UnreadableError(
      `${wanted} is missing at ${at}, before ${JSON.stringify(text.slice(at, at + 30))}`,
    );
  };
  const take = (wanted: string) => {
    if (!text.startsWith(wanted, at)) fail(wanted);
    at += wanted.length;
  };
  const string = () => {
    take(delimiter);
    const end = text.indexOf(delimiter, at);
    if (end < 0) fail('The end of a string');
    const found = text.slice(at, end);
    at = end + delimiter.length;
    return found;
  };
  const until = (pattern: RegExp) => {
    const length = text.slice(at).search(pattern);
    if (length <= 0) fail(`A text before ${pattern}`);
    const found = text.slice(at, at + length);
    at += length;
    return found;
  };
  const list = (close: string, read: () => void) => {
    for (let count = 0; !text.startsWith(close, at); count++) {
      if (count > 0) take(',');
      read();
    }
    take(close);
  };
  const value = (): unknown => {
    if (text.startsWith(delimiter, at)) return string();
    if (text[at] === '[') {
      at++;
      const items: unknown[] = [];
      list(']', () => items.push(value()));
      return items;
    }
    if (text[at] === '{') {
      at++;
      const members: [string, unknown][] = [];
      list('}', () => {
        const key = text.startsWith(delimiter, at) ? string() : until(/[:{}[\],]/);
        take(':');
        members.push([key, value()]);
      });
      return Object.fromEntries(members);
    }
    return JSON.parse(until(/[,}\]]/)) as unknown;
  };
  const found = value();
  return { value: found, end: at };
}
