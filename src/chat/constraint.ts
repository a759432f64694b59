/** What a request holds the model to: calls, the form of the content, the length of its reasoning. */
import type { Constraint, ContentConstraint } from '../protocol.ts';
import {
  badType,
  badValue,
  booleanField,
  type Fields,
  isObject,
  jsonCopy,
  numberField,
  shown,
} from './fields.ts';
import type { RequestTools } from './tools.ts';

/**
 * How firmly calls are held, at least; a request can ask for more and never gets less.
 * `auto`: by `tool_choice` and each tool's `strict`. `function`: every call has the family's envelope and the name of
 * an offered function. `parameter`: arguments fit their schemas besides.
 */
export type ToolStrictness = 'auto' | 'function' | 'parameter';

export interface ConstraintContext {
  /** The formats by which the answer is split. */
  format: { reasoning: string | null; tools: string | null };
  toolStrictness: ToolStrictness;
  /** `false`: only `tool_choice` "required" and named hold the model to calls. */
  strictToolCalling: boolean;
}

/** Reads `response_format`, `structured_outputs`, `thinking_token_budget` and what the tools ask for. */
export function readConstraint(
  body: Fields,
  tools: RequestTools,
  parallel: boolean,
  context: ConstraintContext,
): Constraint | null {
  const calls = readCalls(tools, parallel, context);
  const content = readContent(body, tools);
  const thinkingTokenBudget = readBudget(body, context);
  if (!calls && !content && thinkingTokenBudget === null) return null;
  return { format: context.format, calls, content: isForced(tools) ? null : content, thinkingTokenBudget };
}

const isForced = ({ choice }: RequestTools) => choice !== 'auto' && choice !== 'none';

function readCalls(
  { choice, declared, offered }: RequestTools,
  parallel: boolean,
  { toolStrictness, strictToolCalling }: ConstraintContext,
): Constraint['calls'] {
  if (choice === 'none' || !offered) return null;
  const isStrict = toolStrictness !== 'auto' || declared.some(({ strict }) => strict === true);
  if (choice === 'auto' && !(strictToolCalling && isStrict)) return null;
  const functions = declared.map(({ name, parameters, strict, path }) => {
    const isHeld = toolStrictness === 'parameter' || (strict ?? choice !== 'auto');
    return {
      name,
      schema: isHeld && parameters !== undefined ? parameters : true,
      path: `${path}.parameters`,
    };
  });
  return { choice, parallel, functions };
}

function readContent(body: Fields, tools: RequestTools): ContentConstraint | null {
  const format = readResponseFormat(body.response_format);
  const outputs = readStructuredOutputs(body.structured_outputs);
  if (format && outputs) {
    throw badValue('structured_outputs', "Give 'response_format' or 'structured_outputs', not both.");
  }
  const content = format ?? outputs;
  if (content && isObject(tools.choice)) {
    const field = format ? 'response_format' : 'structured_outputs';
    throw badValue(field, `'${field}' has no meaning beside a named 'tool_choice': the answer is that call.`);
  }
  if (outputs && tools.choice === 'required') {
    throw badValue(
      'structured_outputs',
      "'structured_outputs' has no meaning beside 'tool_choice: \"required\"': the answer is calls. Use 'auto', or remove it.",
    );
  }
  return content;
}

const FORMAT_TYPES: readonly unknown[] = ['text', 'json_object', 'json_schema'];

const schemaGiven = ({ json_schema: schema }: Fields) => (schema == null ? {} : { json_schema: schema });

/** Fields of `response_format.json_schema`. */
const SCHEMA_FIELDS: readonly string[] = ['name', 'description', 'schema', 'strict'];

