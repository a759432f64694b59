import { BadRequestError } from '../errors.ts';
import { badType, badValue, type Fields, isObject, jsonCopy, shown } from './fields.ts';

/** A function that the model may call, as the parser needs it. */
export interface DeclaredTool {
  name: string;
  /** JSON schema of the arguments. */
  parameters?: unknown;
}

export interface RequestTools {
  /** OpenAI tool objects for the chat template; `null` when none are offered. */
  offered: unknown[] | null;
  declared: DeclaredTool[];
  choice: 'auto' | 'none';
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
  const copies = tools === null ? [] : tools.map((tool, index) => readTool(tool, `tools[${index}]`));
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
  if (strict) {
    throw badValue(
      `${path}.function.strict`,
      "'strict: true' is not supported yet: arguments are not held to their schema. Remove it and check them.",
      'unsupported_value',
    );
  }
  const copy = jsonCopy(tool, path);
  const schema = isObject(parameters) ? { parameters: jsonCopy(parameters, path) } : {};
  return { tool: copy, declaration: { name, ...schema } };
}

function readChoice(choice: unknown, declared: readonly DeclaredTool[]): 'auto' | 'none' {
  if (choice === undefined || choice === null) return 'auto';
  const named = isObject(choice);
  if (choice !== 'auto' && choice !== 'none' && choice !== 'required' && !named) {
    throw badValue('tool_choice', `'tool_choice' must be "auto" or "none"; got ${shown(choice)}.`);
  }
  if (choice === 'none') return choice;
  if (declared.length === 0) {
    throw badValue(
      'tool_choice',
      `'tool_choice' is ${shown(choice)}, but there are no 'tools' to choose from; add them or leave it out.`,
    );
  }
  if (choice === 'auto') return choice;
  throw new BadRequestError(
    `'tool_choice' ${named ? 'with a named tool' : '"required"'} is not supported yet: ` +
      'nothing holds the model to a call. Use "auto", and say in a message which tool to call.',
    { param: 'tool_choice', code: 'unsupported_value' },
  );
}
