import { type DBSchema, type IDBPDatabase, openDB } from 'idb';
import type { Conversation } from '../conversation/conversation.ts';
import type { CustomTool } from '../tools/custom.ts';
import type { Note } from '../tools/notes.ts';

interface DemoSchema extends DBSchema {
  conversations: { key: string; value: Conversation };
  notes: { key: number; value: Note };
  tools: { key: string; value: CustomTool };
}

export type DemoDatabase = IDBPDatabase<DemoSchema>;

let opening: Promise<DemoDatabase> | null = null;

/** The demo's own database. Rejects where the browser keeps nothing, for example in some private windows. */
export function database(): Promise<DemoDatabase> {
  opening ??= openDB<DemoSchema>('tokenprism-demo', 1, {
    upgrade(db) {
      db.createObjectStore('conversations', { keyPath: 'id' });
      db.createObjectStore('notes', { keyPath: 'id', autoIncrement: true });
      db.createObjectStore('tools', { keyPath: 'name' });
    },
  });
  return opening;
}
