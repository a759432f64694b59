/**
 * DSML, the markup of DeepSeek V3.2, V4 and V4.1: parameters in tags, each marked as text or JSON.
 *
 * ```
 * <｜DSML｜tool_calls>\n<｜DSML｜invoke name="f">\n<｜DSML｜parameter name="a" string="true">v</｜DSML｜parameter>\n…
 * ^^^^^^^^^^^^^^^^^^                                            CONTENT → BLOCK, held until a name is complete
 *                      ^^^^^^^^^^^^^^^^^^^^^                     BLOCK → NAME
 *                                            ^^                NAME → PARAMETERS: the call begins
 *                                                ^^^^^^^^^^^^^^^^^^^^^^^^      PARAMETERS → KEY
 *                                                                      ^     KEY → VALUE
 * ```
 *
 * The versions differ in the block's name and in a space: V3.2 `function_calls`, V4 `tool_calls`, V4.1 ` calls`
 * with a space in every tag. A block body may be one JSON object instead of parameters, and one parameter
 * `arguments` or `input` may hold all of them. Rests on the encoding code and model cards of
 * deepseek-ai/DeepSeek-V3.2 and its successors.
 */
import { CONTENT, type ReasoningFormat, type ToolFormat } from '../parser/format.ts';
import { JsonArgumentsReader } from '../parser/json-calls.ts';
import { parametersAs } from '../parser/parameters.ts';
import type { Family, Registered } from './family.ts';

const BLOCK = 'BLOCK';
const NAME = 'NAME';
const PARAMETERS = 'PARAMETERS';
const KEY = 'KEY';
const VALUE = 'VALUE';
const OBJECT = 'OBJECT';
const BETWEEN = 'BETWEEN';

/** Keys of a parameter that may hold all arguments. */
const WRAPPERS = ['arguments', 'input'];

/** `markup` is what the vertical bars hold in every tag. */
export function dsml(name: string, block: string, space = '', markup = 'DSML'): ToolFormat {
  const tag = (text: string) => `<｜${markup}｜${space}${text}`;
  const closer = (text: string) => `</｜${markup}｜${space}${text}>`;
  return {
    name,
    terminals: {
      BLOCK_START: { text: `${tag(block)}>`, token: 'optional' },
      BLOCK_END: { text: closer(block), token: 'optional' },
      INVOKE_START: { text: tag('invoke name="'), token: 'never' },
      INVOKE_NAME_END: { text: '">', token: 'never' },
      INVOKE_END: { text: closer('invoke'), token: 'never' },
      PARAMETER_START: { text: tag('parameter name="'), token: 'never' },
      PARAMETER_END: { text: closer('parameter'), token: 'never' },
      ANGLE: { text: '>', token: 'never' },
      BRACE: { text: '{', token: 'never' },
    },
    openers: {
      BLOCK_START: { to: BLOCK, hold: 'any' },
      INVOKE_START: { to: NAME, when: 'line-start', hold: 'declared' },
    },
    openersInReasoning: ['BLOCK_START'],
    writing: {
      lead: '\n\n',
      blockStart: `${tag(block)}>\n`,
      blockEnd: closer(block),
      separator: '',
      callStart: (called) => [`${tag('invoke name="')}${called}">\n`],
      callEnd: `${closer('invoke')}\n`,
      arguments: {
        open: (key, kind) => `${tag('parameter name="')}${key}" string="${kind === 'text'}">`,
        close: `${closer('parameter')}\n`,
        separator: '',
        keyEnds: ['"', '>'],
        avoid: () => [closer('invoke')],
        avoidAtLineStart: [tag('parameter name="')],
        wrapperKeys: WRAPPERS,
      },
      trigger: `${tag(block)}>`,
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
      [NAME]: { text: 'name', on: { INVOKE_NAME_END: { to: PARAMETERS, do: ['call-start'] } } },
      [PARAMETERS]: {
        text: 'discard',
        on: {
          PARAMETER_START: { to: KEY },
          BRACE: { to: OBJECT, when: 'no-parameter', do: ['literal'] },
          INVOKE_END: { to: BETWEEN, do: ['call-end'] },
          BLOCK_END: { to: CONTENT, do: ['call-end'] },
          INVOKE_START: { to: NAME, hold: 'any', onCommit: ['call-end'] },
        },
      },
      [OBJECT]: {
        text: 'call',
        createReader: (context) => new JsonArgumentsReader(context),
        on: { INVOKE_END: { to: BETWEEN }, BLOCK_END: { to: CONTENT } },
        done: BETWEEN,
      },
      [KEY]: { text: 'name', on: { ANGLE: { to: VALUE, do: ['key'] } } },
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
          INVOKE_END: { to: BETWEEN, do: ['call-edge'] },
          BLOCK_END: { to: CONTENT, do: ['call-edge'] },
          BLOCK_START: { to: BLOCK, hold: 'any' },
        },
        otherwise: CONTENT,
      },
    },
    createParameters: parametersAs({
      trimsLineBreaks: false,
      readHeader: (text) => {
        const quote = text.indexOf('"');
        const key = (quote < 0 ? text : text.slice(0, quote)).trim();
        return { key, kind: /string\s*=\s*"true"/.test(text) ? 'text' : 'json' };
      },
      wrapperKeys: WRAPPERS,
    }),
  };
}

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
  literalWhenOff: false,
});

const registered = (name: string, block: string, space: string): Registered<ToolFormat> => {
  // Some templates have the marker in a variable: it stands beside the name only when it is rendered.
  const opener = new RegExp(`(?:｜DSML｜|[}'"])${space}${block}>`);
  return {
    format: dsml(name, block, space),
    recognise: ({ chatTemplate }) => chatTemplate.includes('｜DSML｜') && opener.test(chatTemplate),
  };
};

const v4 = registered('deepseek_v4', 'tool_calls', '');
const v41 = registered('deepseek_v41', 'calls', ' ');

/** Reasoning whose tags and turns are the same. */
const OLDER = ['deepseek_r1', 'deepseek_v3'];

export const family: Family = {
  reasoning: [
    { format: reasoning('deepseek_v4'), recognise: v4.recognise, over: OLDER },
    { format: reasoning('deepseek_v41'), recognise: v41.recognise, over: OLDER },
  ],
  tools: [registered('deepseek_v32', 'function_calls', ''), v4, v41],
};
