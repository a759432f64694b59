import type { NoteStore } from '../tools/notes.ts';
import { database } from './database.ts';

/** The notes of this browser. */
export const storedNotes: NoteStore = {
  async all() {
    return (await database()).getAll('notes');
  },
  async add(note) {
    // The store gives the id.
    return (await database()).add('notes', note as Parameters<NoteStore['add']>[0] & { id: number });
  },
};
