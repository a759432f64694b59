import { matching, maximumMatches, type NoteStore } from './notes.ts';
import { type Arguments, requireText, type Tool } from './tool.ts';

export function createSearchNotes(notes: NoteStore): Tool {
  return {
    async run(args: Arguments) {
      const matches = matching(await notes.all(), requireText(args, 'query'));
      return { results: matches.slice(0, maximumMatches).map((note) => note.text) };
    },
  };
}
