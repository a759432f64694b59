import { Validator } from '@cfworker/json-schema';

export type JsonSchema = Record<string, unknown>;

export interface FormField {
  name: string;
  /** `title` of the schema, or the name. */
  label: string;
  kind: 'text' | 'number' | 'boolean' | 'choice' | 'json';
  choices: string[];
}

/** Throws an `Error` with a message for people. */
export function readSchema(text: string): JsonSchema {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`The schema is not JSON: ${error instanceof Error ? error.message : error}`);
  }
  if (!isObject(value)) throw new Error('The schema must be an object.');
  if (value.type !== 'object' || !isObject(value.properties) || Object.keys(value.properties).length === 0) {
    throw new Error("A form needs a schema of type 'object' with 'properties'.");
  }
  return value;
}

/** The fields of the form; what is no plain value is shown as JSON. */
export function fieldsOf(schema: JsonSchema): FormField[] {
  return Object.entries(schema.properties as Record<string, unknown>).map(([name, given]) => {
    const property = isObject(given) ? given : {};
    const choices = Array.isArray(property.enum) ? property.enum.map(String) : [];
    return {
      name,
      label: typeof property.title === 'string' ? property.title : name,
      kind: choices.length > 0 ? 'choice' : kindOf(property.type),
      choices,
    };
  });
}

function kindOf(type: unknown): FormField['kind'] {
  if (type === 'string') return 'text';
  if (type === 'number' || type === 'integer') return 'number';
  return type === 'boolean' ? 'boolean' : 'json';
}

/** What breaks the schema, with its place; nothing for a valid value. Throws where the schema itself is wrong. */
export function violations(schema: JsonSchema, value: unknown): string[] {
  const { errors } = new Validator(schema, '2020-12', false).validate(value);
  // What contains a violation is listed as well; the innermost says it.
  return errors
    .filter(({ keyword }) => keyword !== 'properties' && keyword !== 'items')
    .map(
      ({ instanceLocation, error }) => `${instanceLocation.replace(/^#\/?/, '') || 'the whole'}: ${error}`,
    );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
