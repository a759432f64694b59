/**
 * K2 Horizon: reasoning in a tag by effort, calls as pairs of keys and values in a block.
 *
 * ```
 * <ifm|think_fast>\nLook it up.\n</ifm|think_fast>\n
 * <ifm|tool_calls>\n<ifm|tool_call>f\n<ifm|arg_key>a</ifm|arg_key>\n<ifm|arg_value>1</ifm|arg_value>\n</ifm|tool_call>\n</ifm|tool_calls>
 * ```
 *
 * The template argument `tool_call_format` asks for JSON in the tags instead, or for a type between key and value;
 * all three are read, and pairs are what is held to. Rests on the chat template of IFM/K2-Horizon-7B.
 */
import type { Family, TemplateFacts } from './family.ts';
import { keyValues } from './shapes/key-values.ts';
import { thinkTags } from './shapes/think-tags.ts';

const EFFORTS = ['think', 'think_fast', 'think_faster'];

const recognise = ({ chatTemplate }: TemplateFacts) => chatTemplate.includes('ifm|tool_call');

export const family: Family = {
  reasoning: [
    {
      format: thinkTags({
        name: 'k2_horizon',
        start: EFFORTS.map((effort) => `<ifm|${effort}>`),
        end: EFFORTS.map((effort) => `</ifm|${effort}>`),
      }),
      recognise: ({ chatTemplate }) => chatTemplate.includes('ifm|think'),
    },
  ],
  tools: [
    {
      format: keyValues({
        name: 'k2_horizon',
        block: 'ifm|tool_calls',
        call: 'ifm|tool_call',
        key: 'ifm|arg_key',
        value: 'ifm|arg_value',
        line: '\n',
        token: 'optional',
        orJson: true,
      }),
      recognise,
    },
  ],
};
