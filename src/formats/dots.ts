/**
 * dots: calls as XML elements with names in attributes, or as JSON.
 *
 * ```
 * <dots_function_call>\n<invoke name="f">\n<parameter name="a">\nv\n</parameter>\n</invoke>\n</dots_function_call>
 * <dots_function_call>{"name": "f", "arguments": {"a": "v"}}</dots_function_call>
 * ```
 *
 * Elements are what is held to. Rests on the tests of the parsers that servers have for dots-studio/dots-3.
 */
import type { Family } from './family.ts';
import { invokeParameters } from './shapes/invoke-parameters.ts';

export const family: Family = {
  tools: [
    {
      format: invokeParameters({
        name: 'dots',
        block: 'dots_function_call',
        trimsLineBreaks: true,
        orJson: true,
      }),
      recognise: ({ chatTemplate }) => chatTemplate.includes('<dots_function_call>'),
    },
  ],
};
