/**
 * Calls as a list in Python syntax: Llama 3.2 (1B and 3B), ToolACE.
 *
 * ```
 * [get_weather(city="Oslo", days=3), get_time()]
 * ```
 *
 * Rests on the prompt format of Llama 3.2 and the model card of Team-ACE/ToolACE-8B.
 */
import type { Family } from './family.ts';
import { pythonList } from './shapes/python-calls.ts';

export const family: Family = {
  tools: [
    {
      format: pythonList('pythonic'),
      recognise: ({ chatTemplate }) => chatTemplate.includes('[func_name1(params_name1=params_value1'),
    },
  ],
};
