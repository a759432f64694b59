import type { TemplateMessage } from '../protocol.ts';
import { badType, badValue, type Fields, isObject, shown } from './fields.ts';
import { untagged } from './reasoning-field.ts';

const roles = ['system', 'developer', 'user', 'assistant', 'tool'] as const;
type Role = (typeof roles)[number];

/** Fields of a message beside `role` and `content`. */
const fieldsOf: Record<Role, readonly string[]> = {
  system: ['name'],
  developer: ['name'],
  user: ['name'],
  assistant: [
    'name',
    'reasoning',
    'reasoning_content',
    'tool_calls',
    'refusal',
    'audio',
    'annotations',
    'function_call',
  ],
  tool: ['name', 'tool_call_id'],
};

/** OpenAI's own message fields that a text model cannot take: allowed only where they say nothing. */
const emptyOnly = ['refusal', 'audio', 'annotations', 'function_call'];

type TemplateCall = NonNullable<TemplateMessage['tool_calls']>[number];

/**
 * Checks the messages and brings them into the form that a chat template reads.
 *
 * @param tagged the assistant's content may begin with its reasoning between `<think>` tags
 */
export function readMessages(value: unknown, tagged = false): TemplateMessage[] {
  if (!Array.isArray(value)) throw badType('messages', 'an array of messages', value);
  if (value.length === 0) {
    throw badValue('messages', "'messages' is empty; add at least one message.", 'empty_array');
  }
  const callIds = new Set<string>();
  return Array.from(value, (message: unknown, index) => {
    const read = readMessage(message, `messages[${index}]`, callIds);
    if (tagged && read.role === 'assistant' && read.reasoning === undefined) {
      Object.assign(read, untagged(read.content ?? ''));
    }
    for (const call of read.tool_calls ?? []) callIds.add(call.id);
    return read;
  });
}

function readMessage(message: unknown, path: string, callIds: ReadonlySet<string>): TemplateMessage {
  if (!isObject(message)) throw badType(path, 'a message object', message);
  const role = roles.find((known) => known === message.role);
  if (!role) {
    if (message.role === undefined) throw badType(`${path}.role`, `one of ${roles.join(', ')}`, undefined);
    throw badValue(
      `${path}.role`,
      `'${path}.role' must be one of ${roles.join(', ')}; got ${shown(message.role)}.`,
    );
  }
  checkFields(message, role, path);
  const read: TemplateMessage = { role: role === 'developer' ? 'system' : role, content: null };
  const name = optionalText(message, 'name', path);
  if (name !== undefined) read.name = name;
  if (role === 'assistant') return readAssistant(message, path, read);
  read.content = readContent(message.content, `${path}.content`);
  if (role === 'tool') read.tool_call_id = readCallId(message.tool_call_id, `${path}.tool_call_id`, callIds);
  return read;
}

function checkFields(message: Fields, role: Role, path: string): void {
  for (const [field, value] of Object.entries(message)) {
    if (field === 'role' || field === 'content' || value === undefined) continue;
    if (!fieldsOf[role].includes(field)) {
      throw badValue(
        `${path}.${field}`,
        `A message of role '${role}' has no field '${field}'; remove it.`,
        'unknown_parameter',
      );
    }
    const empty = value === null || (Array.isArray(value) && value.length === 0);
    if (emptyOnly.includes(field) && !empty) {
      throw badValue(
        `${path}.${field}`,
        `'${field}' of an assistant message is not supported; put its text into 'content' or remove it.`,
        'unsupported_parameter',
      );
    }
  }
}

function readAssistant(message: Fields, path: string, read: TemplateMessage): TemplateMessage {
  const newer = optionalText(message, 'reasoning', path);
  const older = optionalText(message, 'reasoning_content', path);
  // Some servers fill one of them and leave the other empty.
  const reasoning = newer || older || (newer ?? older);
  const calls = readCalls(message.tool_calls, `${path}.tool_calls`);
  if (reasoning !== undefined) read.reasoning = reasoning;
  if (calls.length > 0) read.tool_calls = calls;
  const { content } = message;
  if (content === undefined && reasoning === undefined && calls.length === 0) {
    throw badType(`${path}.content`, 'a string (or null beside tool_calls or reasoning)', undefined);
  }
  // Some templates tell a turn of calls by its content being null, others print "None" for any other null.
  if (content === undefined || content === null) read.content = calls.length > 0 ? null : '';
  else read.content = readContent(content, `${path}.content`);
  return read;
}

function readContent(content: unknown, path: string): string {
  if (typeof content === 'string') return content;
  const expected = 'a string or an array of text parts';
  if (!Array.isArray(content)) throw badType(path, expected, content);
  if (content.length === 0) {
    throw badValue(path, `'${path}' is an empty array; add a text part or pass a string.`, 'empty_array');
  }
  return Array.from(content, (part, index) => readPart(part, `${path}[${index}]`)).join('\n');
}

function readPart(part: unknown, path: string): string {
  if (!isObject(part)) throw badType(path, "an object such as { type: 'text', text: '…' }", part);
  if (part.type !== 'text') {
    throw badValue(
      `${path}.type`,
      `'${path}.type' must be "text": the model reads text only; got ${shown(part.type)}. Remove the part.`,
      'unsupported_value',
    );
  }
  if (typeof part.text !== 'string') throw badType(`${path}.text`, 'a string', part.text);
  return part.text;
}

function readCallId(id: unknown, path: string, callIds: ReadonlySet<string>): string {
  if (typeof id !== 'string' || id === '') {
    throw badType(path, 'the id of the call that this message answers', id === '' ? '' : id);
  }
  if (!callIds.has(id)) {
    throw badValue(
      path,
      `'${path}' is ${shown(id)}, but no earlier assistant message has a call of that id. ` +
        "Put the assistant message with its 'tool_calls' before the tool message.",
    );
  }
  return id;
}

function readCalls(calls: unknown, path: string): TemplateCall[] {
  if (calls === undefined || calls === null) return [];
  if (!Array.isArray(calls)) throw badType(path, 'an array of tool calls', calls);
  return Array.from(calls, (call, index) => readCall(call, `${path}[${index}]`));
}

function readCall(call: unknown, path: string): TemplateCall {
  if (!isObject(call)) throw badType(path, 'a tool call object', call);
  if (typeof call.id !== 'string' || call.id === '') throw badType(`${path}.id`, 'a string', call.id);
  if (call.type !== undefined && call.type !== 'function') {
    throw badValue(`${path}.type`, `'${path}.type' must be "function"; got ${shown(call.type)}.`);
  }
  const called = call.function;
  if (!isObject(called)) throw badType(`${path}.function`, 'an object with name and arguments', called);
  if (typeof called.name !== 'string' || called.name === '') {
    throw badType(`${path}.function.name`, 'the name of a function', called.name);
  }
  if (typeof called.arguments !== 'string') {
    const hint = isObject(called.arguments) ? ' (use JSON.stringify)' : '';
    throw badType(`${path}.function.arguments`, `a string of JSON${hint}`, called.arguments);
  }
  return {
    id: call.id,
    type: 'function',
    function: { name: called.name, arguments: templateArguments(called.arguments) },
  };
}

/** Templates print an object in the spelling that the model was trained on; other text goes in as it is. */
function templateArguments(text: string): Record<string, unknown> | string {
  if (text.trim() === '') return {};
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : text;
  } catch {
    return text;
  }
}

function optionalText(message: Fields, field: string, path: string): string | undefined {
  const value = message[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw badType(`${path}.${field}`, 'a string', value);
  return value;
}
