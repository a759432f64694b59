/**
 * Reasoning of Holo2: `<think>` blocks that the prompt opens. Call markup in them is a draft.
 *
 * ```
 * <|im_start|>assistant\n<think>\nThe button is in the corner.\n</think>\n\nClick (310, 20).<|im_end|>
 * ```
 *
 * `thinking: false` switches it off. Its chat template does not tell it from Qwen3, so it is chosen by name only.
 * Rests on vLLM's parser of this name, and on the model card of Hcompany/Holo2-4B.
 */
import type { Family } from './family.ts';
import { thinkTags } from './shapes/think-tags.ts';

export const family: Family = {
  reasoning: [{ format: thinkTags({ name: 'holo2', callEndsReasoning: false }), recognise: () => false }],
};
