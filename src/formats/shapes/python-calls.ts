/**
 * Calls in Python syntax: as a bare list, or between tags.
 *
 * ```
 * [get_weather(city="Oslo", days=3), get_time()]
 * ^                                               CONTENT → CALLS at the start of a line, held
 *              ^                                  the call begins with its first keyword, or its closing bracket
 *                                              ^  CALLS → CONTENT
 * ```
 *
 * Only keyword arguments with literal values are calls.
 */
import { CONTENT, type Terminal, type ToolFormat } from '../../parser/format.ts';
import { PythonCallsReader } from '../../parser/python-calls.ts';

const CALLS = 'CALLS';
const TAGGED = 'TAGGED';
const AFTER = 'AFTER';

/** A list by itself; `tags` may stand around it. */
export const pythonList = (name: string, tags?: { start: Terminal; end: Terminal }): ToolFormat => ({
  name,
  terminals: {
    BRACKET: { text: '[', token: 'never' },
    ...(tags && { TAG: tags.start, TAG_END: tags.end }),
  },
  openers: {
    BRACKET: [
      { to: CALLS, when: 'start', hold: 'any', do: ['literal'] },
      { to: CALLS, when: 'line-start', hold: 'declared', do: ['literal'] },
    ],
    ...(tags && { TAG: { to: TAGGED, hold: 'any' } }),
  },
  openersInReasoning: tags ? ['TAG'] : [],
  writing: null,
  states: {
    [CALLS]: {
      text: 'call',
      createReader: (context) => new PythonCallsReader(context),
      on: tags ? { TAG_END: { to: CONTENT } } : {},
      done: AFTER,
    },
    [AFTER]: {
      text: 'content',
      on: tags ? { TAG: { to: TAGGED, hold: 'any' }, TAG_END: { to: CONTENT, do: ['call-edge'] } } : {},
      otherwise: CONTENT,
    },
    ...(tags && {
      [TAGGED]: { text: 'layout', on: { BRACKET: { to: CALLS, do: ['literal'] } } },
    }),
  },
});

/** Between tags only: a list in brackets, or one call a line. */
export const taggedPython = (
  name: string,
  tags: { start: Terminal; end: Terminal },
  between: 'brackets' | 'lines',
): ToolFormat => ({
  name,
  terminals: { TAG: tags.start, TAG_END: tags.end },
  openers: { TAG: { to: CALLS, hold: 'any' } },
  openersInReasoning: ['TAG'],
  writing: null,
  states: {
    [CALLS]: {
      text: 'call',
      createReader: (context) => new PythonCallsReader(context, between),
      on: { TAG: { to: CALLS, hold: 'any' }, TAG_END: { to: CONTENT } },
      done: AFTER,
    },
    [AFTER]: {
      text: 'content',
      on: { TAG: { to: CALLS, hold: 'any' }, TAG_END: { to: CONTENT, do: ['call-edge'] } },
      otherwise: CONTENT,
    },
  },
});
