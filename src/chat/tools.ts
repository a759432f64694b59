import { badType, badValue, type Fields, isObject, jsonCopy, shown } from './fields.ts';

/** A function that the model may call, as the parser needs it. */
export interface DeclaredTool {
  name: string;
  /** JSON schema of the arguments. */
  parameters?: unknown;
  /** Whether its arguments must fit the schema; unset: as the request's other fields have it. */
  strict?: boolean;
  /** Where it stands in the request: `tools[0].function`. */
  path: string;
}

export interface RequestTools {
  /** OpenAI tool objects for the chat template; `null` when none are offered. */
  offered: unknown[] | null;
  declared: DeclaredTool[];
  choice: 'auto' | 'none' | 'required' | { name: string };
}

/** Letters that no family's call markup uses for itself. */
const namePattern = /^[A-Za-z0-9_./-]{1,128}$/;

/** Checks `tools` and `tool_choice`. */
export function readTools(body: Fields): RequestTools {
  const tools = body.tools ?? null;
  if (tools !== null && !Array.isArray(tools)) throw badType('tools', 'an array of tools', tools);
  if (tools?.length === 0) {
    throw badValue('tools', "'tools' is empty; leave it out or add a tool.", 'empty_array');
  }
  const copies = Array.from(tools ?? [], (tool, index) => readTool(tool, `tools[${index}]`));
  const declared = copies.map(({ declaration }) => declaration);
  declared.forEach(({ name }, index) => {
    if (declared.findIndex((other) => other.name === name) !== index) {
      throw badValue(
        `tools[${index}].function.name`,
        `Two tools are named ${shown(name)}; give each its own name.`,
      );
    }
  });
  const choice = readChoice(body.tool_choice, declared);
  const offered = tools !== null && choice !== 'none' ? copies.map(({ tool }) => tool) : null;
  return { offered, declared, choice };
}

function readTool(tool: unknown, path: string): { tool: unknown; declaration: DeclaredTool } {
  if (!isObject(tool)) throw badType(path, "an object such as { type: 'function', function: { … } }", tool);
  if (tool.type !== 'function') {
    throw badValue(
      `${path}.type`,
      `'${path}.type' must be "function"; got ${shown(tool.type)}.`,
      'unsupported_value',
    );
  }
  const described = tool.function;
  if (!isObject(described)) throw badType(`${path}.function`, 'an object with a name', described);
  const { name, description, parameters, strict } = described;
  if (typeof name !== 'string') throw badType(`${path}.function.name`, 'a string', name);
  if (!namePattern.test(name)) {
    throw badValue(
      `${path}.function.name`,
      `'${path}.function.name' must be 1 to 128 of A-Z, a-z, 0-9, '_', '-', '.' and '/'; got ${shown(name)}.`,
    );
  }
  if (description !== undefined && description !== null && typeof description !== 'string') {
    throw badType(`${path}.function.description`, 'a string', description);
  }
  if (parameters !== undefined && parameters !== null && !isObject(parameters)) {
    throw badType(`${path}.function.parameters`, 'a JSON schema object', parameters);
  }
  if (strict !== undefined && strict !== null && typeof strict !== 'boolean') {
    throw badType(`${path}.function.strict`, 'true or false', strict);
  }
  const copy = jsonCopy(tool, path);
  const schema = isObject(parameters) ? { parameters: jsonCopy(parameters, path) } : {};
  const strictness = typeof strict === 'boolean' ? { strict } : {};
  return { tool: copy, declaration: { name, ...schema, ...strictness, path: `${path}.function` } };
}

function readChoice(choice: unknown, declared: readonly DeclaredTool[]): RequestTools['choice'] {
  if (choice === undefined || choice === null) return 'auto';
  if (choice === 'none') return choice;
  const isNamed = isObject(choice);
  if (choice !== 'auto' && choice !== 'required' && !isNamed) {
    throw badValue(
      'tool_choice',
      `'tool_choice' must be "auto", "none", "required" or { type: "function", function: { name } }; got ${shown(choice)}.`,
    );
  }
  if (declared.length === 0) {
    throw badValue(
      'tool_choice',
      `'tool_choice' is ${shown(choice)}, but there are no 'tools' to choose from; add them or leave it out.`,
    );
  }
  return isNamed ? readNamedChoice(choice, declared) : choice;
}

function readNamedChoice(choice: Fields, declared: readonly DeclaredTool[]): { name: string } {
  if (choice.type !== 'function') {
    throw badValue(
      'tool_choice.type',
      `'tool_choice.type' must be "function"; got ${shown(choice.type)}.`,
      'unsupported_value',
    );
  }
  if (!isObject(choice.function))
    throw badType('tool_choice.function', 'an object with a name', choice.function);
  const { name } = choice.function;
  if (typeof name !== 'string') throw badType('tool_choice.function.name', 'a string', name);
  if (!declared.some((tool) => tool.name === name)) {
    throw badValue(
      'tool_choice.function.name',
      `'tool_choice' names ${shown(name)}, which is not among the 'tools': ${declared.map((tool) => tool.name).join(', ')}.`,
    );
  }
  return { name };
}
