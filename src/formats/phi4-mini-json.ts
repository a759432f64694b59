/**
 * Phi-4-mini: calls as a JSON list behind the word `functools`.
 *
 * ```
 * functools[{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {}}]
 * ```
 *
 * Rests on the model card of microsoft/Phi-4-mini-instruct and its function calling guide.
 */
import type { Family } from './family.ts';
import { listWriting, taggedJson } from './shapes/tagged-json.ts';

const MARKER = 'functools[';

export const family: Family = {
  tools: [
    {
      format: taggedJson({
        name: 'phi4_mini_json',
        start: { text: MARKER, token: 'never' },
        opensList: true,
        opensInReasoning: false,
        writing: { ...listWriting('functools', ''), trigger: MARKER },
      }),
      recognise: ({ chatTemplate }) => chatTemplate.includes(MARKER) || chatTemplate.includes('<|/tool|>'),
    },
  ],
};
