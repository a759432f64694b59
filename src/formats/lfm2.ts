/**
 * LFM2 and LFM2.5: calls as a list in Python syntax between special tokens.
 *
 * ```
 * <|tool_call_start|>[f(a=1), g()]<|tool_call_end|>Checking.
 * ```
 *
 * Rests on the chat templates and model cards of LiquidAI/LFM2-1.2B and LiquidAI/LFM2.5-8B-A1B.
 */
import type { Family } from './family.ts';
import { taggedPython } from './shapes/python-calls.ts';

const START = '<|tool_call_start|>';

export const family: Family = {
  tools: [
    {
      format: taggedPython(
        'lfm2',
        {
          start: { text: START, token: 'required' },
          end: { text: '<|tool_call_end|>', token: 'required' },
        },
        'brackets',
      ),
      // Most templates show the list of tools, but no call: then the vocabulary tells.
      recognise: ({ chatTemplate, hasToken }) =>
        chatTemplate.includes(START) ||
        (/<\|tool_list_start\|>|List of tools: \[/.test(chatTemplate) && hasToken(START)),
    },
  ],
};
