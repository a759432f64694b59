import { runJavaScript } from './javascript.ts';
import { type DemoTool, requireObject, ToolError } from './tool.ts';

/** A tool that somebody wrote on the page: its schema, and a body in JavaScript that runs in the sandbox. */
export interface CustomTool {
  name: string;
  description: string;
  /** JSON schema of the arguments. */
  parameters: Record<string, unknown>;
  /** The body of an async function of `args`; what it returns is the result. */
  code: string;
}

const namePattern = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

/**
 * A tool of what was pasted: an OpenAI tool, a function with `name`, `description` and `parameters`, or only the
 * parameters' schema with a `title`.
 *
 * @throws Error with a message for people
 */
export function readCustomTool(schemaText: string, code: string): CustomTool {
  let value: unknown;
  try {
    value = JSON.parse(schemaText);
  } catch (error) {
    throw new Error(`The schema is not JSON: ${error instanceof Error ? error.message : error}`);
  }
  const outer = asObject(value, 'The schema');
  const given = outer.type === 'function' && outer.function ? asObject(outer.function, "'function'") : outer;
  const isFunction = 'parameters' in given;
  const name = isFunction ? given.name : given.title;
  if (typeof name !== 'string' || !namePattern.test(name)) {
    const field = isFunction ? 'name' : 'title';
    throw new Error(`'${field}' must be the tool's name: letters, digits, _ and -, at most 64.`);
  }
  const parameters = isFunction ? asObject(given.parameters, "'parameters'") : given;
  if (parameters.type !== 'object') throw new Error("The parameters must be of type 'object'.");
  if (code.trim() === '') throw new Error('The tool needs a body, for example: return args;');
  return {
    name,
    description: typeof given.description === 'string' ? given.description : '',
    parameters,
    code,
  };
}

export function runnableTool({ name, description, parameters, code }: CustomTool): DemoTool {
  return {
    name,
    description,
    parameters,
    remark: 'Your own tool, run in the sandbox.',
    async run(args, { signal }) {
      const { value, error } = await runJavaScript(code, { args: requireObject(args), signal });
      if (error !== null) throw new ToolError(error);
      return value;
    },
  };
}

function asObject(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new Error(`${what} must be an object.`);
}
