/**
 * xLAM: calls as a JSON list, bare or behind one of several markers.
 *
 * ```
 * [{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {}}]
 * ^                                        CONTENT → CALL at the start of a line, held
 * ```json\n[{"name": "f", "arguments": {}}]\n```
 * ^^^^^^^                                  CONTENT → FENCED, held
 * <tool_call>[…]</tool_call>   [TOOL_CALLS][…]   </think>[…]
 * ```
 *
 * Rests on the chat templates of Salesforce/Llama-xLAM-2-8b-fc-r and Salesforce/xLAM-2-3b-fc-r.
 */
import { CONTENT } from '../parser/format.ts';
import { JsonEnvelopesReader } from '../parser/json-calls.ts';
import type { Family } from './family.ts';
import { NAME_AND_ARGUMENTS, objectWriting } from './shapes/tagged-json.ts';

const CALL = 'CALL';
const FENCED = 'FENCED';
const AFTER = 'AFTER';

export const family: Family = {
  tools: [
    {
      format: {
        name: 'xlam',
        terminals: {
          BRACKET: { text: '[', token: 'never' },
          FENCE: { text: '```json', token: 'never' },
          FENCE_END: { text: '```', token: 'never' },
          MARK: { text: ['[TOOL_CALLS]', '<tool_call>'], token: 'optional' },
          MARK_END: { text: '</tool_call>', token: 'optional' },
          // Where no format of reasoning reads it.
          THINK_END: { text: '</think>', token: 'optional' },
        },
        openers: {
          BRACKET: [
            { to: CALL, when: 'first', hold: 'any', do: ['literal'] },
            { to: CALL, when: 'line-start', hold: 'declared', do: ['literal'] },
          ],
          FENCE: { to: FENCED, when: 'line-start', hold: 'declared', do: ['nest'] },
          MARK: { to: CALL, hold: 'any' },
          THINK_END: { to: CONTENT, do: ['literal', 'first'] },
        },
        openersInReasoning: [],
        // Each call in a list of its own, so that a bracket by itself begins none.
        writing: { ...objectWriting('[', ']'), trigger: '[{"name": "' },
        states: {
          [FENCED]: { text: 'layout', on: { BRACKET: { to: CALL, do: ['literal'] } } },
          [CALL]: {
            text: 'call',
            createReader: (context) =>
              new JsonEnvelopesReader(context, { ...NAME_AND_ARGUMENTS, needsArguments: true }),
            on: {
              MARK: { to: CALL, hold: 'any' },
              MARK_END: { to: CONTENT },
              FENCE_END: { to: CONTENT, do: ['unnest'] },
            },
            done: AFTER,
          },
          [AFTER]: {
            text: 'content',
            on: {
              BRACKET: { to: CALL, hold: 'any', do: ['literal'] },
              MARK: { to: CALL, hold: 'any' },
              MARK_END: { to: CONTENT, do: ['call-edge'] },
              FENCE_END: { to: CONTENT, when: 'nested', do: ['unnest', 'call-edge'] },
            },
            otherwise: CONTENT,
          },
        },
      },
      recognise: ({ chatTemplate }) => chatTemplate.includes('xLAM'),
      over: ['llama3_json'],
    },
  ],
};
