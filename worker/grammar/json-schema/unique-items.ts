/** How many items a list can have of which no two are the same. */
import { type Conjunction, commonTypes } from './alternatives.ts';
import type { ArrayShape, Both } from './shape.ts';
import { canonical } from './validate.ts';
import type { ValueRules } from './value-rules.ts';

/** More values of one item are as good as any number of them. */
const MOST_VALUES = 1000;

/**
 * The most items that are all different; infinite where it is not known.
 *
 * @returns less than what the first items need where already they can't be different
 */
export function mostUnique(rules: ValueRules, { first, rest, min }: ArrayShape): number {
  const values = first.map((schemas) => valuesOf(rules, schemas));
  const others = valuesOf(rules, rest);
  const known = values.filter((set) => set !== null);
  for (let count = 1; count <= Math.min(min, values.length); count++) {
    const finite = values.slice(0, count).filter((set) => set !== null);
    if (union(finite).size < finite.length) return count - 1;
  }
  if (others === null) return Number.POSITIVE_INFINITY;
  return values.length - known.length + union([...known, others]).size;
}

const union = (sets: readonly ReadonlySet<string>[]) => new Set(sets.flatMap((set) => [...set]));

/** All values that fit, each in one spelling; null where there are too many to list. */
function valuesOf(rules: ValueRules, schemas: Both): Set<string> | null {
  if (schemas === null) return new Set();
  const values: unknown[] = [];
  for (const nodes of rules.alternatives(schemas)) {
    const found = rules.listed(nodes) ?? valuesOfTypes(nodes);
    if (found === null || values.length + found.length > MOST_VALUES) return null;
    values.push(...found.filter((value) => nodes.every((node) => rules.conforms(node, value))));
  }
  return new Set(values.map(canonical));
}

function valuesOfTypes(nodes: Conjunction): unknown[] | null {
  const values: unknown[] = [];
  for (const type of commonTypes(nodes)) {
    const found =
      type === 'null'
        ? [null]
        : type === 'boolean'
          ? [true, false]
          : type === 'integer'
            ? integersOf(nodes)
            : null;
    if (found === null) return null;
    values.push(...found);
  }
  return values;
}

function integersOf(nodes: Conjunction): number[] | null {
  const numbers = (keyword: string) =>
    nodes.flatMap(({ keywords }) => (typeof keywords[keyword] === 'number' ? [keywords[keyword]] : []));
  const low = Math.ceil(Math.max(...numbers('minimum'), ...numbers('exclusiveMinimum')));
  const high = Math.floor(Math.min(...numbers('maximum'), ...numbers('exclusiveMaximum')));
  const isFew = Number.isSafeInteger(low) && Number.isSafeInteger(high) && high - low < MOST_VALUES;
  return isFew ? Array.from({ length: Math.max(0, high - low + 1) }, (_, index) => low + index) : null;
}
