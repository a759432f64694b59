import type { ChatCompletionFunctionTool } from '../chat/types.ts';
import { BadRequestError } from '../errors.ts';
import type { RunnableTool, StandardIssue, StandardSchema } from './types.ts';

/** The tools of a run: told to the model, and found by name. */
export class ToolBox {
  readonly definitions: ChatCompletionFunctionTool[];
  readonly #tools: ReadonlyMap<string, RunnableTool>;

  /** @throws BadRequestError for what is no tool, or has a schema that cannot be told to the model */
  constructor(tools: readonly RunnableTool[]) {
    if (!Array.isArray(tools)) throw bad('tools', "'tools' must be an array of tools.");
    this.definitions = tools.map((tool, index) => definition(tool, `tools[${index}]`));
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    const names = tools.map(({ name }) => name);
    const twice = names.findIndex((name, index) => names.indexOf(name) < index);
    if (twice >= 0) {
      throw bad(`tools[${twice}].name`, `There are two tools ${JSON.stringify(names[twice])}; rename one.`);
    }
  }

  /** The tool of a call, and its arguments as `run` gets them. Throws what the model is to be told. */
  async read(name: string, text: string): Promise<{ tool: RunnableTool; args: unknown }> {
    const tool = this.#tools.get(name);
    if (!tool) {
      throw new Error(
        `There is no tool ${JSON.stringify(name)}. The tools: ${[...this.#tools.keys()].join(', ')}.`,
      );
    }
    const { parameters } = tool;
    let args = parsed(text);
    if (isStandard(parameters)) args = await checked(parameters, args);
    if (tool.validate) args = await tool.validate(args);
    return { tool, args };
  }
}

/** What the model reads of a tool's result. Throws where it cannot be JSON. */
export function resultText(value: unknown): string {
  if (typeof value === 'string') return value;
  const text = JSON.stringify(value ?? null);
  if (text === undefined) throw new Error(`The tool's result is a ${typeof value}, which is no JSON.`);
  return text;
}

/** What the model reads of a tool that failed. */
export function errorText(thrown: unknown): string {
  return JSON.stringify({ error: thrown instanceof Error ? thrown.message : shown(thrown) });
}

/** Also of what has no text of its own. */
function shown(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return 'The tool failed.';
  }
}

function definition(tool: RunnableTool, path: string): ChatCompletionFunctionTool {
  if (typeof tool !== 'object' || tool === null || typeof tool.run !== 'function') {
    throw bad(path, `'${path}' must be an object such as { name, description, parameters, run }.`);
  }
  if ('function' in tool) {
    throw bad(path, `'${path}' has OpenAI's form; runTools takes { name, description, parameters, run }.`);
  }
  const { name, description, parameters, strict } = tool;
  return {
    type: 'function',
    function: {
      name,
      ...(description !== undefined && { description }),
      parameters:
        parameters === undefined ? { type: 'object', properties: {} } : jsonSchema(parameters, path),
      ...(strict !== undefined && { strict }),
    },
  };
}

function jsonSchema(
  parameters: NonNullable<RunnableTool['parameters']>,
  path: string,
): Record<string, unknown> {
  if (!isStandard(parameters)) return parameters;
  const { vendor, jsonSchema } = parameters['~standard'];
  const otherwise =
    "Give its JSON schema as 'parameters' (with zod: z.toJSONSchema(schema)) and check the arguments in 'validate'.";
  if (!jsonSchema) {
    throw bad(
      `${path}.parameters`,
      `'${path}.parameters' is a schema of ${vendor} that has no JSON form. ${otherwise}`,
    );
  }
  try {
    return jsonSchema.input({ target: 'draft-2020-12' });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw bad(
      `${path}.parameters`,
      `'${path}.parameters' cannot be written as a JSON schema: ${why}. ${otherwise}`,
    );
  }
}

function isStandard(schema: RunnableTool['parameters']): schema is StandardSchema {
  return schema !== undefined && schema !== null && '~standard' in schema;
}

function parsed(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`The arguments are not JSON: ${error instanceof Error ? error.message : error}`);
  }
}

async function checked(schema: StandardSchema, args: unknown): Promise<unknown> {
  const result = await schema['~standard'].validate(args);
  if (result.issues === undefined) return result.value;
  throw new Error(`The arguments are wrong: ${result.issues.map(issueText).join('; ')}`);
}

function issueText({ message, path = [] }: StandardIssue): string {
  const keys = path.map((step) => String(typeof step === 'object' ? step.key : step));
  return keys.length === 0 ? message : `${keys.join('.')}: ${message}`;
}

function bad(param: string, message: string): BadRequestError {
  return new BadRequestError(message, { param, code: 'invalid_value' });
}