function readResponseFormat(format: unknown): ContentConstraint | null {
  if (format === undefined || format === null) return null;
  if (!isObject(format))
    throw badType('response_format', "an object such as { type: 'json_object' }", format);
  const { type, json_schema: _, ...others } = format;
  const [other] = Object.keys(type === 'json_schema' ? others : { ...others, ...schemaGiven(format) });
  if (other !== undefined && FORMAT_TYPES.includes(type)) {
    throw badValue(
      `response_format.${other}`,
      `'response_format.${other}' has no place beside the type ${shown(type)}; a schema belongs to ` +
        "{ type: 'json_schema', json_schema: { name, schema } }.",
      'unknown_parameter',
    );
  }
  switch (type) {
    case 'text':
      return null;
    case 'json_object':
      return { kind: 'json', schema: { type: 'object' }, path: 'response_format' };
    case 'json_schema': {
      const described = format.json_schema;
      if (!isObject(described)) {
        throw badType('response_format.json_schema', 'an object with a name and a schema', described);
      }
      const unknown = Object.keys(described).find((name) => !SCHEMA_FIELDS.includes(name));
      if (unknown !== undefined) {
        throw badValue(
          `response_format.json_schema.${unknown}`,
          `'response_format.json_schema.${unknown}' is not supported; there are ${SCHEMA_FIELDS.join(', ')}.`,
          'unknown_parameter',
        );
      }
      for (const name of ['name', 'description']) {
        const text = described[name] ?? '';
        if (typeof text !== 'string') throw badType(`response_format.json_schema.${name}`, 'a string', text);
      }
      booleanField(described, 'strict', true, 'response_format.json_schema.strict');
      return { kind: 'json', ...readSchema(described.schema, 'response_format.json_schema.schema') };
    }
    default:
      throw badValue(
        'response_format.type',
        `'response_format.type' must be "text", "json_object" or "json_schema"; got ${shown(format.type)}.`,
        'unsupported_value',
      );
  }
}

function readSchema(schema: unknown, path: string): { schema: unknown; path: string } {
  if (!isObject(schema) && typeof schema !== 'boolean') throw badType(path, 'a JSON schema', schema);
  return { schema: jsonCopy(schema, path), path };
}

const OUTPUT_KINDS = ['json', 'json_object', 'regex', 'choice', 'grammar', 'structural_tag'] as const;

function readStructuredOutputs(outputs: unknown): ContentConstraint | null {
  if (outputs === undefined || outputs === null) return null;
  if (!isObject(outputs))
    throw badType('structured_outputs', `an object with one of ${OUTPUT_KINDS.join(', ')}`, outputs);
  const given = Object.keys(outputs).filter((name) => outputs[name] !== undefined && outputs[name] !== null);
  const unknown = given.find((name) => !OUTPUT_KINDS.some((kind) => kind === name));
  if (unknown !== undefined) {
    throw badValue(
      `structured_outputs.${unknown}`,
      `'structured_outputs.${unknown}' is not supported; there are ${OUTPUT_KINDS.join(', ')}.`,
      'unsupported_parameter',
    );
  }
  const kind = OUTPUT_KINDS.find((name) => name === given[0]);
  if (given.length !== 1 || !kind) {
    throw badValue(
      'structured_outputs',
      `'structured_outputs' must have exactly one of ${OUTPUT_KINDS.join(', ')}.`,
    );
  }
  return readOutput(kind, outputs[kind], `structured_outputs.${kind}`);
}

function readOutput(
  kind: (typeof OUTPUT_KINDS)[number],
  value: unknown,
  path: string,
): ContentConstraint | null {
  switch (kind) {
    case 'json':
      return {
        kind: 'json',
        ...readSchema(typeof value === 'string' ? parseJson(value, path) : value, path),
      };
    case 'json_object':
      if (typeof value !== 'boolean') throw badType(path, 'true', value);
      return value ? { kind: 'json', schema: { type: 'object' }, path } : null;
    case 'regex':
      if (typeof value !== 'string') throw badType(path, 'a regular expression as a string', value);
      return { kind: 'regex', pattern: value, path };
    case 'structural_tag':
      if (!isObject(value) && typeof value !== 'string') throw badType(path, 'a structural tag', value);
      return {
        kind: 'structural_tag',
        tag: typeof value === 'string' ? parseJson(value, path) : jsonCopy(value, path),
        path,
      };
    case 'grammar':
      if (typeof value !== 'string') throw badType(path, 'a grammar in EBNF as a string', value);
      return { kind: 'grammar', source: value, path };
    default: {
      if (!Array.isArray(value) || value.length === 0) throw badType(path, 'an array of strings', value);
      const choices = Array.from(value, (choice: unknown, index) => {
        if (typeof choice !== 'string' || choice === '')
          throw badType(`${path}[${index}]`, 'a string with text', choice);
        return choice;
      });
      return { kind: 'choice', choices, path };
    }
  }
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw badValue(path, `'${path}' is a string that is no JSON; give an object.`);
  }
}

function readBudget(body: Fields, { format }: ConstraintContext): number | null {
  const budget = numberField(body, 'thinking_token_budget', {
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    integer: true,
  });
  if (budget === undefined) return null;
  if (format.reasoning === null) {
    throw badValue(
      'thinking_token_budget',
      "'thinking_token_budget' needs a model whose reasoning is recognised; remove it, or set createEngine({ reasoningParser }).",
      'unsupported_parameter',
    );
  }
  return budget;
}
