/**
 * MiniMax M3: `<mm:think>` blocks, and calls as XML elements whose tags each stand behind a marker.
 *
 * ```
 * ]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="f">]<]minimax[>[<a>1]<]minimax[>[</a>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>
 * ^^^^^^^^^^^^^^^^^^^^^^^^                                CONTENT → BLOCK, held until a name is complete
 *                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^   BLOCK → NAME
 *                                                      ^^ NAME → PARAMETERS: the call begins
 *                                                        ^^^^^^^^^^^^^  PARAMETERS → KEY
 *                                                                      ^^^^^^^^^^^^^^^^^ VALUE → CLOSER
 * ```
 *
 * Elements inside a value make it an object or, where the schema has a list, a list, whose items are named `item`.
 * A name that comes again, also behind others, makes a list of its values, and so does one where the schema has a list.
 * The grammar writes elements; JSON for what they do not say for certain: objects with keys of the model's choice, which
 * may come twice and are a list then. Lists and objects in whose place a text may stand it writes in either way, without
 * content as JSON. Without `thinking_mode: "enabled"` the model opens the block itself. Rests on the chat template of
 * MiniMaxAI/MiniMax-M3 as vLLM's parser documents it.
 */

import { elementsJson, mayBeginList } from '../parser/elements.ts';
import { CONTENT } from '../parser/format.ts';
import { parametersAs } from '../parser/parameters.ts';
import type { Family, TemplateFacts } from './family.ts';
import { thinkTags } from './shapes/think-tags.ts';

const MARK = ']<]minimax[>[';
const BLOCK_START = `${MARK}<tool_call>`;
const BLOCK_END = `${MARK}</tool_call>`;
const INVOKE = `${MARK}<invoke name="`;
const INVOKES = [INVOKE, `${MARK}<invoke name='`, `${MARK}<invoke name=`];
const INVOKE_END = `${MARK}</invoke>`;
const OPEN = `${MARK}<`;
const CLOSE = `${MARK}</`;
const ITEM = 'item';
const TAGS = { open: OPEN, close: CLOSE, item: ITEM };

const BLOCK = 'BLOCK';
const NAME = 'NAME';
const PARAMETERS = 'PARAMETERS';
const KEY = 'KEY';
const VALUE = 'VALUE';
const CLOSER = 'CLOSER';
const AFTER = 'AFTER';

const recognise = ({ chatTemplate }: TemplateFacts) => chatTemplate.includes(MARK);

export const family: Family = {
  reasoning: [
    {
      format: thinkTags({
        name: 'minimax_m3',
        start: '<mm:think>',
        end: '</mm:think>',
        // Whole in the vocabulary, but the model may write them in pieces.
        token: 'never',
        thinkingByDefault: false,
        literalWhenOff: false,
        readSwitch: ({ thinking_mode: mode }) => mode === 'enabled',
        contentMarkers: { THINK_END: { to: CONTENT, when: 'start' } },
      }),
      recognise,
    },
  ],
  tools: [
    {
      format: {
        name: 'minimax_m3',
        terminals: {
          BLOCK_START: { text: BLOCK_START, token: 'never' },
          BLOCK_END: { text: BLOCK_END, token: 'never' },
          INVOKE_START: {
            text: INVOKES,
            token: 'never',
          },
          NAME_END: { text: ['">', "'>", '>'], token: 'never' },
          INVOKE_END: { text: INVOKE_END, token: 'never' },
          ELEMENT_START: { text: OPEN, token: 'never' },
          ELEMENT_END: { text: CLOSE, token: 'never' },
          ANGLE: { text: '>', token: 'never' },
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
          callStart: (called) => [`${INVOKE}${called}">`],
          callEnd: `${INVOKE_END}\n`,
          arguments: {
            open: (key) => `${OPEN}${key}>`,
            close: CLOSE,
            separator: '',
            keyEnds: ['>'],
            avoid: () => [OPEN, ...INVOKES, INVOKE_END, BLOCK_START, BLOCK_END],
            elements: { item: ITEM, closeEnd: '>' },
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
              ELEMENT_START: { to: KEY },
              INVOKE_END: { to: AFTER, do: ['call-end'] },
              BLOCK_END: { to: CONTENT, do: ['call-end'] },
              INVOKE_START: { to: NAME, hold: 'any', onCommit: ['call-end'] },
            },
          },
          [AFTER]: {
            text: 'content',
            on: {
              INVOKE_START: { to: NAME, hold: 'any' },
              BLOCK_START: { to: BLOCK, hold: 'any' },
              BLOCK_END: { to: CONTENT, do: ['call-edge'] },
            },
            otherwise: CONTENT,
          },
          [KEY]: { text: 'name', on: { ANGLE: { to: VALUE, do: ['key'] } } },
          [VALUE]: {
            text: 'value',
            on: {
              ELEMENT_START: { to: VALUE, do: ['nest', 'literal'] },
              ELEMENT_END: [
                { to: VALUE, when: 'nested', do: ['unnest', 'literal'] },
                { to: CLOSER, do: ['value-end'] },
              ],
              INVOKE_END: { to: AFTER, do: ['value-end', 'call-end'] },
              BLOCK_END: { to: CONTENT, do: ['value-end', 'call-end'] },
            },
          },
          [CLOSER]: { text: 'discard', on: { ANGLE: { to: PARAMETERS } } },
        },
        createParameters: parametersAs({
          trimsLineBreaks: false,
          repeats: {
            read: (texts, schema, view) => elementsJson(texts, TAGS, schema, view),
            mayComeLater: (text, schema, view) => mayBeginList(text, TAGS, schema, view),
          },
        }),
      },
      recognise,
    },
  ],
};
