/**
 * ERNIE 4.5 Thinking: `<think>` blocks, answers in `<response>` tags, calls as JSON in `<tool_call>` tags.
 *
 * ```
 * Sum the rows.\n</think>\n\n\n<response>\nTotal is 12.\n</response>\n
 * Look it up.\n</think>\n\n\n<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>\n
 * ```
 *
 * The model always thinks, in a block that the prompt opens. Rests on the model card of
 * baidu/ERNIE-4.5-21B-A3B-Thinking and its documentation.
 */
import { CONTENT } from '../parser/format.ts';
import type { Family, TemplateFacts } from './family.ts';
import { objectWriting, taggedJson } from './shapes/tagged-json.ts';
import { thinkTags } from './shapes/think-tags.ts';

const START = '<tool_call>';
const END = '</tool_call>';

const recognise = ({ chatTemplate }: TemplateFacts) =>
  chatTemplate.includes('<|im_start|>') && chatTemplate.includes('<response>');

export const family: Family = {
  reasoning: [
    {
      format: thinkTags({
        name: 'ernie45',
        callEndsReasoning: false,
        literalWhenOff: false,
        others: {
          RESPONSE_START: { text: '<response>', token: 'optional' },
          RESPONSE_END: { text: '</response>', token: 'optional' },
        },
        contentMarkers: {
          RESPONSE_START: { to: CONTENT, when: 'first', do: ['nest', 'edge'] },
          RESPONSE_END: { to: CONTENT, when: 'nested', do: ['unnest', 'edge'] },
        },
      }),
      recognise,
      over: ['qwen3', 'think_tags'],
    },
  ],
  tools: [
    {
      format: taggedJson({
        name: 'ernie45',
        start: { text: START, token: 'optional' },
        end: { text: END, token: 'optional' },
        opensInReasoning: false,
        writing: { ...objectWriting(`${START}\n`, `\n${END}\n`), separator: '', trigger: START },
      }),
      recognise,
      over: ['hermes'],
    },
  ],
};
