/**
 * Step3: `<think>` blocks that the prompt opens, calls as XML parameters between special tokens.
 *
 * ```
 * <｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="f">\n<steptml:parameter name="a">1</steptml:parameter>\n</steptml:invoke><｜tool_call_end｜>\n<｜tool_calls_end｜>
 * ^^^^^^^^^^^^^^^^^^^^                                                      CONTENT → BLOCK, held until a name is complete
 *                                                             ^^^^^^^^^^^^^^^^^^^^^^  BLOCK → NAME
 * ```
 *
 * Rests on the chat template of stepfun-ai/step3.
 */
import { CONTENT } from '../parser/format.ts';
import { parametersAs } from '../parser/parameters.ts';
import type { Family, TemplateFacts } from './family.ts';
import { thinkTags } from './shapes/think-tags.ts';

const BLOCK_START = '<｜tool_calls_begin｜>';
const BLOCK_END = '<｜tool_calls_end｜>';
const CALL_START = '<｜tool_call_begin｜>';
const CALL_END = '<｜tool_call_end｜>';
const SEPARATOR = '<｜tool_sep｜>';
const INVOKE = '<steptml:invoke name="';
const INVOKE_END = '</steptml:invoke>';
const PARAMETER = '<steptml:parameter name="';
const PARAMETER_END = '</steptml:parameter>';
const NAME_END = '">';

const BLOCK = 'BLOCK';
const NAME = 'NAME';
const PARAMETERS = 'PARAMETERS';
const KEY = 'KEY';
const VALUE = 'VALUE';
const AFTER = 'AFTER';

const recognise = ({ chatTemplate }: TemplateFacts) => chatTemplate.includes(BLOCK_START);

export const family: Family = {
  reasoning: [
    { format: thinkTags({ name: 'step3', callEndsReasoning: false, literalWhenOff: false }), recognise },
  ],
  tools: [
    {
      format: {
        name: 'step3',
        terminals: {
          BLOCK_START: { text: BLOCK_START, token: 'required' },
          BLOCK_END: { text: BLOCK_END, token: 'required' },
          CALL_START: { text: CALL_START, token: 'required' },
          CALL_END: { text: CALL_END, token: 'required' },
          SEPARATOR: { text: SEPARATOR, token: 'required' },
          INVOKE_START: { text: INVOKE, token: 'never' },
          INVOKE_END: { text: INVOKE_END, token: 'never' },
          PARAMETER_START: { text: PARAMETER, token: 'never' },
          PARAMETER_END: { text: PARAMETER_END, token: 'never' },
          NAME_END: { text: NAME_END, token: 'never' },
        },
        openers: {
          BLOCK_START: { to: BLOCK, hold: 'any' },
          CALL_START: { to: BLOCK, when: 'line-start', hold: 'declared' },
          INVOKE_START: { to: NAME, when: 'line-start', hold: 'declared' },
        },
        openersInReasoning: ['BLOCK_START'],
        writing: {
          blockStart: `${BLOCK_START}\n`,
          blockEnd: `\n${BLOCK_END}`,
          separator: '\n',
          callStart: (name) => [`${CALL_START}function${SEPARATOR}${INVOKE}${name}">\n`],
          callEnd: `${INVOKE_END}${CALL_END}`,
          arguments: {
            open: (key) => `${PARAMETER}${key}${NAME_END}`,
            close: `${PARAMETER_END}\n`,
            separator: '',
            keyEnds: [NAME_END],
            avoid: () => [INVOKE_END, CALL_END],
            avoidAtLineStart: [PARAMETER],
          },
          trigger: BLOCK_START,
        },
        states: {
          [BLOCK]: {
            text: 'discard',
            on: {
              INVOKE_START: { to: NAME },
              BLOCK_START: { to: BLOCK, hold: 'any' },
              CALL_START: { to: BLOCK },
              SEPARATOR: { to: BLOCK },
              BLOCK_END: { to: CONTENT, do: ['release'] },
            },
          },
          [NAME]: { text: 'name', on: { NAME_END: { to: PARAMETERS, do: ['call-start'] } } },
          [PARAMETERS]: {
            text: 'discard',
            on: {
              PARAMETER_START: { to: KEY },
              INVOKE_END: { to: AFTER, do: ['call-end'] },
              CALL_END: { to: AFTER, do: ['call-end'] },
              BLOCK_END: { to: CONTENT, do: ['call-end'] },
              INVOKE_START: { to: NAME, hold: 'any', onCommit: ['call-end'] },
            },
          },
          [AFTER]: {
            text: 'content',
            on: {
              CALL_END: { to: AFTER, do: ['call-edge'] },
              CALL_START: { to: BLOCK, hold: 'any' },
              INVOKE_START: { to: NAME, hold: 'any' },
              BLOCK_START: { to: BLOCK, hold: 'any' },
              BLOCK_END: { to: CONTENT, do: ['call-edge'] },
            },
            otherwise: CONTENT,
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
                { to: AFTER, do: ['value-end', 'call-end'] },
              ],
              CALL_END: { to: AFTER, do: ['value-end', 'call-end'] },
            },
          },
        },
        createParameters: parametersAs({ trimsLineBreaks: false }),
      },
      recognise,
    },
  ],
};
