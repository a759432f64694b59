/** Values written as nested elements, `<a><b>1</b></a>`, each tag behind a marker. */
import { coerceText } from './coercion.ts';
import type { Schema, SchemaView } from './schema.ts';

/** What stands before the name in an element's tags. */
export interface ElementTags {
  open: string;
  close: string;
}

interface Element {
  name: string;
  text: string;
  children: Element[];
}

const DEPTH_LIMIT = 128;

/**
 * JSON of a value that holds elements, or of an empty one that is to be a container; null for other text, and
 * for elements that are not closed.
 */
export function elementsJson(
  text: string,
  tags: ElementTags,
  schema: Schema,
  view: SchemaView,
): string | null {
  const types = view.types(schema);
  if (text.trim() === '' && types && !types.has('string')) {
    if (types.has('array')) return '[]';
    return types.has('object') ? '{}' : null;
  }
  if (!text.includes(tags.open)) return null;
  const value: Element = { name: '', text: '', children: [] };
  return readInto(value, text, 0, tags, 0) === text.length ? json(value, schema, view) : null;
}

/** Reads text and elements up to the closer of `parent`. @returns the position of the closer, -1 when broken */
function readInto(parent: Element, text: string, from: number, tags: ElementTags, depth: number): number {
  if (depth > DEPTH_LIMIT) return -1;
  let at = from;
  for (;;) {
    const open = text.indexOf(tags.open, at);
    const close = text.indexOf(tags.close, at);
    // A closer may begin as an opener does: the name tells them apart.
    const isClose = close >= 0 && (open < 0 || close <= open);
    const end = isClose ? close : open < 0 ? text.length : open;
    parent.text += text.slice(at, end);
    if (end === text.length || isClose) return end;
    const nameStart = open + tags.open.length;
    const nameEnd = text.indexOf('>', nameStart);
    if (nameEnd <= nameStart) return -1;
    const child: Element = { name: text.slice(nameStart, nameEnd), text: '', children: [] };
    const closer = `${tags.close}${child.name}>`;
    at = readInto(child, text, nameEnd + 1, tags, depth + 1);
    if (at < 0 || !text.startsWith(closer, at)) return -1;
    at += closer.length;
    parent.children.push(child);
  }
}

function json({ text, children }: Element, schema: Schema, view: SchemaView): string {
  const types = view.types(schema);
  if (children.length === 0) {
    if (text.trim() === '' && types && !types.has('string')) {
      if (types.has('array')) return '[]';
      if (types.has('object')) return '{}';
    }
    return coerceText(text, schema, view);
  }
  if (types?.has('array')) {
    return `[${children.map((child, index) => json(child, view.item(schema, index), view)).join(', ')}]`;
  }
  const values = new Map<string, string[]>();
  for (const child of children) {
    const value = json(child, view.property(schema, child.name), view);
    const known = values.get(child.name);
    if (known) known.push(value);
    else values.set(child.name, [value]);
  }
  if (text.trim() !== '') values.set(freeKey(values), [JSON.stringify(text)]);
  const members = Array.from(values, ([name, list]) => {
    return `${JSON.stringify(name)}: ${list.length === 1 ? list[0] : `[${list.join(', ')}]`}`;
  });
  return `{${members.join(', ')}}`;
}

/** Text between elements stands under a key that no element has. */
function freeKey(values: ReadonlyMap<string, unknown>): string {
  let key = '$text';
  while (values.has(key)) key = `$${key}`;
  return key;
}
