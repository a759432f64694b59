import { maximumMatches, type NoteBook, noteBook } from './notes.ts';
import { type Arguments, requireText, type Tool } from './tool.ts';

export function createSearchNotes(notes: NoteBook): Tool {
  return {
    run(args: Arguments) {
      const matches = notes.search(requireText(args, 'query'));
      return { results: matches.slice(0, maximumMatches).map((note) => note.text) };
    },
  };
}

export const searchNotes = createSearchNotes(noteBook);
