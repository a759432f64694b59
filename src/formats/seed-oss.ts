/**
 * Seed-OSS: `<seed:think>` blocks, and XML parameters in a wrapper of its own.
 *
 * ```
 * <seed:think>Look it up.</seed:think>\n<seed:tool_call>\n<function=f>\n<parameter=a>1</parameter>\n</function>\n</seed:tool_call>
 * ```
 *
 * The model itself opens the block; `thinking_budget: 0` makes the prompt open one in which it only reflects on
 * its budget. Rests on the chat template of ByteDance-Seed/Seed-OSS-36B-Instruct.
 */

import { parametersAs } from '../parser/parameters.ts';
import type { Family, TemplateFacts } from './family.ts';
import { thinkTags } from './shapes/think-tags.ts';
import { xmlParameters } from './shapes/xml-parameters.ts';

const recognise = ({ chatTemplate }: TemplateFacts) => chatTemplate.includes('<seed:tool_call>');

export const family: Family = {
  reasoning: [
    {
      format: thinkTags({ name: 'seed_oss', start: '<seed:think>', end: '</seed:think>' }),
      recognise,
    },
  ],
  tools: [
    {
      format: {
        ...xmlParameters('seed_oss', '<seed:tool_call>', '</seed:tool_call>'),
        // The template writes values without line breaks around them, the model with them at times.
        createParameters: parametersAs({ trimsLineBreaks: 'paired' }),
      },
      recognise,
    },
  ],
};
