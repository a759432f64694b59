/**
 * Seven tools that really run in the page. Their definitions are the ones that the embedded model was
 * trained on: it knows these names, arguments and result keys, and few others.
 */
import type { ChatCompletionTool } from 'openai/resources/chat/completions';
import definitions from '../../models/tiny/demo-tools.json';
import { calculator } from './calculator.ts';
import { getTime } from './clock.ts';
import { addNote } from './notes.ts';
import { searchNotes } from './search.ts';
import { setTimer } from './timer.ts';
import { type Arguments, type Tool, ToolError } from './tool.ts';
import { convertUnits } from './units.ts';
import { getWeather } from './weather.ts';

const tools = new Map<string, Tool>([
  ['get_weather', getWeather],
  ['calculator', calculator],
  ['get_time', getTime],
  ['convert_units', convertUnits],
  ['add_note', addNote],
  ['search_notes', searchNotes],
  ['set_timer', setTimer],
]);

export interface ToolSet {
  definitions: ChatCompletionTool[];
  /**
   * Runs a call and gives its result as JSON text, for the `content` of the tool message. Never rejects:
   * a failed call gives `{"error": "…"}`, which the model tells the user.
   */
  run(name: string, args: unknown): Promise<string>;
  /** What people should know about a tool's results, `null` when there is nothing to say. */
  remark(name: string): string | null;
}

export const demoTools: ToolSet = {
  definitions: definitions as ChatCompletionTool[],

  async run(name, args) {
    try {
      const tool = tools.get(name);
      if (!tool) throw new ToolError(`unknown tool ${name}`);
      if (typeof args !== 'object' || args === null || Array.isArray(args)) {
        throw new ToolError('the arguments must be an object');
      }
      return JSON.stringify(await tool.run(args as Arguments));
    } catch (error) {
      if (error instanceof ToolError) return JSON.stringify({ error: error.message });
      console.error(`The tool ${name} broke:`, error);
      return JSON.stringify({ error: 'the tool is broken' });
    }
  },

  remark(name) {
    return tools.get(name)?.remark ?? null;
  },
};
