/**
 * Hunyuan A13B: `<think>` and `<answer>` tags in ordinary tokens, calls as a JSON list in `<tool_calls>` tags.
 *
 * ```
 * <think>\nAdd them.\n</think>\n<answer>\nTwelve.\n</answer>
 * <tool_calls>[{"name": "f", "arguments": {"a": 1}}]</tool_calls>
 * ```
 *
 * With tools on offer an answer in words may begin with 助手： (“assistant:”), which is none of it. Rests on the
 * chat template of tencent/Hunyuan-A13B-Instruct.
 */
import { CONTENT } from '../parser/format.ts';
import type { Family, TemplateFacts } from './family.ts';
import { listWriting, taggedJson } from './shapes/tagged-json.ts';
import { thinkTags } from './shapes/think-tags.ts';

const START = '<tool_calls>';
const END = '</tool_calls>';

const recognise = ({ chatTemplate }: TemplateFacts) =>
  chatTemplate.includes('<|startoftext|>') && chatTemplate.includes('<|extra_0|>');

export const family: Family = {
  reasoning: [
    {
      format: thinkTags({
        name: 'hunyuan_a13b',
        token: 'never',
        implicitStart: false,
        callEndsReasoning: false,
        literalWhenOff: false,
        others: {
          ANSWER_START: { text: '<answer>', token: 'never' },
          ANSWER_END: { text: '</answer>', token: 'never' },
        },
        contentMarkers: {
          ANSWER_START: [
            { to: CONTENT, when: 'first', do: ['nest-once', 'edge'] },
            { to: CONTENT, when: 'nested', do: ['nest', 'literal'] },
          ],
          ANSWER_END: [
            { to: CONTENT, when: 'nested-twice', do: ['unnest', 'literal'] },
            { to: CONTENT, when: 'nested', do: ['unnest', 'edge'] },
          ],
        },
      }),
      recognise,
    },
  ],
  tools: [
    {
      format: taggedJson({
        name: 'hunyuan_a13b',
        start: { text: START, token: 'optional' },
        end: { text: END, token: 'optional' },
        opensInReasoning: false,
        writing: listWriting(START, END),
        terminals: { ASSISTANT: { text: '助手：', token: 'never' } },
        openers: { ASSISTANT: { to: CONTENT, when: 'first' } },
      }),
      recognise,
    },
  ],
};
