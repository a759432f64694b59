/**
 * Reasoning in `<think>` blocks of ChatML turns: Qwen3, QwQ and MiMo, and models that think only now and then.
 *
 * ```
 * <|im_start|>assistant\n<think>\nShe asks for the sum.\n</think>\n\nIt is 9.<|im_end|>
 * ```
 *
 * `qwen3` begins inside the block; `enable_thinking: false` puts an empty one into the prompt, and then the markers in
 * the answer are text. `think_tags` begins inside only where the prompt has opened the block: otherwise the answer is
 * content until the model writes `<think>` itself.
 * Rests on the chat templates of Qwen/Qwen3-8B and Qwen/QwQ-32B; for `think_tags` on those of
 * LiquidAI/LFM2.5-1.2B-Instruct, speakleash/Bielik-11B-v3.0-Instruct and openbmb/MiniCPM5-1B, and on the model card of
 * XiaomiMiMo/MiMo-VL-7B-RL, whose template does not mention thoughts.
 */
import type { Family, TemplateFacts } from './family.ts';
import { thinkTags } from './shapes/think-tags.ts';
import { thinksUnmarked } from './template-text.ts';

const isFamily = ({ chatTemplate }: TemplateFacts) =>
  chatTemplate.includes('<|im_start|>') && chatTemplate.includes('</think>');

/** MiMo-VL thinks all the same; its template names it. */
const isMiMoVl = ({ chatTemplate }: TemplateFacts) =>
  chatTemplate.includes('<|im_start|>') &&
  chatTemplate.includes('You are MiMo, an AI assistant developed by Xiaomi.') &&
  !chatTemplate.includes('</think>');

export const family: Family = {
  reasoning: [
    {
      aliases: ['mimo'],
      format: thinkTags({ name: 'qwen3' }),
      recognise: (model) => isFamily(model) && thinksUnmarked(model.chatTemplate),
    },
    {
      format: thinkTags({
        name: 'think_tags',
        thinkingByDefault: false,
        implicitStart: false,
        literalWhenOff: false,
      }),
      recognise: (model) => (isFamily(model) && !thinksUnmarked(model.chatTemplate)) || isMiMoVl(model),
    },
  ],
};
