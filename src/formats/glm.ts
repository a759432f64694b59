/**
 * GLM 4.5, 4.6 and 4.7: calls as pairs of keys and values.
 *
 * ```
 * <tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>
 * ^^^^^^^^^^^                                              CONTENT → NAME, held until the name is complete
 *              ^^^^^^^^^                                   NAME → KEY: the call begins
 *                       ^^^^^^^^^^                        KEY → KEYED
 *                                   ^^^^^^^^^^^            KEYED → VALUE
 *                                               ^^^^^^^^^^^^  VALUE → PAIRS
 * ```
 *
 * GLM 4.7 writes no line breaks; both names read both. Rests on the chat templates of zai-org/GLM-4.5 and
 * zai-org/GLM-4.7.
 */
import { CONTENT, type ReasoningFormat, type ToolFormat } from '../parser/format.ts';
import type { Family } from './family.ts';

const START = '<tool_call>';
const END = '</tool_call>';
const KEY_START = '<arg_key>';
const KEY_END = '</arg_key>';
const VALUE_START = '<arg_value>';
const VALUE_END = '</arg_value>';

const NAME = 'NAME';
const PAIRS = 'PAIRS';
const KEY = 'KEY';
const KEYED = 'KEYED';
const VALUE = 'VALUE';

const reasoning = (name: string): ReasoningFormat => ({
  name,
  terminals: {
    THINK_START: { text: '<think>', token: 'required' },
    THINK_END: { text: '</think>', token: 'required' },
  },
  start: 'THINK_START',
  end: 'THINK_END',
  thinkingByDefault: true,
  implicitStart: true,
  callEndsReasoning: true,
  literalWhenOff: true,
});

/** `line`: what stands between the parts of a call. */
const tools = (name: string, line: string): ToolFormat => ({
  name,
  terminals: {
    TOOL_START: { text: START, token: 'required' },
    TOOL_END: { text: END, token: 'required' },
    KEY_START: { text: KEY_START, token: 'optional' },
    KEY_END: { text: KEY_END, token: 'optional' },
    VALUE_START: { text: VALUE_START, token: 'optional' },
    VALUE_END: { text: VALUE_END, token: 'optional' },
  },
  openers: { TOOL_START: { to: NAME, hold: 'any' } },
  openersInReasoning: ['TOOL_START'],
  writing: {
    blockStart: '',
    blockEnd: '',
    separator: line,
    callStart: (called) => [`${START}${called}${line}`],
    callEnd: END,
    arguments: {
      open: (key) => `${KEY_START}${key}${KEY_END}${line}${VALUE_START}`,
      close: `${VALUE_END}${line}`,
      separator: '',
    },
    trigger: START,
  },
  states: {
    [NAME]: {
      text: 'name',
      on: {
        KEY_START: { to: KEY, do: ['call-start'] },
        TOOL_END: { to: CONTENT, do: ['call-start', 'call-end'] },
        TOOL_START: { to: NAME, hold: 'any' },
      },
    },
    [PAIRS]: {
      text: 'discard',
      on: {
        KEY_START: { to: KEY },
        TOOL_END: { to: CONTENT, do: ['call-end'] },
        TOOL_START: { to: NAME, hold: 'any', onCommit: ['call-end'] },
      },
    },
    [KEY]: {
      text: 'name',
      on: { KEY_END: { to: KEYED, do: ['key'] }, VALUE_START: { to: VALUE, do: ['key'] } },
    },
    [KEYED]: { text: 'discard', on: { VALUE_START: { to: VALUE } } },
    [VALUE]: {
      text: 'value',
      on: {
        VALUE_END: { to: PAIRS, do: ['value-end'] },
        KEY_START: { to: KEY, when: 'line-start', hold: 'declared', onCommit: ['value-end'] },
        TOOL_START: { to: VALUE, do: ['nest', 'literal'] },
        TOOL_END: [
          { to: VALUE, when: 'nested', do: ['unnest', 'literal'] },
          { to: CONTENT, do: ['value-end', 'call-end'] },
        ],
      },
    },
  },
  parameters: { trimsLineBreaks: false },
});

const isGlm = (chatTemplate: string) =>
  chatTemplate.includes('<arg_key>') && chatTemplate.includes('<tool_call>');
/** The 4.7 template joins the tags without line breaks. */
const isInline = (chatTemplate: string) => /<\/arg_key><arg_value>/.test(chatTemplate);

export const family: Family = {
  reasoning: [
    {
      format: reasoning('glm45'),
      recognise: ({ chatTemplate }) => isGlm(chatTemplate) && !isInline(chatTemplate),
    },
    {
      format: reasoning('glm47'),
      recognise: ({ chatTemplate }) => isGlm(chatTemplate) && isInline(chatTemplate),
    },
  ],
  tools: [
    {
      format: tools('glm45', '\n'),
      recognise: ({ chatTemplate }) => isGlm(chatTemplate) && !isInline(chatTemplate),
    },
    {
      format: tools('glm47', ''),
      recognise: ({ chatTemplate }) => isGlm(chatTemplate) && isInline(chatTemplate),
    },
  ],
};
