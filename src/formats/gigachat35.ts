/**
 * GigaChat 3.5: `<think>` blocks where the request asks for them, and calls in the markup of DeepSeek V4 under another
 * name.
 *
 * ```
 * <｜GCML｜tool_calls>\n<｜GCML｜invoke name="f">\n<｜GCML｜parameter name="a" string="true">v</｜GCML｜parameter>\n…
 * ```
 *
 * The template argument `reasoning` opens the block in the prompt. Rests on the tests of the parsers that servers have
 * for ai-sage/GigaChat3.5-432B-A28B.
 */
import { dsml } from './deepseek-dsml.ts';
import type { Family, TemplateFacts } from './family.ts';
import { thinkTags } from './shapes/think-tags.ts';

const recognise = ({ chatTemplate }: TemplateFacts) => chatTemplate.includes('｜GCML｜');

export const family: Family = {
  reasoning: [
    {
      format: thinkTags({
        name: 'gigachat35',
        thinkingByDefault: false,
        readSwitch: ({ reasoning }) => (typeof reasoning === 'boolean' ? reasoning : undefined),
      }),
      recognise: (model) => recognise(model) && model.chatTemplate.includes('<think>'),
      over: ['qwen3', 'think_tags', 'deepseek_r1', 'deepseek_v3'],
    },
  ],
  tools: [{ format: dsml('gigachat35', 'tool_calls', '', 'GCML'), recognise, over: ['gigachat3'] }],
};
