/**
 * Calls whose arguments have bare keys, and strings between delimiter tokens.
 *
 * ```
 * <|tool_call>call:f{a:<|"|>x<|"|>,n:4}<tool_call|>
 * ^^^^^^^^^^^^                                        CONTENT → PREFIX, held until the name is complete
 *             ^^^^^                                   PREFIX → NAME
 *                   ^                                 NAME → ARGUMENTS: the call begins
 * ```
 */

import { DelimitedArgumentsReader } from '../../parser/delimited-arguments.ts';
import { CONTENT, type ToolFormat } from '../../parser/format.ts';

const CALL = 'call:';

const PREFIX = 'PREFIX';
const NAME = 'NAME';
const ARGUMENTS = 'ARGUMENTS';
const AFTER = 'AFTER';

export const delimitedCalls = (name: string, start: string, end: string, delimiter: string): ToolFormat => ({
  name,
  terminals: {
    TOOL_START: { text: start, token: 'required' },
    TOOL_END: { text: end, token: 'required' },
    CALL: { text: CALL, token: 'never' },
    BRACE: { text: '{', token: 'never' },
    // Read with the arguments, as text: by itself it means nothing.
    DELIMITER: { text: delimiter, token: 'never' },
  },
  openers: { TOOL_START: { to: PREFIX, hold: 'any' } },
  openersInReasoning: ['TOOL_START'],
  writing: {
    blockStart: '',
    blockEnd: '',
    separator: '',
    callStart: (called) => [`${start}${CALL}${called}`],
    callEnd: end,
    arguments: { delimiter },
    trigger: start,
  },
  states: {
    [PREFIX]: { text: 'layout', on: { CALL: { to: NAME }, TOOL_START: { to: PREFIX, hold: 'any' } } },
    [NAME]: {
      text: 'name',
      on: {
        BRACE: { to: ARGUMENTS, do: ['call-start', 'literal'] },
        TOOL_END: { to: CONTENT, do: ['call-start', 'call-end'] },
        TOOL_START: { to: PREFIX, hold: 'any' },
      },
    },
    [ARGUMENTS]: {
      text: 'call',
      createReader: (context) => new DelimitedArgumentsReader(context, delimiter),
      // A delimiter that has no place there breaks the call; half of one is waited for.
      on: {
        TOOL_END: { to: CONTENT },
        TOOL_START: { to: PREFIX, hold: 'any' },
        DELIMITER: { to: CONTENT },
      },
      done: AFTER,
    },
    [AFTER]: {
      text: 'content',
      on: { TOOL_START: { to: PREFIX, hold: 'any' }, TOOL_END: { to: CONTENT, do: ['call-edge'] } },
      otherwise: CONTENT,
    },
  },
});
