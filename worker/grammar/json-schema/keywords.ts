/** Whether the keywords of one schema object say something at all, each for itself. */
import { isKnownFormat } from '../language/formats.ts';
import { searchProblem } from '../language/regex-search.ts';
import { isRecord, pathTo, type SchemaNode, schemaError } from './schema.ts';

type Check = (value: unknown, node: SchemaNode) => string | null;

const TYPES = new Set(['null', 'boolean', 'integer', 'number', 'string', 'array', 'object']);

export const isTypeName = (name: string) => TYPES.has(name);

const count: Check = (value) =>
  Number.isInteger(value) && (value as number) >= 0 ? null : 'must be an integer that is not negative';
const number: Check = (value) => (Number.isFinite(value) ? null : 'must be a number');
const exclusive: Check = (value, node) => (typeof value === 'boolean' ? null : number(value, node));
const text: Check = (value) => (typeof value === 'string' ? null : 'must be a string');
const flag: Check = (value) => (typeof value === 'boolean' ? null : 'must be true or false');
const record: Check = (value) => (isRecord(value) ? null : 'must be an object');
const schemas: Check = (value) =>
  Array.isArray(value) && value.length > 0 ? null : 'must be a list with at least one schema';
const names: Check = (value) =>
  Array.isArray(value) && value.every((name) => typeof name === 'string')
    ? null
    : 'must be a list of strings';

const pattern: Check = (value) => {
  if (typeof value !== 'string') return 'must be a string';
  try {
    new RegExp(value, 'u');
    return null;
  } catch (error) {
    return `is no regular expression: ${error instanceof Error ? error.message : String(error)}`;
  }
};

/** Why a valid pattern can't be tried on texts in bounded time; null if it can, or if it is no pattern. */
export function patternProblem(source: string): string | null {
  return pattern(source, { id: 0, keywords: {}, path: '' }) === null ? searchProblem(source) : null;
}

/** Formats that nobody knows say nothing of other values, nor of texts whose pattern says it. */
const admitsText = (type: unknown) =>
  type === undefined || (Array.isArray(type) ? type : [type]).includes('string');

const CHECKS: Readonly<Record<string, Check>> = {
  type: (value) => {
    const types = Array.isArray(value) ? value : [value];
    if (types.length === 0) return 'must name a type';
    const unknown = types.find((type) => !TYPES.has(type as string));
    return unknown === undefined
      ? null
      : `has ${JSON.stringify(unknown)}, which is no type: there are ${[...TYPES].join(', ')}`;
  },
  enum: (value) =>
    Array.isArray(value) && value.length > 0 ? null : 'must be a list with at least one value',
  allOf: schemas,
  anyOf: schemas,
  oneOf: schemas,
  prefixItems: (value) => (Array.isArray(value) ? null : 'must be a list of schemas'),
  properties: record,
  patternProperties: (value) => {
    if (!isRecord(value)) return 'must be an object';
    const wrong = Object.keys(value).find((source) => pattern(source, { id: 0, keywords: {}, path: '' }));
    return wrong === undefined
      ? null
      : `has the key ${JSON.stringify(wrong)}, which is no regular expression`;
  },
  required: names,
  dependentRequired: (value, node) =>
    isRecord(value) && Object.values(value).every((list) => names(list, node) === null)
      ? null
      : 'must be an object of lists of strings',
  dependentSchemas: record,
  minimum: number,
  maximum: number,
  exclusiveMinimum: exclusive,
  exclusiveMaximum: exclusive,
  multipleOf: (value) =>
    Number.isFinite(value) && (value as number) > 0 ? null : 'must be a number above 0',
  minLength: count,
  maxLength: count,
  pattern,
  format: (value, { keywords }) =>
    typeof value !== 'string'
      ? 'must be a string'
      : isKnownFormat(value) || typeof keywords.pattern === 'string' || !admitsText(keywords.type)
        ? null
        : `is ${JSON.stringify(value.slice(0, 100))}, which nothing can hold here: leave it out, or say what it means with "pattern"`,
  minItems: count,
  maxItems: count,
  uniqueItems: flag,
  minContains: count,
  maxContains: count,
  minProperties: count,
  maxProperties: count,
  nullable: flag,
  $ref: text,
  $recursiveRef: text,
};

const UNSUPPORTED: Readonly<Record<string, string>> = {
  $dynamicRef: 'use "$ref"',
  extends: 'use "allOf"',
  divisibleBy: 'use "multipleOf"',
  disallow: 'use "not"',
};

/** Pairs that leave nothing when the first is above the second. */
const RANGES = [
  ['minimum', 'maximum'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
  ['minContains', 'maxContains'],
] as const;

/** @throws BadRequestError that names the keyword */
export function checkKeywords(node: SchemaNode): void {
  for (const [keyword, value] of Object.entries(node.keywords)) {
    if (Object.hasOwn(UNSUPPORTED, keyword)) {
      throw schemaError(
        `The keyword "${keyword}" is not supported: ${UNSUPPORTED[keyword]}.`,
        pathTo(node.path, keyword),
        'schema_unsupported',
      );
    }
    const problem = Object.hasOwn(CHECKS, keyword) ? CHECKS[keyword]!(value, node) : null;
    if (problem) throw schemaError(`"${keyword}" ${problem}.`, pathTo(node.path, keyword));
  }
  for (const [low, high] of RANGES) {
    const { [low]: least, [high]: most } = node.keywords;
    if (typeof least === 'number' && typeof most === 'number' && least > most) {
      throw schemaError(`"${low}" is above "${high}": no value is left.`, pathTo(node.path, low));
    }
  }
}
