/**
 * Apriel 1.5 and 1.6: reasoning between two phrases, calls as a JSON list in `<tool_calls>` tags.
 *
 * ```
 * Here are my reasoning steps:\nShe asks for the sum.\n[BEGIN FINAL RESPONSE]\nIt is 9.\n[END FINAL RESPONSE]
 * <tool_calls>[{"name": "f", "arguments": {"a": 1}, "id": "0"}]</tool_calls>
 * ```
 *
 * The prompt ends with the first phrase; in an answer it is text. 1.5 spells the tags and phrases in ordinary tokens and closes its answers;
 * 1.6 has tokens for the tags and `[BEGIN FINAL RESPONSE]`, and closes none. Rests on the chat templates and model
 * cards of ServiceNow-AI/Apriel-1.5-15b-Thinker and ServiceNow-AI/Apriel-1.6-15b-Thinker.
 */
import { CONTENT } from '../parser/format.ts';
import type { Family } from './family.ts';
import { listWriting, taggedJson } from './shapes/tagged-json.ts';
import { thinkTags } from './shapes/think-tags.ts';

const START = '<tool_calls>';
const END = '</tool_calls>';
const FINAL = '[BEGIN FINAL RESPONSE]';

export const family: Family = {
  reasoning: [
    {
      format: thinkTags({
        name: 'apriel',
        start: 'Here are my reasoning steps:',
        end: FINAL,
        token: 'optional',
        literalWhenOff: false,
        others: { FINAL_END: { text: '[END FINAL RESPONSE]', token: 'optional' } },
        contentMarkers: {
          THINK_START: { to: CONTENT, do: ['literal'] },
          FINAL_END: { to: CONTENT, when: 'unquoted', do: ['edge'] },
        },
      }),
      recognise: ({ chatTemplate }) => chatTemplate.includes(FINAL),
    },
  ],
  tools: [
    {
      format: taggedJson({
        name: 'apriel',
        start: { text: START, token: 'optional' },
        end: { text: END, token: 'optional' },
        writing: listWriting(START, END),
      }),
      recognise: ({ chatTemplate }) => chatTemplate.includes(FINAL) && chatTemplate.includes(START),
    },
  ],
};
