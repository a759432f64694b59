/**
 * Granite 3.0 to 3.3: calls as a JSON list behind a marker; 3.2 also thinks, between phrases.
 *
 * ```
 * <|tool_call|>[{"name": "f", "arguments": {"a": 1}}]
 * ^^^^^^^^^^^^^                                        CONTENT → CALL, held until a name and its arguments are there
 * Here is my thought process: She wants the sum. Here is my response: It is 9.
 * ^^^^^^^^^^^^^^^^^^^^^^^^^^^                    ^^^^^^^^^^^^^^^^^^^^
 * ```
 *
 * 3.1 spells the marker `<tool_call>`, without a closing one. Rests on the chat templates and model cards of
 * ibm-granite/granite-3.1-8b-instruct and ibm-granite/granite-3.2-8b-instruct.
 */
import type { Family } from './family.ts';
import { listWriting, taggedJson } from './shapes/tagged-json.ts';
import { thinkTags } from './shapes/think-tags.ts';

const MARKER = '<|tool_call|>';

export const family: Family = {
  reasoning: [
    {
      format: thinkTags({
        name: 'granite',
        start: ['Here is my thought process:', "Here's my thought process:"],
        end: ['Here is my response:', "Here's my response:"],
        token: 'never',
        thinkingByDefault: false,
        implicitStart: false,
        callEndsReasoning: false,
        literalWhenOff: false,
      }),
      recognise: ({ chatTemplate }) =>
        chatTemplate.includes('<|start_of_role|>') && chatTemplate.includes('Here is my thought process:'),
    },
  ],
  tools: [
    {
      format: taggedJson({
        name: 'granite',
        start: { text: [MARKER, '<tool_call>'], token: 'optional' },
        end: { text: '</tool_call>', token: 'optional' },
        writing: listWriting(MARKER, ''),
      }),
      recognise: ({ chatTemplate }) =>
        chatTemplate.includes('<|start_of_role|>') && chatTemplate.includes(MARKER),
    },
  ],
};
