/**
 * Phi-4-mini: calls as a JSON list, between special tokens or behind the word `functools`.
 *
 * ```
 * phi4_mini       <|tool_call|>[{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {}}]<|/tool_call|>
 * phi4_mini_json  functools[{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {}}]
 * ```
 *
 * The first is what the model's own chat template leads to, the second what vLLM's prompting template asks for.
 * Rests on the model card and the added tokens of microsoft/Phi-4-mini-instruct, and its function calling guide.
 */
import type { Family } from './family.ts';
import { listWriting, taggedJson } from './shapes/tagged-json.ts';

const WORD = 'functools[';
const START = '<|tool_call|>';
const END = '<|/tool_call|>';

export const family: Family = {
  tools: [
    {
      format: taggedJson({
        name: 'phi4_mini_json',
        start: { text: WORD, token: 'never' },
        opensList: true,
        opensInReasoning: false,
        writing: { ...listWriting('functools', ''), trigger: WORD },
      }),
      recognise: ({ chatTemplate }) => chatTemplate.includes(WORD),
    },
    {
      format: taggedJson({
        name: 'phi4_mini',
        start: { text: START, token: 'required' },
        end: { text: END, token: 'required' },
        opensInReasoning: false,
        writing: listWriting(START, END),
      }),
      recognise: ({ chatTemplate }) => chatTemplate.includes('<|/tool|>') && !chatTemplate.includes(WORD),
    },
  ],
};
