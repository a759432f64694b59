/**
 * Reasoning of Qwen3, QwQ and MiMo: `<think>` blocks in ChatML turns.
 *
 * ```
 * <|im_start|>assistant\n<think>\nShe asks for the sum.\n</think>\n\nIt is 9.<|im_end|>
 * ```
 *
 * `enable_thinking: false` puts an empty block into the prompt; then the markers in the answer are text.
 * Rests on the chat templates of Qwen/Qwen3-8B and Qwen/QwQ-32B.
 */
import type { Family } from './family.ts';

export const family: Family = {
  reasoning: [
    {
      aliases: ['mimo'],
      format: {
        name: 'qwen3',
        terminals: {
          THINK_START: { text: '<think>', token: 'required' },
          THINK_END: { text: '</think>', token: 'required' },
        },
        start: 'THINK_START',
        end: 'THINK_END',
        thinkingByDefault: true,
        implicitStart: true,
        callEndsReasoning: true,
        literalWhenOff: true,
      },
      recognise: ({ chatTemplate, hasToken }) =>
        chatTemplate.includes('<|im_start|>') && chatTemplate.includes('</think>') && hasToken('</think>'),
    },
  ],
};
