/**
 * Jamba 1.5 to 1.7: calls as a JSON list in `<tool_calls>` tags.
 *
 * ```
 * <tool_calls>[\n{"name": "f", "arguments": {"a": 1}}\n]</tool_calls>
 * ```
 *
 * Rests on the chat template of ai21labs/AI21-Jamba-1.5-Mini.
 */
import type { Family } from './family.ts';
import { listWriting, taggedJson } from './shapes/tagged-json.ts';

const START = '<tool_calls>';
const END = '</tool_calls>';

export const family: Family = {
  tools: [
    {
      format: taggedJson({
        name: 'jamba',
        start: { text: START, token: 'required' },
        end: { text: END, token: 'required' },
        writing: listWriting(START, END),
      }),
      recognise: ({ chatTemplate }) => chatTemplate.includes('<|bom|>') && chatTemplate.includes(START),
    },
  ],
};
