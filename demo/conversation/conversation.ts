/** Conversations as trees: a question that is edited, or an answer that is asked for again, is a branch. */
import type { ChatCompletionMessageParam } from '../../src/index.ts';
import { type AnswerRecord, emptyAnswer } from './answer.ts';
import { answerMessages } from './parts.ts';

/** A question and its answer. */
export interface Exchange {
  id: string;
  /** The exchange before; `null`: this is the first. */
  parent: string | null;
  question: string;
  answer: AnswerRecord;
}

export interface Conversation {
  id: string;
  title: string;
  /** Instructions that stand before all messages; `null` without any. */
  system: string | null;
  /** Milliseconds since the epoch. */
  created: number;
  updated: number;
  /** In the order in which they were asked. */
  exchanges: Exchange[];
  /** The last exchange of the branch that is shown; `null` in an empty conversation. */
  leaf: string | null;
}

export function newConversation(): Conversation {
  const now = Date.now();
  return {
    id: crypto.randomUUID(),
    title: 'New chat',
    system: null,
    created: now,
    updated: now,
    exchanges: [],
    leaf: null,
  };
}

const longestTitle = 60;

/** The exchanges of the branch that ends in `leaf`, the first one first. */
export function path({ exchanges, leaf }: Pick<Conversation, 'exchanges' | 'leaf'>): Exchange[] {
  const byId = new Map(exchanges.map((exchange) => [exchange.id, exchange]));
  const found: Exchange[] = [];
  let at = leaf === null ? undefined : byId.get(leaf);
  while (at) {
    found.unshift(at);
    at = at.parent === null ? undefined : byId.get(at.parent);
  }
  return found;
}

/** The exchanges that stand at the same place of the conversation, this one included. */
export function siblings({ exchanges }: Conversation, exchange: Exchange): Exchange[] {
  return exchanges.filter(({ parent }) => parent === exchange.parent);
}

/** Adds a question behind `parent` and shows its branch. */
export function addExchange(
  conversation: Conversation,
  parent: string | null,
  question: string,
  answer: AnswerRecord = emptyAnswer(),
): Exchange {
  const exchange: Exchange = { id: crypto.randomUUID(), parent, question, answer };
  if (conversation.exchanges.length === 0) conversation.title = titleOf(question);
  conversation.exchanges.push(exchange);
  conversation.leaf = exchange.id;
  conversation.updated = Date.now();
  return exchange;
}

/** Shows the branch that `exchange` is on: the newest one behind it. */
export function showBranch(conversation: Conversation, exchange: Exchange): void {
  let leaf = exchange;
  for (;;) {
    const next = conversation.exchanges.findLast(({ parent }) => parent === leaf.id);
    if (!next) break;
    leaf = next;
  }
  conversation.leaf = leaf.id;
}

/**
 * What a model reads of the branch before `exchange`, and its question. An exchange that was stopped before anything
 * came of it is left out, as two questions would follow each other.
 */
export function historyOf(conversation: Conversation, exchange: Exchange): ChatCompletionMessageParam[] {
  const { exchanges, system } = conversation;
  const before = path({ exchanges, leaf: exchange.parent });
  return [
    ...(system === null ? [] : [{ role: 'system' as const, content: system }]),
    ...before.flatMap(({ question, answer }) => {
      const messages = answerMessages(answer.parts);
      const said = messages.some((message) => message.role === 'tool' || message.content);
      return said ? [{ role: 'user' as const, content: question }, ...messages] : [];
    }),
    { role: 'user', content: exchange.question },
  ];
}

/** All messages of the branch that is shown, in OpenAI's form. */
export function messagesOf(conversation: Conversation): ChatCompletionMessageParam[] {
  const { system } = conversation;
  return [
    ...(system === null ? [] : [{ role: 'system' as const, content: system }]),
    ...path(conversation).flatMap(({ question, answer }) => [
      { role: 'user' as const, content: question },
      ...answerMessages(answer.parts),
    ]),
  ];
}

export function titleOf(question: string): string {
  const line = question.trim().split(/\s+/).join(' ');
  return line.length <= longestTitle ? line : `${line.slice(0, longestTitle - 1).trimEnd()}…`;
}
