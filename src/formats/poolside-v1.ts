/**
 * Laguna, of Poolside: `<think>` blocks, and calls as pairs of keys and values.
 *
 * ```
 * <assistant>\n<think>Look it up.</think>\n<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>
 * ```
 *
 * The model thinks only when it is told to: otherwise the prompt closes the block. Calls without line breaks are
 * read as well. Rests on vLLM's parser of this name and on prompts of poolside/Laguna-XS.2.
 */
import type { Family, TemplateFacts } from './family.ts';
import { keyValues } from './shapes/key-values.ts';
import { thinkTags } from './shapes/think-tags.ts';

const recognise = ({ chatTemplate }: TemplateFacts) =>
  chatTemplate.includes('<assistant>') && chatTemplate.includes('<arg_key>');
const over = ['glm45', 'glm47'];

export const family: Family = {
  reasoning: [
    {
      format: thinkTags({ name: 'poolside_v1', thinkingByDefault: false, callEndsReasoning: false }),
      recognise,
      over,
    },
  ],
  tools: [
    {
      format: keyValues({
        name: 'poolside_v1',
        call: 'tool_call',
        key: 'arg_key',
        value: 'arg_value',
        line: '\n',
      }),
      recognise,
      over,
    },
  ],
};
