/**
 * MiniMax M2: `<think>` blocks, calls as XML elements with names in attributes.
 *
 * ```
 * <minimax:tool_call>\n<invoke name="f">\n<parameter name="a">v</parameter>\n</invoke>\n</minimax:tool_call>
 * ```
 *
 * Values are taken as they stand, white space included. Rests on the chat template of MiniMaxAI/MiniMax-M2.
 */
import type { Family } from './family.ts';
import { invokeParameters } from './shapes/invoke-parameters.ts';
import { thinkTags } from './shapes/think-tags.ts';

const recognise = ({ chatTemplate }: { chatTemplate: string }) =>
  chatTemplate.includes('<minimax:tool_call>');

export const family: Family = {
  reasoning: [
    {
      format: {
        name: 'minimax_m2',
        terminals: {
          THINK_START: { text: '<think>', token: 'optional' },
          THINK_END: { text: '</think>', token: 'optional' },
        },
        start: 'THINK_START',
        end: 'THINK_END',
        thinkingByDefault: true,
        implicitStart: true,
        callEndsReasoning: true,
        literalWhenOff: false,
      },
      recognise,
    },
    {
      // For clients that keep the reasoning in their history as content; chosen by name only.
      format: thinkTags({
        name: 'minimax_m2_append_think',
        token: 'optional',
        literalWhenOff: false,
        keptAfter: '<think>',
      }),
      recognise: () => false,
    },
  ],
  tools: [
    { format: invokeParameters({ name: 'minimax_m2', block: 'minimax:tool_call', lead: '\n' }), recognise },
  ],
};
