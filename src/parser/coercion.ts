/** Text that a model wrote for a value, as the JSON that the value's schema wants. */
import { JsonReader } from './json-reader.ts';
import type { JsonType, Schema, SchemaView } from './schema.ts';

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const INTEGER = /^([+-]?)0*(\d+)$/;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** JSON text of a number, or null: finite decimal notation only, whole values as integers. */
export function numberJson(text: string): string | null {
  if (!DECIMAL.test(text)) return null;
  const value = Number(text);
  if (!Number.isFinite(value)) return null;
  return JSON_NUMBER.test(text) ? text : String(value);
}

/**
 * Converts by the fixed priority null, integer, number, boolean, object, array, string; the first that succeeds
 * wins. Without type information, and when nothing matches: JSON if it parses, otherwise the text.
 *
 * @returns JSON text
 */
export function coerceText(text: string, schema: Schema, view: SchemaView): string {
  const json = coerceByType(text, schema, view);
  const choices = view.listed(schema);
  // A text that is listed is itself, unless what it reads as is listed too.
  const isListed = choices.includes(text) && !choices.some((choice) => JSON.stringify(choice) === json);
  return isListed ? JSON.stringify(text) : json;
}

function coerceByType(text: string, schema: Schema, view: SchemaView): string {
  const types = view.types(schema);
  const trimmed = text.trim();
  if (types) {
    if (types.has('null') && /^null$/i.test(trimmed)) return 'null';
    if (types.has('integer')) {
      const digits = INTEGER.exec(trimmed);
      if (digits) return `${digits[1] === '-' && digits[2] !== '0' ? '-' : ''}${digits[2]}`;
    }
    if (types.has('number')) {
      const number = numberJson(trimmed);
      if (number !== null) return number;
    }
    if (types.has('boolean')) {
      if (/^(?:true|1)$/i.test(trimmed)) return 'true';
      if (/^(?:false|0)$/i.test(trimmed)) return 'false';
    }
    if ((types.has('object') || types.has('array')) && /^[[{]/.test(trimmed)) {
      const json = wholeJson(trimmed, schema, view);
      if (json !== null) return json;
    }
    if (types.has('string')) return JSON.stringify(text);
  }
  return isFiniteJson(trimmed) ? trimmed : JSON.stringify(text);
}

/** Strict JSON whose numbers are finite, as text without type information must be to count as JSON. */
function isFiniteJson(text: string): boolean {
  if (!/^[[{"\-\dtfn]/.test(text)) return false;
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
  if (!types || types.has(type)) return true;
  if (type === 'integer') return types.has('number');
  return (type === 'object' && types.has('array')) || (type === 'array' && types.has('object'));
}
