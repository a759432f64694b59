/**
 * Calls as a list in Python syntax: Llama 3.2 (1B and 3B), ToolACE.
 *
 * ```
 * [get_weather(city="Oslo", days=3), get_time()]
 * ^                                               CONTENT → CALLS at the start of a line, held
 *              ^                                  the call begins with its first keyword, or its closing bracket
 *                                              ^  CALLS → CONTENT
 * ```
 *
 * Only keyword arguments with literal values are calls. Rests on the prompt format of Llama 3.2 and the model
 * card of Team-ACE/ToolACE-8B.
 */
import { CONTENT } from '../parser/format.ts';
import { PythonCallsReader } from '../parser/python-calls.ts';
import type { Family } from './family.ts';

const CALLS = 'CALLS';

export const family: Family = {
  tools: [
    {
      format: {
        name: 'pythonic',
        terminals: { BRACKET: { text: '[', token: 'never' } },
        openers: {
          BRACKET: [
            { to: CALLS, when: 'start', hold: 'any', do: ['literal'] },
            { to: CALLS, when: 'line-start', hold: 'declared', do: ['literal'] },
          ],
        },
        openersInReasoning: [],
        writing: null,
        states: {
          [CALLS]: {
            text: 'call',
            createReader: (context) => new PythonCallsReader(context),
            on: {},
            done: CONTENT,
          },
        },
      },
      recognise: ({ chatTemplate }) => chatTemplate.includes('[func_name1(params_name1=params_value1'),
    },
  ],
};
