/**
 * Mistral, Magistral: a marker token before each call, or before a list of them in older tokenizers.
 *
 * ```
 * [TOOL_CALLS]ping[ARGS]{"a": 1}[TOOL_CALLS]…
 * ^^^^^^^^^^^^                                CONTENT → NAME, held until the name is complete
 *                 ^^^^^^                      NAME → ARGUMENTS: the call begins
 * [TOOL_CALLS][{"name": "ping", "arguments": {"a": 1}}]
 *             ^                               NAME → LIST
 * ```
 *
 * Ids have nine letters and digits; the tokenizers refuse longer ones in the history. Rests on mistral-common
 * (instruct tokenizers v3 to v13) and the model cards of mistralai/Magistral-Small-2509 and
 * mistralai/Mistral-Small-3.2-24B-Instruct-2506.
 */
import { CONTENT } from '../parser/format.ts';
import { JsonArgumentsReader, JsonEnvelopeListReader } from '../parser/json-calls.ts';
import type { Family } from './family.ts';

const TOOL_CALLS = '[TOOL_CALLS]';
const ARGS = '[ARGS]';

const NAME = 'NAME';
const ARGUMENTS = 'ARGUMENTS';
const LIST = 'LIST';

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

function nineAlphanumerics(): string {
  const random = crypto.getRandomValues(new Uint32Array(9));
  return Array.from(random, (value) => ALPHANUMERIC[value % ALPHANUMERIC.length]).join('');
}

export const family: Family = {
  reasoning: [
    {
      format: {
        name: 'mistral',
        terminals: {
          THINK_START: { text: ['[THINK]', '<think>'], token: 'optional' },
          THINK_END: { text: ['[/THINK]', '</think>'], token: 'optional' },
        },
        start: 'THINK_START',
        end: 'THINK_END',
        thinkingByDefault: true,
        implicitStart: false,
        callEndsReasoning: true,
        literalWhenOff: false,
      },
      recognise: ({ chatTemplate }) => chatTemplate.includes('[INST]') && chatTemplate.includes('[THINK]'),
    },
  ],
  tools: [
    {
      format: {
        name: 'mistral',
        terminals: {
          TOOL_CALLS: { text: TOOL_CALLS, token: 'required' },
          ARGS: { text: ARGS, token: 'optional' },
          BRACE: { text: '{', token: 'never' },
          BRACKET: { text: '[', token: 'never' },
        },
        openers: { TOOL_CALLS: { to: NAME, hold: 'any' } },
        openersInReasoning: ['TOOL_CALLS'],
        writing: {
          blockStart: '',
          blockEnd: '',
          separator: '',
          callStart: (name) => [`${TOOL_CALLS}${name}${ARGS}`],
          callEnd: '',
          arguments: 'json',
          trigger: TOOL_CALLS,
        },
        states: {
          [NAME]: {
            text: 'name',
            on: {
              ARGS: { to: ARGUMENTS, do: ['call-start'] },
              BRACE: { to: ARGUMENTS, do: ['call-start', 'literal'] },
              BRACKET: { to: LIST, when: 'blank', do: ['literal'] },
              TOOL_CALLS: { to: NAME, hold: 'any' },
            },
          },
          [ARGUMENTS]: {
            text: 'call',
            createReader: (context) => new JsonArgumentsReader(context),
            on: { TOOL_CALLS: { to: NAME, hold: 'any' } },
            done: CONTENT,
          },
          [LIST]: {
            text: 'call',
            createReader: (context) =>
              new JsonEnvelopeListReader(context, {
                nameKeys: ['name'],
                argumentKeys: ['arguments', 'parameters'],
              }),
            on: { TOOL_CALLS: { to: NAME, hold: 'any' } },
            done: CONTENT,
          },
        },
        callId: () => nineAlphanumerics(),
      },
      recognise: ({ chatTemplate }) =>
        chatTemplate.includes('[TOOL_CALLS]') && chatTemplate.includes('[INST]'),
    },
  ],
};
