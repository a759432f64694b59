/** Elements inside of elements, read without the parser. */
import { UnreadableError } from './unreadable.ts';

export interface ReadElement {
  name: string;
  /** What stands in it; with elements in it, nothing else does. */
  text: string;
  children: ReadElement[];
}

export interface ElementMarks {
  open: string;
  close: string;
  /** Behind the name in both tags. */
  end: string;
}

/** The elements that follow each other from a place on. */
export function readElements(
  text: string,
  from: number,
  marks: ElementMarks,
  depth = 0,
): { elements: ReadElement[]; end: number } {
  const { open, close, end: tagEnd } = marks;
  const elements: ReadElement[] = [];
  let at = from;
  while (text.startsWith(open, at) && !text.startsWith(close, at)) {
    const nameEnd = text.indexOf(tagEnd, at + open.length);
    const name = text.slice(at + open.length, nameEnd);
    if (nameEnd < 0 || name === '') break;
    const inner = readElements(text, nameEnd + tagEnd.length, marks, depth + 1);
    const found = text.indexOf(close, inner.end);
    // A parameter's closer may name another, where the model chooses the names.
    const closer =
      depth > 0
        ? close + name + tagEnd
        : text.slice(found, text.indexOf(tagEnd, found + close.length) + tagEnd.length);
    if (found < 0 || !text.startsWith(closer, found)) throw new UnreadableError(`${name} does not end.`);
    const value = text.slice(inner.end, found);
    if (inner.elements.length > 0 && value !== '')
      throw new UnreadableError(`${JSON.stringify(value)} stands between elements.`);
    elements.push({ name, text: value, children: inner.elements });
    at = found + closer.length;
  }
  return { elements, end: at };
}

/**
 * A name that comes again adds to a list; behind others only where a list may stand: else the last value holds.
 *
 * @param mayBeList whether a list may stand under a name
 */
export function distinct(
  elements: readonly ReadElement[],
  mayBeList: (name: string) => boolean,
): ReadElement[] {
  const values = new Map<string, ReadElement[]>();
  for (const [index, element] of elements.entries()) {
    const { name } = element;
    const isAdded = elements[index - 1]?.name === name || mayBeList(name);
    values.set(name, [...((isAdded && values.get(name)) || []), element]);
  }
  return Array.from(values, ([name, same]) => {
    if (same.length === 1) return same[0]!;
    return { name, text: '', children: same.map((element) => ({ ...element, name: 'item' })) };
  });
}

/** Whether a value is what an element says. */
export function isElementOf(
  { text, children }: ReadElement,
  value: unknown,
  isText: (text: string, value: unknown) => boolean,
): boolean {
  if (children.length === 0) {
    const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
    return text === '' && isEmpty ? true : isText(text, value);
  }
  if (typeof value !== 'object' || value === null) return false;
  const values = Object.entries(value);
  return (
    values.length === children.length &&
    values.every(([key, inner], index) => {
      const child = children[index]!;
      return (
        (Array.isArray(value) ? child.name === 'item' : child.name === key) &&
        isElementOf(child, inner, isText)
      );
    })
  );
}
