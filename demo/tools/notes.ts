import { type Arguments, requireText, type Tool, ToolError } from './tool.ts';

export interface Note {
  id: number;
  text: string;
  tags: string[];
}

/** The part of `localStorage` that notes need. */
export type NoteStorage = Pick<Storage, 'getItem' | 'setItem'>;

const key = 'tokenprism-demo-notes';

/** At most this many matches go back to the model, newest first; its context is short. */
export const maximumMatches = 5;

/** Notes as one JSON text under one key. */
export class NoteBook {
  private readonly storage: NoteStorage;

  constructor(storage: NoteStorage) {
    this.storage = storage;
  }

  /** Oldest first. What is not a list of notes counts as none. */
  all(): Note[] {
    const stored = this.storage.getItem(key);
    if (stored === null) return [];
    try {
      const notes: unknown = JSON.parse(stored);
      return Array.isArray(notes) ? notes.filter(isNote) : [];
    } catch {
      return [];
    }
  }

  add(text: string, tags: string[]): Note {
    const notes = this.all();
    const note = { id: 1 + notes.reduce((highest, { id }) => Math.max(highest, id), 0), text, tags };
    try {
      this.storage.setItem(key, JSON.stringify([...notes, note]));
    } catch {
      throw new ToolError('the storage is full');
    }
    return note;
  }

  /** Notes that hold every word of the query in their text or tags, newest first. */
  search(query: string): Note[] {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (note: Note) => {
      const text = [note.text, ...note.tags].join('\n').toLowerCase();
      return words.every((word) => text.includes(word));
    };
    return this.all().filter(matches).reverse();
  }
}

function isNote(value: unknown): value is Note {
  const note = value as Partial<Note> | null;
  return (
    typeof note?.id === 'number' &&
    typeof note.text === 'string' &&
    Array.isArray(note.tags) &&
    note.tags.every((tag) => typeof tag === 'string')
  );
}

/** A storage that lives as long as the page, for where the browser keeps nothing. */
export function createMemoryStorage(): NoteStorage {
  const values = new Map<string, string>();
  return {
    getItem: (name) => values.get(name) ?? null,
    setItem: (name, value) => {
      values.set(name, value);
    },
  };
}

/** `localStorage` where the page may use it: a sandboxed frame or a blocked site throws on reading the property. */
function openStorage(): NoteStorage {
  try {
    return globalThis.localStorage ?? createMemoryStorage();
  } catch {
    return createMemoryStorage();
  }
}

export function createAddNote(notes: NoteBook): Tool {
  return {
    remark: 'Kept in this browser only.',
    run(args: Arguments) {
      const text = requireText(args, 'text');
      const tags = args.tags ?? [];
      if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === 'string')) {
        throw new ToolError('tags must be a list of texts');
      }
      return { status: 'ok', id: notes.add(text, tags).id };
    },
  };
}

/** The notes of this browser. */
export const noteBook = new NoteBook(openStorage());

export const addNote = createAddNote(noteBook);
