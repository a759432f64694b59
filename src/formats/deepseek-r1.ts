/**
 * Reasoning of DeepSeek R1 and its distillations: the prompt opens the block, the model closes it.
 *
 * ```
 * <｜Assistant｜><think>\nShe asks for the sum.\n</think>\n\nIt is 9.<｜end▁of▁sentence｜>
 * ```
 *
 * Call markup inside the block is a draft and stays reasoning. Rests on the chat templates of
 * deepseek-ai/DeepSeek-R1-0528 and deepseek-ai/DeepSeek-R1-Distill-Qwen-7B.
 */
import type { Family } from './family.ts';

export const family: Family = {
  reasoning: [
    {
      format: {
        name: 'deepseek_r1',
        terminals: {
          THINK_START: { text: '<think>', token: 'required' },
          THINK_END: { text: '</think>', token: 'required' },
        },
        start: 'THINK_START',
        end: 'THINK_END',
        thinkingByDefault: true,
        implicitStart: true,
        callEndsReasoning: false,
        literalWhenOff: false,
      },
      recognise: ({ chatTemplate }) =>
        chatTemplate.includes('<｜Assistant｜>') &&
        chatTemplate.includes('</think>') &&
        !/\bthinking\b/.test(chatTemplate),
    },
  ],
};
