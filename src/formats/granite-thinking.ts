/**
 * Reasoning of Granite 4.2: `<think>` blocks in turns of Granite's own; its calls are those of `qwen3_coder`.
 *
 * ```
 * <|start_of_role|>assistant<|end_of_role|><think>\nShe asks for the sum.\n</think>\nIt is 9.<|end_of_text|>
 * ```
 *
 * `force_nonempty_content` gives the reasoning as content too when nothing came after it. Rests on
 * vLLM's parser of this name, for ibm-granite's 4.2 models.
 */
import type { Family } from './family.ts';
import { thinkTags } from './shapes/think-tags.ts';

export const family: Family = {
  reasoning: [
    {
      aliases: ['granite_thinking_parser'],
      format: thinkTags({
        name: 'granite_thinking',
        token: 'optional',
        repeatedWith: 'force_nonempty_content',
      }),
      // Granite 3.3 asks for such tags in words, with others around the answer.
      recognise: ({ chatTemplate }) =>
        chatTemplate.includes('<|start_of_role|>') &&
        chatTemplate.includes('</think>') &&
        !chatTemplate.includes('<response>'),
    },
  ],
};
