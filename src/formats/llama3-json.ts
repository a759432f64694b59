/**
 * Llama 3.x: calls as bare JSON objects.
 *
 * ```
 * <|python_tag|>{"name": "f", "parameters": {"a": 1}}; {"name": "g", "parameters": {}}
 * ^^^^^^^^^^^^^^                                       CONTENT → TAGGED, held
 *               ^                                      TAGGED → CALL; from CONTENT at the start of a line, held
 *                                                    ^  CALL → AFTER
 * ```
 *
 * An object is a call only with a name and arguments; at the start of a later line only with a declared name.
 * Rests on the chat template of meta-llama/Llama-3.1-8B-Instruct.
 */
import { CONTENT } from '../parser/format.ts';
import { JsonEnvelopeReader } from '../parser/json-calls.ts';
import type { Family } from './family.ts';

const TAGGED = 'TAGGED';
const CALL = 'CALL';
const AFTER = 'AFTER';

export const family: Family = {
  tools: [
    {
      format: {
        name: 'llama3_json',
        terminals: {
          PYTHON_TAG: { text: '<|python_tag|>', token: 'optional' },
          BRACE: { text: '{', token: 'never' },
          SEMICOLON: { text: ';', token: 'never' },
        },
        openers: {
          PYTHON_TAG: { to: TAGGED, hold: 'any' },
          BRACE: [
            { to: CALL, when: 'start', hold: 'any', do: ['literal'] },
            { to: CALL, when: 'line-start', hold: 'declared', do: ['literal'] },
          ],
        },
        openersInReasoning: ['PYTHON_TAG'],
        writing: {
          blockStart: '',
          blockEnd: '',
          separator: '; ',
          callStart: (name) => [`{"name": ${JSON.stringify(name)}, "parameters": `],
          callEnd: '}',
          arguments: 'json',
          trigger: '{"name": "',
        },
        states: {
          [TAGGED]: {
            text: 'layout',
            on: { BRACE: { to: CALL, do: ['literal'] }, PYTHON_TAG: { to: TAGGED, hold: 'any' } },
          },
          [CALL]: {
            text: 'call',
            createReader: (context) =>
              new JsonEnvelopeReader(context, {
                nameKeys: ['name'],
                argumentKeys: ['parameters', 'arguments'],
                needsArguments: true,
              }),
            on: { PYTHON_TAG: { to: TAGGED, hold: 'any' } },
            done: AFTER,
          },
          [AFTER]: {
            text: 'layout',
            on: {
              SEMICOLON: { to: AFTER },
              BRACE: { to: CALL, hold: 'any', do: ['literal'] },
              PYTHON_TAG: { to: TAGGED, hold: 'any' },
            },
            otherwise: CONTENT,
          },
        },
      },
      recognise: ({ chatTemplate }) =>
        chatTemplate.includes('<|start_header_id|>') && /"name": .*"parameters": /s.test(chatTemplate),
    },
  ],
};
