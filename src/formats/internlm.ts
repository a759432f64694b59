/**
 * InternLM 2 and 2.5: calls as JSON between action tokens.
 *
 * ```
 * <|action_start|><|plugin|>\n{"name": "f", "parameters": {"a": 1}}<|action_end|>
 * ```
 *
 * Rests on the chat format of internlm/internlm2_5-7b-chat.
 */
import type { Family } from './family.ts';
import { objectWriting, taggedJson } from './shapes/tagged-json.ts';

const START = '<|action_start|><|plugin|>';
const END = '<|action_end|>';

export const family: Family = {
  tools: [
    {
      format: taggedJson({
        name: 'internlm',
        // Two tokens, one marker.
        start: { text: START, token: 'never' },
        end: { text: END, token: 'optional' },
        envelope: { nameKeys: ['name'], argumentKeys: ['parameters', 'arguments'] },
        writing: { ...objectWriting(`${START}\n`, END, 'parameters'), separator: '', trigger: START },
      }),
      recognise: ({ chatTemplate }) => chatTemplate.includes('<|plugin|>'),
    },
  ],
};
