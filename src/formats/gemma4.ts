/**
 * Gemma 4: thoughts on a channel, calls in a notation of its own.
 *
 * ```
 * <|channel>thought\nLook it up.\n<channel|><|tool_call>call:f{a:<|"|>x<|"|>,n:4,l:[1,<|"|>y<|"|>]}<tool_call|>
 * ^^^^^^^^^^^^^^^^^^                          the label is no thought
 *                                          ^^^^^^^^^^^^               CONTENT → PREFIX, held until the name is complete
 *                                                      ^^^^^          PREFIX → NAME
 *                                                            ^        NAME → ARGUMENTS: the call begins
 * ```
 *
 * The model opens the channel itself, when `enable_thinking` put a token for it into the system turn. Rests on
 * the chat template of google/gemma-4-31B-it.
 */
import type { Family, TemplateFacts } from './family.ts';
import { delimitedCalls } from './shapes/delimited-calls.ts';
import { thinkTags } from './shapes/think-tags.ts';

const START = '<|tool_call>';

const recognise = ({ chatTemplate }: TemplateFacts) => chatTemplate.includes(START);

export const family: Family = {
  reasoning: [
    {
      format: thinkTags({
        name: 'gemma4',
        start: '<|channel>',
        end: '<channel|>',
        thinkingByDefault: false,
        implicitStart: false,
        literalWhenOff: false,
        others: { LABEL: { text: 'thought\n', token: 'never' } },
        label: 'LABEL',
      }),
      recognise,
    },
  ],
  tools: [{ format: delimitedCalls('gemma4', START, '<tool_call|>', '<|"|>'), recognise }],
};
