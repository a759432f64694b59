/**
 * Apertus: calls as a JSON list of objects whose one key is the name. Of several keys in one object, which no template
 * writes, each is a call.
 *
 * ```
 * <|inner_prefix|>Look it up.<|tools_prefix|>[{"f": {"a": 1}}, {"g": {}}]<|tools_suffix|>
 * ```
 *
 * Calls may stand inside the deliberation, which the model begins by itself. Rests on the chat template of
 * swiss-ai/Apertus-8B-Instruct-2509.
 */
import type { Family, TemplateFacts } from './family.ts';
import { taggedJson } from './shapes/tagged-json.ts';
import { thinkTags } from './shapes/think-tags.ts';

const START = '<|tools_prefix|>';
const END = '<|tools_suffix|>';

const recognise = ({ chatTemplate }: TemplateFacts) => chatTemplate.includes(START);

export const family: Family = {
  reasoning: [
    {
      format: thinkTags({
        name: 'apertus',
        start: '<|inner_prefix|>',
        end: '<|inner_suffix|>',
        thinkingByDefault: false,
        implicitStart: false,
        literalWhenOff: false,
      }),
      recognise,
    },
  ],
  tools: [
    {
      format: taggedJson({
        name: 'apertus',
        start: { text: START, token: 'required' },
        end: { text: END, token: 'optional' },
        envelope: { nameKeys: [], argumentKeys: [], isKeyed: true },
        writing: {
          blockStart: `${START}[`,
          blockEnd: `]${END}`,
          separator: ', ',
          callStart: (name) => [`{${JSON.stringify(name)}: `],
          callEnd: '}',
          arguments: 'json',
          trigger: START,
        },
      }),
      recognise,
    },
  ],
};
