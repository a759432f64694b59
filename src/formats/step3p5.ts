/**
 * Step 3.5 and 3.7: `<think>` blocks that the prompt opens, and XML parameters.
 *
 * ```
 * Look it up.\n</think>\n<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>
 * ```
 *
 * The models always think. Rests on the chat template of stepfun-ai/Step-3.7-Flash.
 */
import type { Family, TemplateFacts } from './family.ts';
import { thinkTags } from './shapes/think-tags.ts';
import { xmlParameters } from './shapes/xml-parameters.ts';

/** Results have turns of a role of their own. */
const recognise = ({ chatTemplate }: TemplateFacts) => chatTemplate.includes('<|im_start|>tool_response');

export const family: Family = {
  reasoning: [{ format: thinkTags({ name: 'step3p5', literalWhenOff: false }), recognise, over: ['qwen3'] }],
  tools: [
    {
      format: xmlParameters('step3p5', '<tool_call>', '</tool_call>'),
      recognise,
      over: ['qwen3_coder'],
    },
  ],
};
