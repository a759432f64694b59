/**
 * GigaChat 3: a call is a message of its own role, as JSON.
 *
 * ```
 * Looking it up.<|message_sep|>\n\nfunction call<|role_sep|>\n{"name": "f", "arguments": {"a": 1}}
 * ```
 *
 * Rests on the chat template of ai-sage/GigaChat3-10B-A1.8B.
 */
import { CONTENT } from '../parser/format.ts';
import type { Family } from './family.ts';
import { AFTER, CALL, objectWriting, taggedJson } from './shapes/tagged-json.ts';

const START = 'function call<|role_sep|>';
const MESSAGE_END = '<|message_sep|>';

export const family: Family = {
  tools: [
    {
      format: taggedJson({
        name: 'gigachat3',
        // A word and a token, one marker.
        start: { text: START, token: 'never' },
        writing: {
          ...objectWriting(`${START}\n`, ''),
          separator: `${MESSAGE_END}\n\n`,
          trigger: START,
        },
        terminals: {
          MESSAGE_END: { text: MESSAGE_END, token: 'optional' },
          FUNCTION_CALL: { text: '<|function_call|>', token: 'optional' },
        },
        openers: {
          MESSAGE_END: { to: CONTENT, do: ['edge'] },
          FUNCTION_CALL: { to: CALL, hold: 'any' },
        },
        after: { MESSAGE_END: { to: AFTER, do: ['edge'] } },
      }),
      recognise: ({ chatTemplate }) => chatTemplate.includes('<|role_sep|>'),
    },
  ],
};
