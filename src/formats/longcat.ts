/**
 * LongCat Flash: calls in tags, as JSON or as pairs of keys and values.
 *
 * ```
 * <longcat_tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</longcat_tool_call>
 * <longcat_tool_call>f\n<longcat_arg_key>a</longcat_arg_key>\n<longcat_arg_value>1</longcat_arg_value>\n</longcat_tool_call>
 * ```
 *
 * Which of them depends on the model; both are read, and JSON is what is held to. Rests on the model cards of
 * meituan-longcat/LongCat-Flash-Chat and meituan-longcat/LongCat-Flash-Thinking.
 */
import type { Family } from './family.ts';
import { keyValues } from './shapes/key-values.ts';
import { objectWriting } from './shapes/tagged-json.ts';

const START = '<longcat_tool_call>';

export const family: Family = {
  tools: [
    {
      format: {
        ...keyValues({
          name: 'longcat',
          call: 'longcat_tool_call',
          key: 'longcat_arg_key',
          value: 'longcat_arg_value',
          line: '\n',
          orJson: true,
        }),
        writing: objectWriting(`${START}\n`, '\n</longcat_tool_call>'),
      },
      recognise: ({ chatTemplate }) => chatTemplate.includes(START),
    },
  ],
};
