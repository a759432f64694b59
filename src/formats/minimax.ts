/**
 * MiniMax M1 and Text-01: calls as JSON, one object a line, in `<tool_calls>` tags.
 *
 * ```
 * <tool_calls>\n{"name": "f", "arguments": {"a": 1}}\n{"name": "g", "arguments": {}}\n</tool_calls>
 * ^^^^^^^^^^^^                            ^                 CONTENT → CALL, held up to here
 *                                                ^         CALL → AFTER
 *                                                   ^      AFTER → CALL, held
 * ```
 *
 * Rests on the function calling guide of MiniMaxAI/MiniMax-M1-80k.
 */
import type { Family } from './family.ts';
import { CALL, taggedJson } from './shapes/tagged-json.ts';

const START = '<tool_calls>';
const END = '</tool_calls>';

export const family: Family = {
  tools: [
    {
      format: taggedJson({
        name: 'minimax',
        start: { text: START, token: 'optional' },
        end: { text: END, token: 'optional' },
        // A call in a thought is a draft.
        opensInReasoning: false,
        writing: {
          blockStart: `${START}\n`,
          blockEnd: `\n${END}`,
          separator: '\n',
          callStart: (name) => [`{"name": ${JSON.stringify(name)}, "arguments": `],
          callEnd: '}',
          arguments: 'json',
          trigger: START,
        },
        terminals: { BRACE: { text: '{', token: 'never' } },
        after: { BRACE: { to: CALL, hold: 'any', do: ['literal'] } },
      }),
      recognise: ({ chatTemplate }) =>
        chatTemplate.includes('<beginning_of_sentence>ai') && chatTemplate.includes(START),
    },
  ],
};
