/**
 * Calls as XML parameters inside a wrapper.
 *
 * ```
 * <tool_call>\n<function=edit>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>
 * ^^^^^^^^^^^                                                    CONTENT → WRAPPER, held until the name is known
 *              ^^^^^^^^^^                                        WRAPPER → NAME
 *                            ^                                   NAME → PARAMETERS: the call begins
 *                               ^^^^^^^^^^^                      PARAMETERS → KEY
 *                                              ^                 KEY → VALUE
 *                                                       ^^^^^^^^^^^^  VALUE → PARAMETERS
 *                                                                     ^^^^^^^^^^^  PARAMETERS → BETWEEN
 *                                                                                  ^^^^^^^^^^^^  BETWEEN → CONTENT
 * ```
 *
 * A value ends at its own closer; an opener of a declared parameter at the start of a line ends it too, and a
 * function's closer that has no opener inside the value. Without the wrapper a declared function's opener at the
 * start of a line counts. All arguments may stand in the function as one JSON object, a slip of the model.
 */
import { CONTENT, type ToolFormat } from '../../parser/format.ts';
import { JsonArgumentsReader } from '../../parser/json-calls.ts';
import { parametersAs } from '../../parser/parameters.ts';

const FUNCTION = '<function=';
const FUNCTION_END = '</function>';
const PARAMETER = '<parameter=';
const PARAMETER_END = '</parameter>';

const WRAPPER = 'WRAPPER';
const NAME = 'NAME';
const PARAMETERS = 'PARAMETERS';
const KEY = 'KEY';
const VALUE = 'VALUE';
const OBJECT = 'OBJECT';
const AFTER_OBJECT = 'AFTER_OBJECT';
const BETWEEN = 'BETWEEN';

export const xmlParameters = (name: string, start: string, end: string): ToolFormat => ({
  name,
  terminals: {
    TOOL_START: { text: start, token: 'required' },
    TOOL_END: { text: end, token: 'required' },
    FUNCTION_START: { text: FUNCTION, token: 'never' },
    FUNCTION_END: { text: FUNCTION_END, token: 'never' },
    PARAMETER_START: { text: PARAMETER, token: 'never' },
    PARAMETER_END: { text: PARAMETER_END, token: 'never' },
    ANGLE: { text: '>', token: 'never' },
    BRACE: { text: '{', token: 'never' },
  },
  openers: {
    TOOL_START: { to: WRAPPER, hold: 'any' },
    FUNCTION_START: { to: NAME, when: 'line-start', hold: 'declared' },
  },
  openersInReasoning: ['TOOL_START'],
  writing: {
    blockStart: '',
    blockEnd: '',
    separator: '\n',
    callStart: (called) => [`${start}\n${FUNCTION}${called}>\n`],
    callEnd: `${FUNCTION_END}\n${end}`,
    arguments: {
      open: (key) => `${PARAMETER}${key}>\n`,
      close: `\n${PARAMETER_END}\n`,
      separator: '',
      keyEnds: ['>'],
      avoid: () => [FUNCTION_END],
      avoidAtLineStart: [PARAMETER],
    },
    trigger: start,
  },
  states: {
    [WRAPPER]: {
      text: 'layout',
      on: { TOOL_START: { to: WRAPPER, hold: 'any' }, FUNCTION_START: { to: NAME } },
    },
    [NAME]: {
      text: 'name',
      on: {
        ANGLE: { to: PARAMETERS, do: ['call-start'] },
        FUNCTION_END: { to: BETWEEN, do: ['call-start', 'call-end'] },
        FUNCTION_START: { to: NAME, do: ['call-start', 'call-end'] },
        TOOL_START: { to: WRAPPER, do: ['call-start', 'call-end'] },
        TOOL_END: { to: CONTENT, do: ['call-start', 'call-end'] },
      },
    },
    [PARAMETERS]: {
      text: 'discard',
      on: {
        PARAMETER_START: { to: KEY },
        BRACE: { to: OBJECT, when: 'no-parameter', do: ['literal'] },
        FUNCTION_END: { to: BETWEEN, do: ['call-end'] },
        FUNCTION_START: { to: NAME, hold: 'any', onCommit: ['call-end'] },
        TOOL_START: { to: WRAPPER, hold: 'any', onCommit: ['call-end'] },
        TOOL_END: { to: CONTENT, do: ['call-end'] },
      },
    },
    [OBJECT]: {
      text: 'call',
      createReader: (context) => new JsonArgumentsReader(context),
      on: { FUNCTION_END: { to: BETWEEN }, TOOL_END: { to: CONTENT } },
      done: AFTER_OBJECT,
    },
    [AFTER_OBJECT]: {
      text: 'content',
      on: {
        FUNCTION_END: { to: BETWEEN, do: ['call-edge'] },
        FUNCTION_START: { to: NAME, hold: 'any' },
        TOOL_START: { to: WRAPPER, hold: 'any' },
        TOOL_END: { to: CONTENT, do: ['call-edge'] },
      },
      otherwise: CONTENT,
    },
    [KEY]: { text: 'name', on: { ANGLE: { to: VALUE, do: ['key'] } } },
    [VALUE]: {
      text: 'value',
      on: {
        PARAMETER_END: { to: PARAMETERS, do: ['value-end'] },
        PARAMETER_START: { to: KEY, when: 'line-start', hold: 'declared', onCommit: ['value-end'] },
        FUNCTION_START: { to: VALUE, do: ['nest', 'literal'] },
        FUNCTION_END: [
          { to: VALUE, when: 'nested', do: ['unnest', 'literal'] },
          { to: BETWEEN, do: ['value-end', 'call-end'] },
        ],
      },
    },
    [BETWEEN]: {
      text: 'content',
      on: {
        FUNCTION_START: { to: NAME, hold: 'any' },
        TOOL_START: { to: WRAPPER, hold: 'any' },
        TOOL_END: { to: CONTENT, do: ['call-edge'] },
      },
      otherwise: CONTENT,
    },
  },
  createParameters: parametersAs({ trimsLineBreaks: true }),
});
