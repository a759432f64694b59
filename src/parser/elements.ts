/** Values written as nested elements, `<a><b>1</b></a>`, each tag behind a marker. */
import { coerceText, readings } from './coercion.ts';
import type { Schema, SchemaView } from './schema.ts';
import { isOfType, typeOfValue } from './schema-types.ts';

/** How elements are written. */
export interface ElementTags {
  /** What stands before the name in an element's tags. */
  open: string;
  close: string;
  /** Name of a list's item. */
  item: string;
}

interface Element {
  name: string;
  text: string;
  children: Element[];
}

const DEPTH_LIMIT = 128;

/**
 * What all values that a key has may be: of one, or a list where it came again. Elements that are not closed are text.
 *
 * @returns JSON texts, the likeliest first
 */
export function elementsJson(
  texts: readonly string[],
  tags: ElementTags,
  schema: Schema,
  view: SchemaView,
): readonly string[] {
  const elements = texts.map((text) => elementOf(text, tags));
  const json = new ElementReader(tags.item, view).values(elements, schema);
  const isText = elements.length === 1 && elements[0]!.children.length === 0;
  const all = isText ? readings(texts[0]!, schema, view) : [];
  return all[0] === json ? all : [json];
}

/** Whether the value may be the first of a list whose other values come under the same name. */
export function mayBeginList(text: string, tags: ElementTags, schema: Schema, view: SchemaView): boolean {
  const types = view.describedTypes(schema);
  if (types && !types.has('array')) return false;
  if (types && text.trim() === '') return false;
  return !new ElementReader(tags.item, view).isList(elementOf(text, tags), schema);
}

function elementOf(text: string, tags: ElementTags): Element {
  const value: Element = { name: '', text: '', children: [] };
  const isWhole = text.includes(tags.open) && readInto(value, text, 0, tags, 0) === text.length;
  return isWhole ? value : { name: '', text, children: [] };
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

class ElementReader {
  readonly #item: string;
  readonly #view: SchemaView;

  constructor(item: string, view: SchemaView) {
    this.#item = item;
    this.#view = view;
  }

  /** Elements of one name. */
  values(elements: readonly Element[], schema: Schema): string {
    if (elements.length === 1) return this.#value(elements[0]!, schema);
    const types = this.#view.describedTypes(schema);
    const isItem = !types || types.has('array');
    const items: string[] = [];
    for (const element of elements) {
      const itemSchema = isItem ? this.#view.item(schema, items.length) : schema;
      const itemTypes = this.#view.describedTypes(itemSchema);
      // Lists under one name are one list, unless its items are lists.
      const isPart = types?.has('array') && !itemTypes?.has('array') && element.children.length > 0;
      if (isPart && this.isList(element, schema)) items.push(...this.#items(element, schema, items.length));
      else items.push(this.#value(element, itemSchema));
    }
    return `[${items.join(', ')}]`;
  }

  /** Whether the element is written as a list, not as an item of one. */
  isList({ text, children }: Element, schema: Schema): boolean {
    const view = this.#view;
    if (children.length === 0) return /^\s*\[/.test(text) && coerceText(text, schema, view).startsWith('[');
    if (!view.describedTypes(schema)?.has('array')) return false;
    const item = view.item(schema, 0);
    return !children.every(({ name }) => name !== this.#item && view.declares(item, name));
  }

  #value(element: Element, schema: Schema): string {
    if (element.children.length === 0) return this.#text(element.text, schema);
    if (!this.#view.describedTypes(schema)?.has('array')) return this.#object(element, schema);
    if (this.isList(element, schema)) return `[${this.#items(element, schema, 0).join(', ')}]`;
    return `[${this.#object(element, this.#view.item(schema, 0))}]`;
  }

  #text(text: string, schema: Schema): string {
    const view = this.#view;
    const types = view.types(schema);
    if (text.trim() === '' && types && !types.has('string')) {
      if (types.has('array')) return '[]';
      if (types.has('object')) return '{}';
    }
    const json = coerceText(text, schema, view);
    if (!types?.has('array')) return json;
    return isOfType(typeOfValue(JSON.parse(json)), types)
      ? json
      : `[${coerceText(text, view.item(schema, 0), view)}]`;
  }

  #items({ children }: Element, schema: Schema, from: number): string[] {
    return children.map((child, index) => this.#value(child, this.#view.item(schema, from + index)));
  }

  #object({ text, children }: Element, schema: Schema): string {
    const named = new Map<string, Element[]>();
    for (const child of children) {
      const known = named.get(child.name);
      if (known) known.push(child);
      else named.set(child.name, [child]);
    }
    const members = Array.from(named, ([name, elements]) => {
      return `${JSON.stringify(name)}: ${this.values(elements, this.#view.property(schema, name))}`;
    });
    if (text.trim() !== '') members.push(`${JSON.stringify(freeKey(named))}: ${JSON.stringify(text)}`);
    return `{${members.join(', ')}}`;
  }
}

/** Text between elements stands under a key that no element has. */
function freeKey(values: ReadonlyMap<string, unknown>): string {
  let key = '$text';
  while (values.has(key)) key = `$${key}`;
  return key;
}
