import { computed, signal } from '@preact/signals';
import { type Engine, TokenprismError } from '../../../src/index.ts';
import { announce } from '../../components/announcer.tsx';
import { type AnswerRecord, LiveAnswer } from '../../conversation/answer.ts';
import {
  addExchange,
  type Conversation,
  type Exchange,
  historyOf,
  newConversation,
  path,
  showBranch,
} from '../../conversation/conversation.ts';
import { exportText, importText } from '../../conversation/portable.ts';
import { messageOf, runAnswer } from '../../conversation/run-answer.ts';
import type { ConversationStore } from '../../storage/conversations.ts';
import type { DemoTool } from '../../tools/tool.ts';

/** What one round may generate. Small models can fall into repeating themselves. */
const maximumTokens = 512;
const maximumRounds = 6;

export interface ChatOptions {
  thinking: boolean;
  /** The tools for a question. */
  tools(question: string): DemoTool[];
}

/** The conversations of the chat page: the one that is shown, the others, and what is being written. */
export class ChatStore {
  readonly current = signal<Conversation>(newConversation());
  /** All that are kept, the newest first. */
  readonly kept = signal<Conversation[]>([]);
  /** Why conversations can't be kept, for people. */
  readonly storageError = signal<string | null>(null);
  /** What a failed answer was failed by, beside its text: whether its conversation is too long. */
  readonly tooLong = signal(false);
  readonly running = computed(() => this.#run.value !== null);
  readonly #run = signal<AbortController | null>(null);
  /** Grows with each change of the conversation that is shown, which is changed in place. */
  readonly revision = signal(0);
  readonly #live = new WeakMap<AnswerRecord, LiveAnswer>();
  readonly #store: ConversationStore;

  constructor(store: ConversationStore) {
    this.#store = store;
  }

  /** Reads what is kept. */
  async restore(): Promise<void> {
    await this.#stored(async () => {
      const all = await this.#store.all();
      // A page that was closed in the middle of an answer left it open.
      for (const { exchanges } of all) {
        for (const { answer } of exchanges) answer.end ??= 'stopped';
      }
      this.kept.value = all.sort((a, b) => b.updated - a.updated);
    });
  }

  live(record: AnswerRecord): LiveAnswer {
    let live = this.#live.get(record);
    if (!live) {
      live = new LiveAnswer(record);
      this.#live.set(record, live);
    }
    return live;
  }

  path(): Exchange[] {
    this.revision.value;
    return path(this.current.value);
  }

  /** Shows a conversation that is kept; an unknown id shows an empty one. Stops what runs. */
  open(id: string): void {
    if (id === this.current.peek().id) return;
    this.stop();
    this.tooLong.value = false;
    this.current.value = this.kept.peek().find((kept) => kept.id === id) ?? newConversation();
  }

  create(): void {
    this.stop();
    this.tooLong.value = false;
    this.current.value = newConversation();
  }

  async delete(id: string): Promise<void> {
    if (id === this.current.value.id) this.create();
    this.kept.value = this.kept.value.filter((kept) => kept.id !== id);
    await this.#stored(() => this.#store.delete(id));
  }

  stop(): void {
    this.#run.peek()?.abort();
  }

  /** Asks behind the branch that is shown. */
  ask(engine: Engine, question: string, options: ChatOptions): Promise<void> {
    const conversation = this.current.value;
    return this.#write(engine, addExchange(conversation, conversation.leaf, question), options);
  }

  /** Asks something else in the place of `exchange`, which stays as a branch. The same question: another answer. */
  askInstead(engine: Engine, exchange: Exchange, question: string, options: ChatOptions): Promise<void> {
    return this.#write(engine, addExchange(this.current.value, exchange.parent, question), options);
  }

  /** Goes on with an answer that was cut, stopped, failed or ran out of steps. */
  resume(engine: Engine, exchange: Exchange, options: ChatOptions): Promise<void> {
    return this.#write(engine, exchange, options);
  }

  show(exchange: Exchange): void {
    showBranch(this.current.value, exchange);
    this.#changed(this.current.value);
  }

  exportText(conversations: readonly Conversation[]): string {
    return exportText(conversations);
  }

  /** Adds the conversations of a file and shows the first one. Throws with a message for people. */
  async import(text: string): Promise<number> {
    const imported = importText(text);
    this.stop();
    for (const conversation of imported) this.#changed(conversation);
    this.current.value = imported[0]!;
    return imported.length;
  }

  async #write(engine: Engine, exchange: Exchange, options: ChatOptions): Promise<void> {
    if (this.#run.peek()) return;
    const conversation = this.current.value;
    const abort = new AbortController();
    this.#run.value = abort;
    this.tooLong.value = false;
    const answer = this.live(exchange.answer);
    this.#changed(conversation);
    const tools = options.tools(exchange.question);
    const error = await runAnswer(answer, {
      engine,
      history: historyOf(conversation, exchange),
      tools,
      params: {
        max_tokens: maximumTokens,
        chat_template_kwargs: { enable_thinking: options.thinking },
      },
      maxRounds: maximumRounds,
      signal: abort.signal,
    });
    this.tooLong.value = error instanceof TokenprismError && error.code === 'context_length_exceeded';
    this.#run.value = null;
    announce(exchange.answer.end === 'stopped' ? 'Stopped.' : 'The answer is complete.');
    this.#changed(conversation);
  }

  #changed(conversation: Conversation): void {
    conversation.updated = Date.now();
    this.revision.value++;
    this.kept.value = [conversation, ...this.kept.value.filter(({ id }) => id !== conversation.id)];
    void this.#stored(() => this.#store.put(conversation));
  }

  async #stored(act: () => Promise<void>): Promise<void> {
    try {
      await act();
      this.storageError.value = null;
    } catch (error) {
      this.storageError.value = `This browser keeps no conversations: ${messageOf(error)}`;
    }
  }
}
