/** The request fields that say where the prompt ends, and what of it the answer repeats. */
import type { Constraint, PromptEnd, TemplateMessage } from '../protocol.ts';
import { badValue, booleanField, type Fields } from './fields.ts';

/** Text of the last message that an answer begins with; `null` for none. */
export interface Echo {
  reasoning: string | null;
  content: string | null;
}

export interface PromptEndFields {
  promptEnd: PromptEnd;
  echo: Echo | null;
}

/** Reads `add_generation_prompt`, `continue_final_message` and `echo`. */
export function readPromptEnd(
  body: Fields,
  messages: readonly TemplateMessage[],
  constraint: Constraint | null,
): PromptEndFields {
  const last = messages.at(-1);
  const continues = booleanField(body, 'continue_final_message', false);
  const begins = booleanField(body, 'add_generation_prompt', !continues);
  if (continues && begins) {
    throw badValue(
      'add_generation_prompt',
      "'add_generation_prompt' begins a new message and 'continue_final_message' goes on with the last one; set one of them.",
    );
  }
  const echoes = booleanField(body, 'echo', false);
  if (echoes && !hasText(last)) {
    throw badValue(
      'echo',
      "'echo' begins the answer with the text of the last message, which must be one of the assistant's that has some.",
    );
  }
  if (echoes && last?.content && constraint?.content) {
    throw badValue(
      'echo',
      "'echo' begins the answer with a content that its form would have to hold from the beginning; " +
        "remove it, or 'response_format' and 'structured_outputs'.",
    );
  }
  const echo = echoes && last ? { reasoning: last.reasoning || null, content: last.content || null } : null;
  if (!continues) return { promptEnd: begins ? 'turn' : 'messages', echo };
  if (!hasText(last) || last?.tool_calls) {
    throw badValue(
      'continue_final_message',
      "'continue_final_message' needs a last message of the assistant's with content or reasoning, and without calls.",
    );
  }
  // Templates that take blocks of reasoning out of the content would leave out the other one.
  if (last?.reasoning && /^\s*<think>/.test(last.content ?? '')) {
    throw badValue(
      'continue_final_message',
      "'continue_final_message' can't go on with a message that has its reasoning twice, in 'reasoning' and between " +
        '<think> tags in its content; put both into one.',
    );
  }
  const promptEnd = last?.content ? 'content' : 'reasoning';
  if (promptEnd === 'content' && constraint?.content) {
    throw badValue(
      'continue_final_message',
      "'continue_final_message' goes on with a content that a grammar would have to hold from its beginning; " +
        "remove it, or 'response_format' and 'structured_outputs'.",
    );
  }
  return { promptEnd, echo };
}

const hasText = (message: TemplateMessage | undefined) =>
  message?.role === 'assistant' && Boolean(message.content || message.reasoning);
