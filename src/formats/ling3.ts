/**
 * Ling 3: `<think>` blocks, and calls as pairs of keys and values without line breaks.
 *
 * ```
 * <think>Look it up.</think><tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>
 * ```
 *
 * Rests on the documentation of vLLM's parser of this name, and for the turns on the chat template of
 * inclusionAI/Ling-flash-2.0.
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
