/**
 * Seven tools that really run in the page. Their definitions are the ones that the embedded model was
 * trained on: it knows these names, arguments and result keys, and few others.
 */
import definitions from '../../models/tiny/demo-tools.json';
import { calculator } from './calculator.ts';
import { getTime } from './clock.ts';
import { createAddNote, type NoteStore } from './notes.ts';
import { createSearchNotes } from './search.ts';
import { createSetTimer, type TimerList } from './timer.ts';
import { type DemoTool, requireObject, type Tool } from './tool.ts';
import { convertUnits } from './units.ts';
import { getWeather } from './weather.ts';

export interface DemoToolParts {
  notes: NoteStore;
  timers: TimerList;
  /** What was asked: a tool can see there that a call does not mean the same. */
  question: string;
}

/** The tools for one question. What they throw is a short phrase that the model repeats to the user. */
export function createDemoTools({ notes, timers, question }: DemoToolParts): DemoTool[] {
  const tools: Record<string, Tool> = {
    get_weather: getWeather,
    calculator,
    get_time: getTime,
    convert_units: convertUnits,
    add_note: createAddNote(notes),
    search_notes: createSearchNotes(notes),
    set_timer: createSetTimer(timers, question),
  };
  return definitions.map(({ function: { name, description, parameters } }) => {
    const tool = tools[name];
    if (!tool) throw new Error(`models/tiny/demo-tools.json has a tool ${name} that the demo lacks`);
    return {
      name,
      description,
      parameters,
      ...(tool.remark !== undefined && { remark: tool.remark }),
      run: (args, context) => tool.run(requireObject(args), context),
    };
  });
}
