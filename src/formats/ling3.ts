/**
 * Ling 3: `<think>` blocks, and calls as pairs of keys and values without line breaks.
 *
 * ```
 * <role>ASSISTANT</role>\n<think>Look it up.</think><tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value>\n</tool_call>
 * ```
 *
 * The prompt opens the block, or with thinking off opens and closes it. Rests on prompts of
 * inclusionAI/Ling-3.0-tiny and Ling-3.0-flash, and on how vLLM and llama.cpp read their calls.
 */
import type { Family, TemplateFacts } from './family.ts';
import { keyValues } from './shapes/key-values.ts';
import { thinkTags } from './shapes/think-tags.ts';

const recognise = ({ chatTemplate }: TemplateFacts) =>
  chatTemplate.includes('<role>') && chatTemplate.includes('<arg_key>');
const over = ['glm45', 'glm47'];

export const family: Family = {
  reasoning: [{ format: thinkTags({ name: 'ling3', token: 'optional' }), recognise, over }],
  tools: [
    {
      format: keyValues({
        name: 'ling3',
        call: 'tool_call',
        key: 'arg_key',
        value: 'arg_value',
        line: '',
        token: 'optional',
      }),
      recognise,
      over,
    },
  ],
};
