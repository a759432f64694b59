/**
 * Reasoning of Nemotron 3: `<think>` blocks in ChatML turns; its calls are those of `qwen3_coder`.
 *
 * ```
 * <|im_start|>assistant\n<think>\nShe asks for the sum.\n</think>\nIt is 9.<|im_end|>
 * ```
 *
 * `force_nonempty_content` gives the reasoning as content too when nothing came after it. Rests on the chat
 * template of nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16.
 */
import type { Family } from './family.ts';
import { thinkTags } from './shapes/think-tags.ts';

export const family: Family = {
  reasoning: [
    {
      format: thinkTags({ name: 'nemotron_v3', repeatedWith: 'force_nonempty_content' }),
      recognise: ({ chatTemplate }) =>
        chatTemplate.includes('<|im_start|>') && chatTemplate.includes('truncate_history_thinking'),
      over: ['qwen3', 'think_tags'],
    },
  ],
};
