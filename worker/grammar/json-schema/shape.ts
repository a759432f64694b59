/** What the keywords of a conjunction mean together, for arrays and objects. */
import type { Conjunction, PostCheck } from './alternatives.ts';
import { isRecord, pathTo, type Schema, type SchemaDocument, type SchemaNode } from './schema.ts';
import { itemSchema, propertySchemas } from './validate.ts';

/** Schemas that hold together; null: nothing fits. */
export type Both = Conjunction | null;

export interface ArrayShape {
  /** Items that have schemas of their own. */
  first: Both[];
  rest: Both;
  min: number;
  max: number;
}

export interface PropertyShape {
  key: string;
  isRequired: boolean;
  schemas: Both;
}

/** Keys that no schema names. */
export interface OtherKeys {
  /** Patterns that the key matches, and those that it does not. */
  patterns: readonly string[];
  without: readonly string[];
  schemas: Both;
}

export interface ObjectShape {
  /** In the order in which they are declared. */
  properties: PropertyShape[];
  /** Classes of other keys; every key is in exactly one. Without patterns there is one class. */
  others: OtherKeys[];
  /** Schemas that all keys satisfy; null if no key does. */
  names: Both;
  min: number;
  max: number;
}

type Report = (check: PostCheck) => void;

function both(schemas: readonly Schema[]): Both {
  if (schemas.includes(false)) return null;
  const nodes = schemas.filter((schema) => typeof schema === 'object');
  return [...new Set(nodes)];
}

const numbers = (nodes: Conjunction, keyword: string) =>
  nodes.flatMap(({ keywords }) => (typeof keywords[keyword] === 'number' ? [keywords[keyword]] : []));

export function arrayShape(document: SchemaDocument, nodes: Conjunction, report: Report): ArrayShape {
  const lists = nodes.flatMap(({ keywords: { prefixItems, items } }) =>
    [prefixItems, items].filter((list) => Array.isArray(list)).map((list) => (list as unknown[]).length),
  );
  const count = Math.max(0, ...lists);
  const at = (index: number) =>
    both(nodes.map((node) => unevaluated(node, index) ?? itemSchema(document, node, index)));
  const unevaluated = (node: SchemaNode, index: number) => {
    const { unevaluatedItems, prefixItems, items } = node.keywords;
    if (unevaluatedItems === undefined || items !== undefined) return null;
    if (Array.isArray(prefixItems) && index < prefixItems.length) return null;
    return document.sub(node, 'unevaluatedItems')!;
  };
  for (const node of nodes) {
    const { uniqueItems, contains, unevaluatedItems } = node.keywords;
    if (uniqueItems === true) report({ keyword: 'uniqueItems', path: pathTo(node.path, 'uniqueItems') });
    if (contains !== undefined) report({ keyword: 'contains', path: pathTo(node.path, 'contains') });
    if (unevaluatedItems !== undefined) {
      report({ keyword: 'unevaluatedItems', path: pathTo(node.path, 'unevaluatedItems') });
    }
  }
  const first = Array.from({ length: count }, (_, index) => at(index));
  const contained = nodes.flatMap(({ keywords }) =>
    'contains' in keywords ? [(keywords.minContains as number) ?? 1] : [],
  );
  return {
    first,
    rest: at(count),
    min: Math.max(0, ...numbers(nodes, 'minItems'), ...contained),
    max: Math.min(Number.POSITIVE_INFINITY, ...numbers(nodes, 'maxItems')),
  };
}

/** Patterns for keys beyond this would need a class of keys for each way to combine them. */
export const MOST_PATTERNS = 4;

/** @param isClosed whether an object that declares properties has no others, when it does not say */
export function objectShape(
  document: SchemaDocument,
  nodes: Conjunction,
  isClosed: boolean,
  report: Report,
): ObjectShape {
  const keys = new Set<string>();
  for (const { keywords } of nodes) {
    if (isRecord(keywords.properties)) for (const key of Object.keys(keywords.properties)) keys.add(key);
  }
  const required = new Set(
    nodes.flatMap(({ keywords }) => (keywords.required as string[] | undefined) ?? []),
  );
  for (const key of required) keys.add(key);
  const patterns = [
    ...new Set(
      nodes.flatMap(({ keywords }) =>
        isRecord(keywords.patternProperties) ? Object.keys(keywords.patternProperties) : [],
      ),
    ),
  ];
  const closes = isClosed && declaresAndNoMore(nodes);
  const declared = (key: string) => both(nodes.flatMap((node) => schemasFor(document, node, key)));
  for (const node of nodes) {
    if (node.keywords.unevaluatedProperties !== undefined) {
      report({ keyword: 'unevaluatedProperties', path: pathTo(node.path, 'unevaluatedProperties') });
    }
  }
  return {
    properties: [...keys].map((key) => ({ key, isRequired: required.has(key), schemas: declared(key) })),
    others: closes ? [] : otherKeys(document, nodes, patterns),
    names: both(nodes.map((node) => document.sub(node, 'propertyNames') ?? true)),
    min: Math.max(0, ...numbers(nodes, 'minProperties')),
    max: Math.min(Number.POSITIVE_INFINITY, ...numbers(nodes, 'maxProperties')),
  };
}

/** Properties are declared, and nothing is said about others. */
function declaresAndNoMore(nodes: Conjunction): boolean {
  const open = ['additionalProperties', 'patternProperties', 'propertyNames', 'unevaluatedProperties'];
  // Where properties are only forbidden, none is declared.
  const declares = ({ keywords: { properties } }: SchemaNode) => {
    const schemas = isRecord(properties) ? Object.values(properties) : null;
    return schemas !== null && (schemas.length === 0 || schemas.some((schema) => schema !== false));
  };
  return (
    nodes.some(declares) &&
    nodes.every(({ keywords }) => open.every((keyword) => keywords[keyword] === undefined))
  );
}

function schemasFor(document: SchemaDocument, node: SchemaNode, key: string): Schema[] {
  const found = propertySchemas(document, node, key);
  if (found.length > 0) return found;
  const unevaluated = document.sub(node, 'unevaluatedProperties');
  // Another node may have looked at it; the whole is checked afterwards.
  return unevaluated === undefined || unevaluated === false ? [] : [unevaluated];
}

function otherKeys(document: SchemaDocument, nodes: Conjunction, patterns: readonly string[]): OtherKeys[] {
  const classes: OtherKeys[] = [];
  for (let choice = (1 << patterns.length) - 1; choice >= 0; choice--) {
    const matched = patterns.filter((_, index) => (choice >> index) & 1);
    const schemas = nodes.map((node) => {
      const own = isRecord(node.keywords.patternProperties)
        ? Object.keys(node.keywords.patternProperties)
        : [];
      const found = own.filter((source) => matched.includes(source));
      if (found.length > 0) return found.map((source) => document.sub(node, 'patternProperties', source)!);
      return [
        document.sub(node, 'additionalProperties') ?? document.sub(node, 'unevaluatedProperties') ?? true,
      ];
    });
    classes.push({
      patterns: matched,
      without: patterns.filter((source) => !matched.includes(source)),
      schemas: both(schemas.flat()),
    });
  }
  return classes;
}
