import { badType, badValue, type Fields, isObject } from '../chat/fields.ts';
import { type ReasoningField, untagged } from '../chat/reasoning-field.ts';
import { ChatAnswer } from './chat-answer.ts';
import type { Dialect, RemoteRequest, RequestSetting } from './dialect.ts';
import { readRequest } from './request-fields.ts';

/** The server renders the messages and splits the output: `/chat/completions`, its fields passed on as they are. */
export class ServerParse implements Dialect {
  readonly format = null;
  readonly #reasoningField: ReasoningField;

  constructor(reasoningField: ReasoningField) {
    this.#reasoningField = reasoningField;
  }

  async prepare(
    given: unknown,
    { model, incompleteToolCalls }: Pick<RequestSetting, 'model' | 'incompleteToolCalls'>,
  ): Promise<RemoteRequest> {
    const fields = readRequest(given, this.#reasoningField);
    const { body, choices, stream, includeUsage, deliverReasoning, reasoningField, placement } = fields;
    const messages = messagesOf(body.messages, reasoningField === 'content');
    const options = isObject(body.stream_options) ? body.stream_options : {};
    return {
      path: '/chat/completions',
      body: {
        ...body,
        model,
        messages,
        // A whole answer is a stream, collected: so a broken one is seen, and there is one way to read it.
        stream: true,
        stream_options: { ...options, include_usage: true },
      },
      stream,
      reader: new ChatAnswer({
        choices,
        stop: [body.stop, body.stop_token_ids].flat(),
        incompleteToolCalls,
        deliverReasoning,
        includeUsage,
      }),
      placement,
    };
  }

  async close(): Promise<void> {}
}

/** Reasoning goes back under both of its names: newer servers read `reasoning`, older ones `reasoning_content`. */
export function messagesOf(messages: unknown, tagged: boolean): unknown[] {
  if (!Array.isArray(messages)) throw badType('messages', 'an array of messages', messages);
  if (messages.length === 0) {
    throw badValue('messages', "'messages' is empty; add at least one message.", 'empty_array');
  }
  return messages.map((message: unknown, index) => {
    if (!isObject(message)) throw badType(`messages[${index}]`, 'a message object', message);
    return message.role === 'assistant' ? assistantOf(message, tagged) : message;
  });
}

function assistantOf(message: Fields, tagged: boolean): Fields {
  const { reasoning, reasoning_content: older, ...rest } = message;
  // Some servers fill one of them and leave the other empty.
  const told = reasoning || older || (reasoning ?? older ?? null);
  if (told !== null) return { ...rest, reasoning: told, reasoning_content: told };
  const apart = tagged && typeof rest.content === 'string' ? untagged(rest.content) : null;
  if (!apart) return rest;
  return { ...rest, ...apart, reasoning_content: apart.reasoning };
}
