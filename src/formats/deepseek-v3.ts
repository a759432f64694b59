/**
 * DeepSeek V3, R1-0528 and V3.1: calls as JSON behind headers of special tokens.
 *
 * ```
 * V3    <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>ping\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>
 * V3.1  <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>ping<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>
 *       ^^^^^^^^^^^^^^^^^^^^^                                              CONTENT → SECTION, held
 *                            ^^^^^^^^^^^^^^^^^^^^                          SECTION → NAME
 *                                                    ^^^^^^^^^^^^          NAME → ARGUMENTS: the call begins
 * ```
 *
 * V3.1 and V3.2 think when `thinking` is set; otherwise the prompt closes the block and markers are text.
 * Rests on the chat templates of deepseek-ai/DeepSeek-V3-0324, DeepSeek-R1-0528 and DeepSeek-V3.1.
 */
import { CONTENT, type States, type Terminals } from '../parser/format.ts';
import { JsonArgumentsReader } from '../parser/json-calls.ts';
import type { Family } from './family.ts';

const SECTION_START = '<｜tool▁calls▁begin｜>';
const SECTION_END = '<｜tool▁calls▁end｜>';
const CALL_START = '<｜tool▁call▁begin｜>';
const CALL_END = '<｜tool▁call▁end｜>';
const SEPARATOR = '<｜tool▁sep｜>';

const SECTION = 'SECTION';
const TYPE = 'TYPE';
const NAME = 'NAME';
const ARGUMENTS = 'ARGUMENTS';
const FENCE = 'FENCE';
const BETWEEN = 'BETWEEN';

const terminals: Terminals = {
  SECTION_START: { text: SECTION_START, token: 'required' },
  SECTION_END: { text: SECTION_END, token: 'required' },
  CALL_START: { text: CALL_START, token: 'required' },
  CALL_END: { text: CALL_END, token: 'required' },
  SEPARATOR: { text: SEPARATOR, token: 'required' },
};

const openers = (header: string): States[string]['on'] => ({
  SECTION_START: { to: SECTION, hold: 'any' },
  CALL_START: { to: header, when: 'line-start', hold: 'declared' },
});

/** Before the first call of a section, and between its calls. */
const section = (header: string): States => ({
  [SECTION]: {
    text: 'discard',
    on: {
      CALL_START: { to: header },
      SECTION_END: { to: CONTENT, do: ['release'] },
      SECTION_START: { to: SECTION, hold: 'any' },
    },
  },
  [BETWEEN]: {
    text: 'content',
    on: {
      CALL_START: { to: header, hold: 'any' },
      CALL_END: { to: BETWEEN, do: ['call-edge'] },
      SECTION_END: { to: CONTENT, do: ['call-edge'] },
      SECTION_START: { to: SECTION, hold: 'any' },
    },
    otherwise: CONTENT,
  },
});

const ends = {
  CALL_END: { to: BETWEEN },
  SECTION_END: { to: CONTENT },
  CALL_START: { to: NAME, hold: 'any' },
} as const;

export const family: Family = {
  reasoning: [
    {
      format: {
        name: 'deepseek_v3',
        terminals: {
          THINK_START: { text: '<think>', token: 'required' },
          THINK_END: { text: '</think>', token: 'required' },
        },
        start: 'THINK_START',
        end: 'THINK_END',
        thinkingByDefault: false,
        implicitStart: true,
        callEndsReasoning: false,
        literalWhenOff: true,
      },
      recognise: ({ chatTemplate }) =>
        chatTemplate.includes('<｜Assistant｜>') &&
        chatTemplate.includes('</think>') &&
        /\bthinking\b/.test(chatTemplate),
    },
  ],
  tools: [
    {
      format: {
        name: 'deepseek_v31',
        terminals,
        openers: openers(NAME),
        openersInReasoning: ['SECTION_START'],
        writing: {
          blockStart: SECTION_START,
          blockEnd: SECTION_END,
          separator: '',
          callStart: (name) => [`${CALL_START}${name}${SEPARATOR}`],
          callEnd: CALL_END,
          arguments: 'json',
          trigger: SECTION_START,
        },
        states: {
          ...section(NAME),
          [NAME]: {
            text: 'name',
            on: {
              SEPARATOR: { to: ARGUMENTS, do: ['call-start'] },
              SECTION_END: { to: CONTENT, do: ['release'] },
            },
          },
          [ARGUMENTS]: {
            text: 'call',
            createReader: (context) => new JsonArgumentsReader(context),
            on: ends,
            done: BETWEEN,
          },
        },
      },
      recognise: ({ chatTemplate }) =>
        chatTemplate.includes('<｜tool▁calls▁begin｜>') && !chatTemplate.includes('```json'),
    },
    {
      format: {
        name: 'deepseek_v3',
        terminals: {
          ...terminals,
          LINE: { text: '\n', token: 'never' },
          BRACE: { text: '{', token: 'never' },
          FENCE: { text: '```', token: 'never' },
        },
        openers: openers(TYPE),
        openersInReasoning: ['SECTION_START'],
        writing: {
          blockStart: SECTION_START,
          blockEnd: SECTION_END,
          separator: '\n',
          callStart: (name) => [`${CALL_START}function${SEPARATOR}${name}\n\`\`\`json\n`],
          callEnd: `\n\`\`\`${CALL_END}`,
          arguments: 'json',
          trigger: SECTION_START,
        },
        states: {
          ...section(TYPE),
          [TYPE]: { text: 'discard', on: { SEPARATOR: { to: NAME } } },
          [NAME]: { text: 'name', on: { LINE: { to: FENCE, do: ['call-start'] } } },
          // The arguments stand in a fenced block, sometimes without the fence.
          [FENCE]: {
            text: 'discard',
            on: {
              BRACE: { to: ARGUMENTS, do: ['literal'] },
              CALL_END: { to: BETWEEN, do: ['call-end'] },
              SECTION_END: { to: CONTENT, do: ['call-end'] },
            },
          },
          [ARGUMENTS]: {
            text: 'call',
            createReader: (context) => new JsonArgumentsReader(context),
            on: { ...ends, CALL_START: { to: TYPE, hold: 'any' }, FENCE: { to: BETWEEN } },
            done: BETWEEN,
          },
          [BETWEEN]: {
            ...section(TYPE)[BETWEEN]!,
            on: { ...section(TYPE)[BETWEEN]!.on, FENCE: { to: BETWEEN, do: ['call-edge'] } },
          },
        },
      },
      recognise: ({ chatTemplate }) =>
        chatTemplate.includes('<｜tool▁calls▁begin｜>') && chatTemplate.includes('```json'),
    },
  ],
};
