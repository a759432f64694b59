import type { Conjunction } from './alternatives.ts';
import { pathTo } from './schema.ts';
import { arrayShape, type Both } from './shape.ts';
import { mostUnique } from './unique-items.ts';
import type { Branch, ValueRules } from './value-rules.ts';

/** Repetitions that a grammar counts; beyond, they are checked afterwards. */
export const MOST_COUNTED = 1000;

/** How a list stands. Parts of it are expressions. */
export interface ListNotation {
  open: string;
  close: string;
  /** Between two items; empty for nothing. */
  comma: string;
  /** Whether there is at least one item, whatever the schemas say. */
  isFilled?: boolean;
  /** An item of these schemas, by its index or that of the first like it; null if none fits. */
  item(schemas: Both, index: number): string | null;
}

/** Arrays that fit the nodes; null if none does. */
export function arrayExpression(
  rules: ValueRules,
  nodes: Conjunction,
  notation: ListNotation = {
    open: '"["',
    close: '"]"',
    comma: rules.comma,
    item: (schemas) => rules.rule(schemas),
  },
): Branch | null {
  const shape = arrayShape(rules.document, nodes, rules.report);
  const min = Math.max(shape.min, notation.isFilled ? 1 : 0);
  let { max } = shape;
  if (nodes.some(({ keywords }) => keywords.uniqueItems === true))
    max = Math.min(max, mostUnique(rules, shape));
  if (min > MOST_COUNTED || (max > MOST_COUNTED && max < Number.POSITIVE_INFINITY)) {
    for (const node of nodes) {
      for (const keyword of ['minItems', 'maxItems']) {
        if (keyword in node.keywords) rules.report({ keyword, path: pathTo(node.path, keyword) });
      }
    }
  }
  const first: string[] = [];
  for (const schemas of shape.first) {
    const name = first.length < max ? notation.item(schemas, first.length) : null;
    // An item that nothing fits ends the array before it.
    if (name === null) {
      max = Math.min(max, first.length);
      break;
    }
    first.push(name);
  }
  const rest = first.length < max ? notation.item(shape.rest, first.length) : null;
  if (rest === null) max = Math.min(max, first.length);
  if (min > max) return null;
  const needs = [...first.slice(0, min), ...(rest !== null && min > first.length ? [rest] : [])];
  return { expression: `${notation.open} ${arrayBody(rules, notation, first, rest, min, max)}`, needs };
}

function arrayBody(
  { grammar }: ValueRules,
  { comma, close }: ListNotation,
  first: readonly string[],
  rest: string | null,
  min: number,
  max: number,
): string {
  const behind = (item: string) => (comma === '' ? item : `${comma} ${item}`);
  const tail = (index: number): string => {
    if (index >= max) return close;
    if (index < first.length) {
      const next = tail(index + 1);
      const item = `${index === 0 ? first[index] : behind(first[index]!)} ${next}`;
      return index < min ? item : grammar.rule('items', `${item} | ${close}`);
    }
    if (rest === null) return close;
    if (index === 0) {
      const more = repeat(behind(rest), min - 1, max - 1);
      return min > 0 ? `${rest} ${more} ${close}` : `(${rest} ${more})? ${close}`;
    }
    return `${repeat(behind(rest), min - index, max - index)} ${close}`;
  };
  return tail(0);
}

/** An expression so many times. */
export function repeat(expression: string, min: number, max: number): string {
  const least = Math.min(Math.max(0, min), MOST_COUNTED);
  if (max <= 0) return '""';
  if (max > MOST_COUNTED) return least === 0 ? `(${expression})*` : `(${expression}){${least},}`;
  return `(${expression}){${least},${max}}`;
}
