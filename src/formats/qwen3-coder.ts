/**
 * Calls as XML parameters: Qwen3-Coder, Qwen3.5, MiMo, Nemotron 3.
 *
 * ```
 * <tool_call>\n<function=edit>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>
 * ```
 *
 * Rests on the chat templates of Qwen/Qwen3-Coder-30B-A3B-Instruct and XiaomiMiMo/MiMo-V2-Flash.
 */
import type { Family } from './family.ts';
import { xmlParameters } from './shapes/xml-parameters.ts';

export const family: Family = {
  tools: [
    {
      aliases: ['qwen3_xml', 'mimo'],
      format: xmlParameters('qwen3_coder', '<tool_call>', '</tool_call>'),
      recognise: ({ chatTemplate }) =>
        chatTemplate.includes('<tool_call>') &&
        chatTemplate.includes('<function=') &&
        chatTemplate.includes('<parameter='),
    },
  ],
};
