import { withoutComments } from '../../src/formats/template-text.ts';
import type { TemplateMessage } from '../../src/protocol.ts';

/** A message as one template reads it. */
export type RenderedMessage = Omit<TemplateMessage, 'content'> & {
  content: string | null | ContentBlock[];
  reasoning_content?: string;
  thinking?: string;
};

type ContentBlock = { type: 'text'; text: string } | { type: 'thinking'; thinking: string };

/** How a template reads messages. */
export interface MessageForm {
  reasoning: ReasoningForm;
  /** Asks whether a content is null, to tell a turn of calls; others stumble over null, or print it. */
  asksForNull: boolean;
}

/** How a template wants the reasoning of the assistant's messages. */
type ReasoningForm =
  /** As a field of its own, whatever its name. */
  | 'field'
  /** As a field of its own, and of a message with calls that or the content, not both. */
  | 'field-or-content'
  /** As a block of the content. */
  | 'blocks'
  /** In the content, between tags. */
  | 'tags'
  /** Not at all. */
  | 'none';

/** A block of the content whose type is `thinking`, in whatever variable. */
const BLOCK = /\btype(?:["']\])?\s*==\s*["']thinking["']|\bblock(?:\.thinking\b|\[["']thinking["']\])/;
const REFUSAL = /message\.content and message\.thinking[^%]*%\}\s*\{\{-?\s*raise_exception/;

const NULL_TEST = /\bcontent(?:["']\])?\s*(?:is\s+(?:not\s+)?|[=!]=\s*)none\b/i;

/** By what the template's source reads of a message, comments aside. */
export function messageForm(template: string): MessageForm {
  const source = withoutComments(template);
  return { reasoning: reasoningForm(source), asksForNull: NULL_TEST.test(source) };
}

function reasoningForm(source: string): ReasoningForm {
  if (readsField(source, 'reasoning') || readsField(source, 'reasoning_content')) return 'field';
  if (BLOCK.test(source)) return 'blocks';
  if (readsField(source, 'thinking')) return REFUSAL.test(source) ? 'field-or-content' : 'field';
  return source.includes('</think>') ? 'tags' : 'none';
}

/** `message.reasoning`, `message['reasoning']`, `message.get('reasoning')`, `'reasoning' in message`. */
function readsField(source: string, name: string): boolean {
  const quoted = `["']${name}["']`;
  return new RegExp(`\\.${name}\\b|\\[${quoted}\\]|get\\(\\s*${quoted}|${quoted} in\\b`).test(source);
}

/**
 * The messages as the template reads them, with their reasoning where it looks for it. Between tags only behind the last message of the
 * user: before it, templates that don't know reasoning would print what their model must not see again.
 */
export function formMessages(
  messages: readonly TemplateMessage[],
  { reasoning: form, asksForNull }: MessageForm,
): RenderedMessage[] {
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  return messages.map((given, index) => {
    const message = asksForNull ? given : { ...given, content: given.content ?? '' };
    const { reasoning, content } = message;
    if (message.role !== 'assistant' || reasoning === undefined || form === 'none') return message;
    if (form === 'blocks') return { ...message, content: blocks(reasoning, content) };
    if (form === 'tags')
      return index > lastUser ? { ...message, content: tagged(reasoning, content) } : message;
    const isBoth = form === 'field-or-content' && message.tool_calls !== undefined && Boolean(content);
    const whole = isBoth ? `${reasoning}\n${content}` : reasoning;
    return {
      ...message,
      ...(isBoth && { content: '' }),
      reasoning: whole,
      reasoning_content: whole,
      thinking: whole,
    };
  });
}

function blocks(reasoning: string, content: string | null): ContentBlock[] {
  const thinking = { type: 'thinking' as const, thinking: reasoning };
  return content ? [thinking, { type: 'text', text: content }] : [thinking];
}

const tagged = (reasoning: string, content: string | null) =>
  `<think>\n${reasoning}\n</think>\n\n${content ?? ''}`;
