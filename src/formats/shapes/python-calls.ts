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
import { CONTENT, spellings, type Terminal, type ToolFormat } from '../../parser/format.ts';
import { PythonCallsReader } from '../../parser/python-calls.ts';

const CALLS = 'CALLS';
const TAGGED = 'TAGGED';
const AFTER = 'AFTER';

const CALL = {
  callStart: (called: string) => [`${called}(`],
  callEnd: ')',
  arguments: 'python',
} as const;
const BETWEEN = {
  brackets: { start: '[', separator: ', ', end: ']' },
  lines: { start: '\n', separator: '\n', end: '\n' },
} as const;

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
  writing: {
    blockStart: BETWEEN.brackets.start,
    blockEnd: BETWEEN.brackets.end,
    separator: BETWEEN.brackets.separator,
    ...CALL,
    // A bracket by itself is text.
    trigger: (called) => BETWEEN.brackets.start + CALL.callStart(called)[0]!,
  },
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
      [TAGGED]: {
        text: 'layout',
        on: { BRACKET: { to: CALLS, do: ['literal'] }, TAG: { to: TAGGED, hold: 'any' } },
      },
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
  writing: {
    blockStart: spellings(tags.start)[0]! + BETWEEN[between].start,
    blockEnd: BETWEEN[between].end + spellings(tags.end)[0]!,
    separator: BETWEEN[between].separator,
    ...CALL,
    trigger: spellings(tags.start)[0]!,
  },
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
