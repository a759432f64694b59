/**
 * Granite 4: calls as JSON in `<tool_call>` tags, in turns of Granite's own.
 *
 * ```
 * <tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>
 * ```
 *
 * Rests on the chat template of ibm-granite/granite-4.0-h-small.
 */
import type { Family } from './family.ts';
import { objectWriting, taggedJson } from './shapes/tagged-json.ts';

const START = '<tool_call>';
const END = '</tool_call>';

export const family: Family = {
  tools: [
    {
      format: taggedJson({
        name: 'granite4',
        start: { text: START, token: 'optional' },
        end: { text: END, token: 'optional' },
        writing: { ...objectWriting(`${START}\n`, `\n${END}`), trigger: START },
      }),
      recognise: ({ chatTemplate }) =>
        chatTemplate.includes('<|start_of_role|>') &&
        chatTemplate.includes(START) &&
        !chatTemplate.includes('<|tool_call|>') &&
        !chatTemplate.includes('<function='),
      over: ['hermes'],
    },
  ],
};
