/**
 * MiniMax M2: calls as XML parameters with names in attributes.
 *
 * ```
 * <minimax:tool_call>\n<invoke name="f">\n<parameter name="a">v</parameter>\n</invoke>\n</minimax:tool_call>
 * ^^^^^^^^^^^^^^^^^^^                                     CONTENT → BLOCK, held until a name is complete
 *                      ^^^^^^^^^^^^^^                     BLOCK → NAME
 *                                     ^^                  NAME → PARAMETERS: the call begins
 *                                         ^^^^^^^^^^^^^^^^^         PARAMETERS → KEY
 *                                                           ^^    KEY → VALUE
 * ```
 *
 * Values are taken as they stand, white space included. Rests on the chat template of MiniMaxAI/MiniMax-M2.
 */
import { CONTENT } from '../parser/format.ts';
import { parametersAs } from '../parser/parameters.ts';
import type { Family } from './family.ts';
import { thinkTags } from './shapes/think-tags.ts';

const BLOCK_START = '<minimax:tool_call>';
const BLOCK_END = '</minimax:tool_call>';
const INVOKE = '<invoke name="';
const INVOKE_END = '</invoke>';
const PARAMETER = '<parameter name="';
const PARAMETER_END = '</parameter>';

const BLOCK = 'BLOCK';
const NAME = 'NAME';
const PARAMETERS = 'PARAMETERS';
const KEY = 'KEY';
const VALUE = 'VALUE';
const BETWEEN = 'BETWEEN';

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
    {
      format: {
        name: 'minimax_m2',
        terminals: {
          BLOCK_START: { text: BLOCK_START, token: 'optional' },
          BLOCK_END: { text: BLOCK_END, token: 'optional' },
          INVOKE_START: { text: [INVOKE, "<invoke name='", '<invoke name='], token: 'never' },
          NAME_END: { text: ['">', "'>", '>'], token: 'never' },
          INVOKE_END: { text: INVOKE_END, token: 'never' },
          PARAMETER_START: {
            text: [PARAMETER, "<parameter name='", '<parameter name='],
            token: 'never',
          },
          PARAMETER_END: { text: PARAMETER_END, token: 'never' },
        },
        openers: {
          BLOCK_START: { to: BLOCK, hold: 'any' },
          INVOKE_START: { to: NAME, when: 'line-start', hold: 'declared' },
        },
        openersInReasoning: ['BLOCK_START'],
        writing: {
          blockStart: `${BLOCK_START}\n`,
          blockEnd: BLOCK_END,
          separator: '',
          callStart: (name) => [`${INVOKE}${name}">\n`],
          callEnd: `${INVOKE_END}\n`,
          arguments: {
            open: (key) => `${PARAMETER}${key}">`,
            close: `${PARAMETER_END}\n`,
            separator: '',
            avoid: () => [INVOKE_END, '<parameter name='],
          },
          trigger: BLOCK_START,
        },
        states: {
          [BLOCK]: {
            text: 'layout',
            on: {
              INVOKE_START: { to: NAME },
              BLOCK_START: { to: BLOCK, hold: 'any' },
              BLOCK_END: { to: CONTENT, do: ['release'] },
            },
          },
          [NAME]: { text: 'name', on: { NAME_END: { to: PARAMETERS, do: ['call-start'] } } },
          [PARAMETERS]: {
            text: 'discard',
            on: {
              PARAMETER_START: { to: KEY },
              INVOKE_END: { to: BETWEEN, do: ['call-end'] },
              BLOCK_END: { to: CONTENT, do: ['call-end'] },
              INVOKE_START: { to: NAME, hold: 'any', onCommit: ['call-end'] },
            },
          },
          [KEY]: { text: 'name', on: { NAME_END: { to: VALUE, do: ['key'] } } },
          [VALUE]: {
            text: 'value',
            on: {
              PARAMETER_END: { to: PARAMETERS, do: ['value-end'] },
              PARAMETER_START: { to: KEY, when: 'line-start', hold: 'declared', onCommit: ['value-end'] },
              INVOKE_START: { to: VALUE, do: ['nest', 'literal'] },
              INVOKE_END: [
                { to: VALUE, when: 'nested', do: ['unnest', 'literal'] },
                { to: BETWEEN, do: ['value-end', 'call-end'] },
              ],
            },
          },
          [BETWEEN]: {
            text: 'content',
            on: {
              INVOKE_START: { to: NAME, hold: 'any' },
              BLOCK_END: { to: CONTENT, do: ['call-edge'] },
              BLOCK_START: { to: BLOCK, hold: 'any' },
            },
            otherwise: CONTENT,
          },
        },
        createParameters: parametersAs({ trimsLineBreaks: false }),
      },
      recognise,
    },
  ],
};
