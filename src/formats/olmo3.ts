/**
 * OLMo 3: `<think>` tags in ordinary tokens, calls in Python syntax, one a line.
 *
 * ```
 * <think>Look it up.</think>\n<function_calls>\nf(a=1)\ng(b='x')\n</function_calls>
 * ```
 *
 * Rests on the chat templates of allenai/Olmo-3-7B-Think and allenai/Olmo-3-7B-Instruct.
 */
import type { Family } from './family.ts';
import { taggedPython } from './shapes/python-calls.ts';
import { thinkTags } from './shapes/think-tags.ts';

export const family: Family = {
  reasoning: [
    {
      format: thinkTags({
        name: 'olmo3',
        token: 'never',
        callEndsReasoning: false,
        literalWhenOff: false,
      }),
      recognise: ({ chatTemplate }) =>
        chatTemplate.includes('<|im_start|>') &&
        chatTemplate.includes('<functions>') &&
        chatTemplate.includes('<think>'),
      over: ['qwen3', 'think_tags'],
    },
  ],
  tools: [
    {
      format: taggedPython(
        'olmo3',
        {
          start: { text: '<function_calls>', token: 'optional' },
          end: { text: '</function_calls>', token: 'optional' },
        },
        'lines',
      ),
      recognise: ({ chatTemplate }) => chatTemplate.includes('<function_calls>'),
    },
  ],
};
