/**
 * Kimi K2 and K2 Thinking: calls as JSON in a section of special tokens, named by their ids.
 *
 * ```
 * <|tool_calls_section_begin|><|tool_call_begin|>functions.ping:0<|tool_call_argument_begin|>{}<|tool_call_end|>…
 * ^^^^^^^^^^^^^^^^^^^^^^^^^^^^                            CONTENT → SECTION, held until the name is complete
 *                             ^^^^^^^^^^^^^^^^^^^         SECTION → NAME
 *                                                                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^  NAME → ARGUMENTS
 * ```
 *
 * The id counts on through the conversation and goes back to the model as it is. Rests on the chat templates of
 * moonshotai/Kimi-K2-Instruct and moonshotai/Kimi-K2-Thinking.
 */
import { CONTENT, DIGITS } from '../parser/format.ts';
import { JsonArgumentsReader } from '../parser/json-calls.ts';
import type { Family } from './family.ts';

const SECTION_START = '<|tool_calls_section_begin|>';
const SECTION_END = '<|tool_calls_section_end|>';
const CALL_START = '<|tool_call_begin|>';
const CALL_END = '<|tool_call_end|>';
const ARGUMENTS_START = '<|tool_call_argument_begin|>';

const SECTION = 'SECTION';
const NAME = 'NAME';
const ARGUMENTS = 'ARGUMENTS';
const BETWEEN = 'BETWEEN';

export const family: Family = {
  reasoning: [
    {
      format: {
        name: 'kimi_k2',
        terminals: {
          THINK_START: { text: '<think>', token: 'optional' },
          THINK_END: { text: '</think>', token: 'optional' },
        },
        start: 'THINK_START',
        end: 'THINK_END',
        thinkingByDefault: true,
        implicitStart: true,
        callEndsReasoning: true,
        literalWhenOff: true,
      },
      recognise: ({ chatTemplate }) =>
        chatTemplate.includes('<|im_middle|>') && chatTemplate.includes('</think>'),
    },
  ],
  tools: [
    {
      format: {
        name: 'kimi_k2',
        terminals: {
          SECTION_START: {
            text: [SECTION_START, '<|tool_call_section_begin|>'],
            token: 'required',
          },
          SECTION_END: {
            text: [SECTION_END, '<|tool_call_section_end|>'],
            token: 'required',
          },
          CALL_START: { text: CALL_START, token: 'required' },
          CALL_END: { text: CALL_END, token: 'required' },
          ARGUMENTS_START: { text: ARGUMENTS_START, token: 'required' },
        },
        openers: {
          SECTION_START: { to: SECTION, hold: 'any' },
          CALL_START: { to: NAME, when: 'line-start', hold: 'declared' },
        },
        openersInReasoning: ['SECTION_START'],
        writing: {
          blockStart: SECTION_START,
          blockEnd: SECTION_END,
          separator: '',
          callStart: (name) => [`${CALL_START}functions.${name}:`, DIGITS, ARGUMENTS_START],
          callEnd: CALL_END,
          arguments: 'json',
          trigger: SECTION_START,
        },
        states: {
          [SECTION]: {
            text: 'discard',
            on: {
              CALL_START: { to: NAME },
              SECTION_START: { to: SECTION, hold: 'any' },
              SECTION_END: { to: CONTENT, do: ['release'] },
            },
          },
          [NAME]: {
            text: 'name',
            on: {
              ARGUMENTS_START: { to: ARGUMENTS, do: ['call-start'] },
              SECTION_END: { to: CONTENT, do: ['release'] },
            },
          },
          [ARGUMENTS]: {
            text: 'call',
            createReader: (context) => new JsonArgumentsReader(context),
            on: {
              CALL_END: { to: BETWEEN },
              SECTION_END: { to: CONTENT },
              CALL_START: { to: NAME, hold: 'any' },
            },
            done: BETWEEN,
          },
          [BETWEEN]: {
            text: 'discard',
            on: {
              CALL_START: { to: NAME, hold: 'any' },
              CALL_END: { to: BETWEEN },
              SECTION_END: { to: CONTENT },
              SECTION_START: { to: SECTION, hold: 'any' },
            },
          },
        },
        readName: (header, isDeclared) => {
          const id = header.trim();
          const whole = /^(?:functions\.)?((?!functions\.:).+?):\d+$/s.exec(id);
          if (whole) return whole[1]!;
          // A damaged id counts while it still holds a declared name.
          const rest = id.replace(/^functions\.?/, '');
          return [id, rest, rest.replace(/[:.]?\d+$/, '')].find(isDeclared) ?? null;
        },
        callId: (header, name, index) => {
          const id = header.trim();
          return id.startsWith(`functions.${name}:`) ? id : `functions.${name}:${index}`;
        },
      },
      recognise: ({ chatTemplate }) => chatTemplate.includes('<|tool_calls_section_begin|>'),
    },
  ],
};
