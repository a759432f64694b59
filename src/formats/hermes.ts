/**
 * Calls as JSON in `<tool_call>` tags: Hermes 2 Pro, Qwen2.5, Qwen3.
 *
 * ```
 * <tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>
 * ^^^^^^^^^^^                                        ^                             CONTENT → CALL, held up to here
 *                                                                    ^            CALL → AFTER
 *                                                                     ^^^^^^^^^^^^^^  AFTER → CONTENT
 * ```
 *
 * Several calls are several tags. A closing tag inside a JSON string is part of the string.
 * Rests on the chat templates of NousResearch/Hermes-2-Pro-Llama-3-8B and Qwen/Qwen3-8B.
 */
import { CONTENT } from '../parser/format.ts';
import { JsonEnvelopeReader } from '../parser/json-calls.ts';
import type { Family } from './family.ts';

const START = '<tool_call>';
const END = '</tool_call>';

const CALL = 'CALL';
const AFTER = 'AFTER';

export const family: Family = {
  tools: [
    {
      format: {
        name: 'hermes',
        terminals: {
          TOOL_START: { text: START, token: 'optional' },
          TOOL_END: { text: END, token: 'optional' },
          BRACE: { text: '}', token: 'never' },
        },
        openers: { TOOL_START: { to: CALL, hold: 'any' } },
        openersInReasoning: ['TOOL_START'],
        writing: {
          blockStart: '',
          blockEnd: '',
          separator: '\n',
          callStart: (name) => [`${START}\n{"name": ${JSON.stringify(name)}, "arguments": `],
          callEnd: `}\n${END}`,
          arguments: 'json',
          trigger: START,
        },
        states: {
          [CALL]: {
            text: 'call',
            on: { TOOL_START: { to: CALL, hold: 'any' }, TOOL_END: { to: CONTENT } },
            createReader: (context) =>
              new JsonEnvelopeReader(context, {
                nameKeys: ['name'],
                argumentKeys: ['arguments', 'parameters'],
              }),
            done: AFTER,
          },
          [AFTER]: {
            text: 'content',
            // A closing brace too many is a slip of the model, not text.
            on: {
              TOOL_START: { to: CALL, hold: 'any' },
              TOOL_END: { to: CONTENT, do: ['call-edge'] },
              BRACE: { to: AFTER, do: ['call-edge'] },
            },
            otherwise: CONTENT,
          },
        },
      },
      recognise: ({ chatTemplate }) =>
        chatTemplate.includes('<tool_call>') &&
        chatTemplate.includes('"name"') &&
        chatTemplate.includes('"arguments"') &&
        !chatTemplate.includes('<function=') &&
        !chatTemplate.includes('<arg_key>') &&
        // Other markup: where both stand, prose names the tag, or the template was made from another.
        !/<tool_calls>|<use_mcp_tool>/.test(chatTemplate),
    },
  ],
};
