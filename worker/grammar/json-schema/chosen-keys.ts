/** Keys of parameters that no schema names: which of them can be written, and what their values are. */
import type { SchemaView } from '../../../src/parser/schema.ts';
import { isSatisfiable } from '../guard/guard.ts';
import type { LanguagePart } from '../guard/spec.ts';
import type { Conjunction } from './alternatives.ts';
import { checkPatternCount, unfollowedKeysError } from './object-rules.ts';
import type { Key, ParameterKeys } from './parameter-keys.ts';
import type { ParameterStyle } from './parameter-style.ts';
import { isRecord, pathTo, schemaError } from './schema.ts';
import type { ObjectShape } from './shape.ts';
import { canFollow } from './strings.ts';
import type { ValueRules } from './value-rules.ts';

/** Keys whose values are alike. */
export interface ChosenKeys {
  keys: readonly Key[];
  schemas: Conjunction;
  /** Patterns tell these keys from others. */
  isPatterned: boolean;
}

/** An object, and the keys that it or another branch declares. */
export interface OpenObject {
  shape: ObjectShape;
  keys: readonly string[];
  nodes: Conjunction;
}

/**
 * @throws BadRequestError with the place of patterns that can't be followed, that no key can match which the family
 * writes, or that the parser does not try where it would have to
 */
export function chosenKeys(
  rules: ValueRules,
  style: ParameterStyle,
  writable: ParameterKeys,
  view: SchemaView,
  { shape, keys, nodes }: OpenObject,
): ChosenKeys[] {
  const names = nameLanguages(rules, shape);
  if (names === null) return [];
  checkPatternCount(shape.others, nodes);
  const refused = [...keys, ...(style.wrapperKeys ?? [])];
  const lost = new Set<string>();
  const kept = new Set<string>();
  const found = shape.others.flatMap((other): ChosenKeys[] => {
    const { patterns, without, schemas } = other;
    if (schemas === null) return [];
    const isPatterned = patterns.length + without.length > 0;
    // A first character before the guard would keep it from being followed with others.
    if (!isPatterned && shape.names!.length === 0 && !rules.grammar.isShared)
      return [{ keys: writable.others(refused), schemas, isPatterned }];
    const parts: LanguagePart[] = [
      ...patterns.map((pattern) => ({ pattern })),
      ...without.map((notPattern) => ({ notPattern })),
      { not: keys },
    ];
    const all = names.map((own) => [...own, ...parts]);
    const language = all.map((own) => [...own, ...writable.chosen, { not: refused }]);
    if (!canFollow(all) || !canFollow(language)) throw unfollowedKeysError(other, nodes);
    const isAble = isSatisfiable(language);
    if (isAble || isSatisfiable(all)) for (const pattern of patterns) (isAble ? kept : lost).add(pattern);
    if (!isAble) return [];
    if (!isTold(rules, style, schemas)) checkTried(view, [...patterns, ...without], nodes);
    return [{ keys: [{ language }], schemas, isPatterned }];
  });
  for (const pattern of lost) {
    if (kept.has(pattern)) continue;
    throw schemaError(
      `No key that matches ${JSON.stringify(pattern)} can be written in the calls of this model.`,
      placeOf(nodes, pattern),
      'schema_unsupported',
    );
  }
  return found;
}

/** What `propertyNames` asks of keys; null where no key will do. */
function nameLanguages(rules: ValueRules, { names }: ObjectShape): LanguagePart[][] | null {
  if (names === null) return null;
  if (names.length === 0) return [[]];
  const parts = rules.alternatives(names).flatMap((nodes) => {
    const language = rules.stringLanguage(nodes);
    return language ? [language] : [];
  });
  return parts.length > 0 ? parts : null;
}

/** Whether what stands there tells which value is meant. */
function isTold(rules: ValueRules, { open }: ParameterStyle, schemas: Conjunction): boolean {
  const isAnything = schemas.every(({ keywords }) => Object.keys(keywords).length === 0);
  return (
    isAnything || open('a', 'text') !== open('a', 'json') || rules.contents(schemas).strings.length === 0
  );
}

/** @throws BadRequestError for a pattern that the parser does not try, since it could take long */
function checkTried(view: SchemaView, patterns: readonly string[], nodes: Conjunction): void {
  const slow = patterns.find((pattern) => view.matches(pattern, '') === null);
  if (slow === undefined) return;
  throw schemaError(
    `Whether a key matches ${JSON.stringify(slow)} could take long to find out when calls of this model are read, and tells what its value is: write a pattern without repeated groups.`,
    placeOf(nodes, slow),
    'schema_unsupported',
  );
}

/** Where a pattern for keys stands. */
function placeOf(nodes: Conjunction, pattern: string): string {
  const has = ({ keywords: { patternProperties } }: Conjunction[number]) =>
    isRecord(patternProperties) && Object.hasOwn(patternProperties, pattern);
  return pathTo(pathTo(nodes.find(has)!.path, 'patternProperties'), pattern);
}
