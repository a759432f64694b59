import type { Conjunction } from './alternatives.ts';
import { pathTo } from './schema.ts';
import { arrayShape } from './shape.ts';
import type { Branch, ValueRules } from './value-rules.ts';

/** Repetitions that a grammar counts; beyond, they are checked afterwards. */
export const MOST_COUNTED = 1000;

/** Arrays that fit the nodes; null if none does. */
export function arrayExpression(rules: ValueRules, nodes: Conjunction): Branch | null {
  const shape = arrayShape(rules.document, nodes, rules.report);
  const { min } = shape;
  let { max } = shape;
  if (min > MOST_COUNTED || (max > MOST_COUNTED && max < Number.POSITIVE_INFINITY)) {
    for (const node of nodes) {
      for (const keyword of ['minItems', 'maxItems']) {
        if (keyword in node.keywords) rules.report({ keyword, path: pathTo(node.path, keyword) });
      }
    }
  }
  const first: string[] = [];
  for (const schemas of shape.first) {
    const name = first.length < max ? rules.rule(schemas) : null;
    // An item that nothing fits ends the array before it.
    if (name === null) {
      max = Math.min(max, first.length);
      break;
    }
    first.push(name);
  }
  const rest = first.length < max ? rules.rule(shape.rest) : null;
  if (rest === null) max = Math.min(max, first.length);
  if (min > max) return null;
  const needs = [...first.slice(0, min), ...(rest !== null && min > first.length ? [rest] : [])];
  return { expression: `"[" ${arrayBody(rules, first, rest, min, max)}`, needs };
}

function arrayBody(
  rules: ValueRules,
  first: readonly string[],
  rest: string | null,
  min: number,
  max: number,
): string {
  const comma = (index: number) => (index === 0 ? '' : `${rules.comma} `);
  const tail = (index: number): string => {
    if (index >= max) return '"]"';
    if (index < first.length) {
      const next = tail(index + 1);
      const item = `${comma(index)}${first[index]} ${next}`;
      return index < min ? item : rules.grammar.rule('items', `${item} | "]"`);
    }
    if (rest === null) return '"]"';
    if (index === 0) {
      const more = repeat(`${rules.comma} ${rest}`, min - 1, max - 1);
      return min > 0 ? `${rest} ${more} "]"` : `(${rest} ${more})? "]"`;
    }
    return `${repeat(`${rules.comma} ${rest}`, min - index, max - index)} "]"`;
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
