/**
 * Hunyuan 3 and 4: `<think>` blocks, and calls as pairs of keys and values in a block.
 *
 * ```
 * <tool_calls>\n<tool_call>f<tool_sep>\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>\n</tool_calls>
 * ```
 *
 * Open checkpoints end the name of every tag with `:opensource`. The model thinks when `reasoning_effort` is
 * `low` or `high`. Rests on the chat template of tencent/Hy3-preview.
 */
import type { Family, TemplateFacts } from './family.ts';
import { keyValues } from './shapes/key-values.ts';
import { thinkTags } from './shapes/think-tags.ts';

const SUFFIX = ':opensource';

const recognise = ({ chatTemplate }: TemplateFacts) =>
  chatTemplate.includes('hy_Assistant') && /<tool_sep/.test(chatTemplate);
const over = ['glm45', 'glm47'];

export const family: Family = {
  reasoning: [
    {
      aliases: ['hy_v4'],
      format: thinkTags({
        name: 'hy_v3',
        start: ['<think>', `<think${SUFFIX}>`],
        end: ['</think>', `</think${SUFFIX}>`],
        thinkingByDefault: false,
        readSwitch: ({ reasoning_effort: effort }) =>
          typeof effort === 'string' ? effort === 'low' || effort === 'high' : undefined,
      }),
      recognise,
      over,
    },
  ],
  tools: [
    {
      aliases: ['hy_v4'],
      format: keyValues({
        name: 'hy_v3',
        block: 'tool_calls',
        call: 'tool_call',
        separator: 'tool_sep',
        key: 'arg_key',
        value: 'arg_value',
        suffixes: ['', SUFFIX],
        line: '\n',
      }),
      recognise,
      over,
    },
  ],
};
