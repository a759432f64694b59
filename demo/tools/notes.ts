import { type Arguments, requireText, type Tool, ToolError } from './tool.ts';

export interface Note {
  id: number;
  text: string;
  tags: string[];
}

/** Where notes are kept. */
export interface NoteStore {
  /** Oldest first. */
  all(): Promise<Note[]>;
  /** Resolves to the note's id. */
  add(note: Omit<Note, 'id'>): Promise<number>;
}

/** At most this many matches go back to the model, newest first; its context is short. */
export const maximumMatches = 5;

/** Notes that live as long as the page. */
export function createMemoryNotes(): NoteStore {
  const notes: Note[] = [];
  return {
    all: async () => [...notes],
    add: async (note) => notes.push({ ...note, id: notes.length + 1 }),
  };
}

/** Notes that hold every word of the query in their text or tags, newest first. */
export function matching(notes: readonly Note[], query: string): Note[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return notes
    .filter((note) => {
      const text = [note.text, ...note.tags].join('\n').toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .reverse();
}

export function createAddNote(notes: NoteStore): Tool {
  return {
    remark: 'Kept in this browser only.',
    async run(args: Arguments) {
      const text = requireText(args, 'text');
      const tags = args.tags ?? [];
      if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === 'string')) {
        throw new ToolError('tags must be a list of texts');
      }
      try {
        return { status: 'ok', id: await notes.add({ text, tags }) };
      } catch (error) {
        throw new ToolError('the browser keeps no notes', { cause: error });
      }
    },
  };
}
