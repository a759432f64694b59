/**
 * Command R7B, Command A and their reasoning versions: blocks of special tokens, calls as a JSON list.
 *
 * ```
 * <|START_THINKING|>Look it up.<|END_THINKING|><|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "f", "parameters": {"a": 1}}\n]<|END_ACTION|>
 * <|START_RESPONSE|>It rains.<|END_RESPONSE|>
 * ```
 *
 * Citation tags are left in the answer. Rests on the chat templates of CohereLabs/c4ai-command-r7b-12-2024 and
 * CohereLabs/command-a-reasoning-08-2025.
 */
import { type AnswerWriting, CONTENT, DIGITS, type State, type Terminals } from '../parser/format.ts';
import type { Family, TemplateFacts } from './family.ts';
import { taggedJson } from './shapes/tagged-json.ts';
import { thinkTags } from './shapes/think-tags.ts';

const START = '<|START_ACTION|>';
const END = '<|END_ACTION|>';

const answerTags: Terminals = {
  ANSWER_START: { text: ['<|START_RESPONSE|>', '<|START_TEXT|>'], token: 'optional' },
  ANSWER_END: { text: ['<|END_RESPONSE|>', '<|END_TEXT|>'], token: 'optional' },
};
const answer: AnswerWriting = { start: '<|START_RESPONSE|>', end: '<|END_RESPONSE|>' };
const answerEdges: State['on'] = {
  ANSWER_START: { to: CONTENT, do: ['edge'] },
  ANSWER_END: { to: CONTENT, do: ['edge'] },
};

const recognise = ({ chatTemplate }: TemplateFacts) => chatTemplate.includes(START);

export const family: Family = {
  reasoning: [
    {
      aliases: ['cohere_command4'],
      format: thinkTags({
        name: 'cohere_command3',
        start: '<|START_THINKING|>',
        end: '<|END_THINKING|>',
        implicitStart: false,
        literalWhenOff: false,
        others: answerTags,
        contentMarkers: answerEdges,
        answer,
      }),
      recognise,
    },
  ],
  tools: [
    {
      aliases: ['cohere_command4'],
      format: taggedJson({
        name: 'cohere_command3',
        start: { text: START, token: 'required' },
        end: { text: END, token: 'required' },
        envelope: { nameKeys: ['tool_name'], argumentKeys: ['parameters'] },
        writing: {
          blockStart: `${START}[\n    `,
          blockEnd: `\n]${END}`,
          separator: ',\n    ',
          callStart: (name) => [
            '{"tool_call_id": "',
            DIGITS,
            `", "tool_name": ${JSON.stringify(name)}, "parameters": `,
          ],
          callEnd: '}',
          arguments: 'json',
          trigger: START,
        },
        terminals: answerTags,
        openers: answerEdges,
        answer,
      }),
      recognise,
    },
  ],
};
