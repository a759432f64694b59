/** Text that a model wrote for a value, as the JSON that the value's schema wants. */
import { JsonReader } from './json-reader.ts';
import type { Schema, SchemaView } from './schema.ts';
import { fitsSchema, SchemaCheck } from './schema-check.ts';
import { isOfType, type JsonType, type Types, typeOfValue } from './schema-types.ts';

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const INTEGER = /^([+-]?)0*(\d+)$/;
const EXACT_WORD = /^(?:null|true|false)$/;
const WORD = /^(?:null|true|false)$/i;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** JSON text of a number, or null: finite decimal notation only, whole values as integers. */
export function numberJson(text: string): string | null {
  if (!DECIMAL.test(text)) return null;
  const value = Number(text);
  if (!Number.isFinite(value)) return null;
  return JSON_NUMBER.test(text) ? text : String(value);
}

/**
 * What a text means where its value's schema wants something: the first of its {@link readings}.
 *
 * @returns JSON text
 */
export function coerceText(text: string, schema: Schema, view: SchemaView): string {
  return readings(text, schema, view)[0]!;
}

/**
 * What a text may mean, the likeliest first: all that fit the schema; one that does not where none does.
 *
 * Types are tried by the fixed priority null, integer, number, boolean, object, array, string. Where a string is
 * admitted beside others, a text that is neither strict JSON nor one of its words is the string. Without type
 * information, and when nothing matches: JSON if it parses, otherwise the text.
 *
 * @returns JSON texts, at least one
 */
export function readings(text: string, schema: Schema, view: SchemaView): string[] {
  const types = view.types(schema);
  if (types?.size === 1 && types.has('string')) return [JSON.stringify(text)];
  const trimmed = text.trim();
  if (types && !types.has('string')) {
    const found = typedReadings(trimmed, types, schema, view);
    if (found.length === 0) return [isFiniteJson(trimmed) ? trimmed : JSON.stringify(text)];
    if (found.length === 1) return found;
    const all = fitting(found, schema, view);
    return all.length > 0 ? all : found.slice(0, 1);
  }
  const found = strictReadings(text, types, schema, view);
  if (found.length === 0 && types === null) return [JSON.stringify(text)];
  found.push(JSON.stringify(text));
  const all = fitting(found, schema, view);
  if (all.length > 0 || !types) return all.length > 0 ? all : found.slice(0, 1);
  return fitting(typedReadings(trimmed, types, schema, view), schema, view)
    .concat(found)
    .slice(0, 1);
}

/** Those that fit the schema. */
function fitting(found: readonly string[], schema: Schema, view: SchemaView): string[] {
  const check = new SchemaCheck(view);
  return found.filter((json) => check.fits(schema, JSON.parse(json)));
}

/** Strict JSON of an admitted type, and the same with its parts coerced; words as any spells them. */
function strictReadings(text: string, types: Types, schema: Schema, view: SchemaView): string[] {
  const trimmed = text.trim();
  if (WORD.test(trimmed)) {
    const word = trimmed.toLowerCase();
    if (word !== trimmed && (!types || view.lists(schema, text))) return [];
    return !types || types.has(word === 'null' ? 'null' : 'boolean') ? [word] : [];
  }
  const isContainer = /^[[{]/.test(trimmed);
  if (types && !(isContainer || JSON_NUMBER.test(trimmed))) return [];
  if (!isFiniteJson(trimmed) || (types && !isOfType(typeOfValue(JSON.parse(trimmed)), types))) return [];
  const whole = isContainer ? wholeJson(trimmed, schema, view) : null;
  return whole === null || whole === trimmed ? [trimmed] : [trimmed, whole];
}

function typedReadings(
  text: string,
  types: ReadonlySet<JsonType>,
  schema: Schema,
  view: SchemaView,
): string[] {
  const found: string[] = [];
  if (types.has('null') && /^null$/i.test(text)) found.push('null');
  if (types.has('integer')) {
    const digits = INTEGER.exec(text);
    if (digits) found.push(`${digits[1] === '-' && digits[2] !== '0' ? '-' : ''}${digits[2]}`);
  }
  if (types.has('number')) {
    const number = numberJson(text);
    if (number !== null) found.push(number);
  }
  if (types.has('boolean')) {
    if (/^(?:true|1)$/i.test(text)) found.push('true');
    if (/^(?:false|0)$/i.test(text)) found.push('false');
  }
  if ((types.has('object') || types.has('array')) && /^[[{]/.test(text)) {
    const json = wholeJson(text, schema, view);
    if (json !== null) found.push(json);
  }
  return found;
}

/**
 * A text that is marked as what it is: as text, a string where the schema admits one; as JSON, what that says. What is
 * not admitted so is coerced.
 *
 * @returns JSON text
 */
export function markedJson(text: string, kind: 'text' | 'json', schema: Schema, view: SchemaView): string {
  const types = view.types(schema);
  if (kind === 'json') {
    if (types?.size === 1 && types.has('string')) return JSON.stringify(stringValue(text) ?? text);
    const json = types
      ? wholeJson(text.trim(), schema, view)
      : isFiniteJson(text.trim())
        ? text.trim()
        : null;
    return json ?? coerceText(text, schema, view);
  }
  const isRight = !types || (types.has('string') && fitsSchema(text, schema, view));
  return isRight ? JSON.stringify(text) : coerceText(text, schema, view);
}

/** Strict JSON whose numbers are finite, as text without type information must be to count as JSON. */
function isFiniteJson(text: string): boolean {
  if (!/^[[{"\-\d]/.test(text)) return EXACT_WORD.test(text);
  let areFinite = true;
  try {
    JSON.parse(text, (_key, value: unknown) => {
      if (typeof value === 'number' && !Number.isFinite(value)) areFinite = false;
      return value;
    });
  } catch {
    return false;
  }
  return areFinite;
}

/** The text as one JSON value with the usual slips repaired and its parts coerced; null when it is none. */
export function wholeJson(text: string, schema: Schema, view: SchemaView): string | null {
  let json = '';
  const reader = new JsonReader((piece) => (json += piece), schema, view);
  const read = reader.read(text, 0, text.length);
  if (!reader.isDone && !reader.endScalar()) return null;
  return read === text.length && reader.isDone ? json + reader.takeCloser() : null;
}

/** Whether a JSON value of this type is what the schema wants already. */
export function fits(type: JsonType, types: ReadonlySet<JsonType> | null): boolean {
  if (!types || isOfType(type, types)) return true;
  return (type === 'object' && types.has('array')) || (type === 'array' && types.has('object'));
}

/** The text that a JSON string spells, null for anything else. */
export function stringValue(text: string): string | null {
  if (!text.trim().startsWith('"')) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : null;
  } catch {
    return null;
  }
}
