/** Conversations as JSON files, their messages in OpenAI's form. */
import type { ChatCompletionMessageParam } from '../../src/index.ts';
import { type AnswerRecord, emptyAnswer } from './answer.ts';
import { addExchange, type Conversation, messagesOf, newConversation, titleOf } from './conversation.ts';
import type { CallPart, Part } from './parts.ts';

interface PortableConversation {
  title: string;
  messages: ChatCompletionMessageParam[];
}

/** The branches that are shown, as the text of a file. */
export function exportText(conversations: readonly Conversation[]): string {
  const portable: PortableConversation[] = conversations.map((conversation) => ({
    title: conversation.title,
    messages: messagesOf(conversation),
  }));
  return `${JSON.stringify({ conversations: portable }, null, 2)}\n`;
}

/**
 * Conversations of a file that {@link exportText} wrote, or of any JSON that has messages in OpenAI's form: a list of
 * messages, an object with `messages`, or a list of such objects.
 *
 * @throws Error with a message for people that says what is wrong, and where
 */
export function importText(text: string): Conversation[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`The file is not JSON: ${error instanceof Error ? error.message : error}`);
  }
  const found = portableOf(value);
  if (found.length === 0) throw new Error('The file has no conversation.');
  return found.map((given, index) =>
    conversationOf(given, found.length > 1 ? `conversations[${index}].` : ''),
  );
}

function portableOf(value: unknown): { title?: unknown; messages: unknown }[] {
  if (isObject(value) && Array.isArray(value.conversations)) return value.conversations.map(withMessages);
  if (Array.isArray(value) && value.every((item) => isObject(item) && 'role' in item))
    return [{ messages: value }];
  if (Array.isArray(value)) return value.map(withMessages);
  return [withMessages(value)];
}

function withMessages(value: unknown): { title?: unknown; messages: unknown } {
  if (!isObject(value) || !('messages' in value)) {
    throw new Error("The file has no conversation: there is no 'messages' in it.");
  }
  return { title: value.title, messages: value.messages };
}

function conversationOf(given: { title?: unknown; messages: unknown }, path: string): Conversation {
  if (!Array.isArray(given.messages)) throw new Error(`'${path}messages' must be a list.`);
  const conversation = newConversation();
  const system: string[] = [];
  let answer: AnswerRecord | null = null;
  let round = 0;
  for (const [index, message] of given.messages.entries()) {
    const at = `${path}messages[${index}]`;
    if (!isObject(message)) throw new Error(`'${at}' must be a message, which has a 'role'.`);
    const { role } = message;
    if (role === 'system' || role === 'developer') {
      if (answer) throw new Error(`'${at}': instructions can only stand before the first question.`);
      system.push(textOf(message.content, at));
    } else if (role === 'user') {
      answer = { ...emptyAnswer(), end: 'answered' };
      round = 0;
      addExchange(conversation, conversation.leaf, textOf(message.content, at), answer);
    } else if (role === 'assistant' || role === 'tool') {
      if (!answer) throw new Error(`'${at}': the first message must be one of the user's.`);
      if (role === 'tool') addResult(answer.parts, message, at);
      else answer.parts.push(...partsOf(message, ++round, at));
    } else {
      throw new Error(
        `'${at}.role' must be system, developer, user, assistant or tool; got ${JSON.stringify(role)}.`,
      );
    }
  }
  if (conversation.exchanges.length === 0) throw new Error(`'${path}messages' has no question of a user.`);
  if (system.length > 0) conversation.system = system.join('\n');
  if (typeof given.title === 'string' && given.title.trim() !== '') conversation.title = titleOf(given.title);
  return conversation;
}

function partsOf(message: Record<string, unknown>, round: number, at: string): Part[] {
  const reasoning = message.reasoning ?? message.reasoning_content;
  const content =
    message.content === null || message.content === undefined ? '' : textOf(message.content, at);
  const parts: Part[] = [];
  if (typeof reasoning === 'string' && reasoning !== '') {
    parts.push({ kind: 'reasoning', round, text: reasoning, milliseconds: 0 });
  }
  if (content !== '') parts.push({ kind: 'content', round, text: content });
  if (message.tool_calls === undefined || message.tool_calls === null) return parts;
  if (!Array.isArray(message.tool_calls)) throw new Error(`'${at}.tool_calls' must be a list.`);
  for (const [index, call] of message.tool_calls.entries()) {
    const called = isObject(call) && isObject(call.function) ? call.function : {};
    if (!isObject(call) || typeof called.name !== 'string' || typeof called.arguments !== 'string') {
      throw new Error(`'${at}.tool_calls[${index}]' must have an id and a function with name and arguments.`);
    }
    parts.push({
      kind: 'call',
      round,
      id: String(call.id),
      name: called.name,
      arguments: called.arguments,
      state: 'dropped',
      result: null,
      milliseconds: null,
    });
  }
  return parts;
}

function addResult(parts: Part[], message: Record<string, unknown>, at: string): void {
  const call = parts.findLast(
    (part): part is CallPart => part.kind === 'call' && part.id === message.tool_call_id,
  );
  if (!call)
    throw new Error(`'${at}': no call before it has the id ${JSON.stringify(message.tool_call_id)}.`);
  call.result = textOf(message.content, at);
  call.state = 'done';
}

function textOf(content: unknown, at: string): string {
  if (typeof content === 'string') return content;
  const isText = (part: unknown): part is { text: string } =>
    isObject(part) && part.type === 'text' && typeof part.text === 'string';
  if (Array.isArray(content) && content.every(isText)) return content.map(({ text }) => text).join('\n');
  throw new Error(`'${at}.content' must be text; images and files are not read here.`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
