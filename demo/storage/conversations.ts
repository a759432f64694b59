import type { Conversation } from '../conversation/conversation.ts';
import { database } from './database.ts';

/** Where conversations are kept. */
export interface ConversationStore {
  all(): Promise<Conversation[]>;
  put(conversation: Conversation): Promise<void>;
  delete(id: string): Promise<void>;
}

/** Those of this browser. */
export const storedConversations: ConversationStore = {
  async all() {
    return (await database()).getAll('conversations');
  },
  async put(conversation) {
    await (await database()).put('conversations', conversation);
  },
  async delete(id) {
    await (await database()).delete('conversations', id);
  },
};
