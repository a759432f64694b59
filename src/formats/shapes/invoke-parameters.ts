/**
 * Calls as XML elements in a block, with names in attributes.
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
 * A value ends at its own closer; an opener of a declared parameter at the start of a line ends it too, and the
 * function's closer that has no opener inside the value. All arguments may stand in the function as one JSON object, a
 * slip of the model.
 */
import { CONTENT, type State, type ToolFormat } from '../../parser/format.ts';
import { JsonArgumentsReader, JsonEnvelopesReader } from '../../parser/json-calls.ts';
import { parametersAs } from '../../parser/parameters.ts';
import { NAME_AND_ARGUMENTS } from './tagged-json.ts';

const INVOKE = '<invoke name="';
const INVOKE_END = '</invoke>';
const PARAMETER = '<parameter name="';
const PARAMETER_END = '</parameter>';
const NAME_ENDS = ['">', "'>", '>'];

const BLOCK = 'BLOCK';
const NAME = 'NAME';
const PARAMETERS = 'PARAMETERS';
const KEY = 'KEY';
const VALUE = 'VALUE';
const BETWEEN = 'BETWEEN';
const OBJECT = 'OBJECT';
const AFTER_OBJECT = 'AFTER_OBJECT';
const CALLS = 'CALLS';

export interface InvokeParameters {
  name: string;
  /** Name of the block's tags. */
  block: string;
  /** Line breaks at the borders of a value are markup. */
  trimsLineBreaks?: true;
  /** White space before a block that opens the answer. */
  lead?: string;
  /** The block may hold calls as JSON instead. */
  orJson?: true;
}

export function invokeParameters({
  name,
  block,
  trimsLineBreaks,
  lead,
  orJson,
}: InvokeParameters): ToolFormat {
  const start = `<${block}>`;
  const end = `</${block}>`;
  return {
    name,
    terminals: {
      BLOCK_START: { text: start, token: 'optional' },
      BLOCK_END: { text: end, token: 'optional' },
      INVOKE_START: { text: [INVOKE, "<invoke name='", '<invoke name='], token: 'never' },
      NAME_END: { text: NAME_ENDS, token: 'never' },
      INVOKE_END: { text: INVOKE_END, token: 'never' },
      PARAMETER_START: {
        text: [PARAMETER, "<parameter name='", '<parameter name='],
        token: 'never',
      },
      PARAMETER_END: { text: PARAMETER_END, token: 'never' },
      BRACE: { text: '{', token: 'never' },
    },
    openers: {
      BLOCK_START: { to: BLOCK, hold: 'any' },
      INVOKE_START: { to: NAME, when: 'line-start', hold: 'declared' },
    },
    openersInReasoning: ['BLOCK_START'],
    writing: {
      ...(lead !== undefined && { lead }),
      blockStart: `${start}\n`,
      blockEnd: end,
      separator: '',
      callStart: (called) => [`${INVOKE}${called}">\n`],
      callEnd: `${INVOKE_END}\n`,
      arguments: {
        open: (key) => `${PARAMETER}${key}">`,
        close: `${PARAMETER_END}\n`,
        separator: '',
        keyEnds: NAME_ENDS,
        avoid: () => [INVOKE_END],
        avoidAtLineStart: ['<parameter name='],
        ...(trimsLineBreaks && { trimsLineBreaks }),
      },
      trigger: start,
    },
    states: {
      [BLOCK]: {
        text: 'layout',
        on: {
          INVOKE_START: { to: NAME },
          ...(orJson && { BRACE: { to: CALLS, do: ['literal'] } as const }),
          BLOCK_START: { to: BLOCK, hold: 'any' },
          BLOCK_END: { to: CONTENT, do: ['release'] },
        },
      },
      ...(orJson && {
        [CALLS]: {
          text: 'call',
          createReader: (context) => new JsonEnvelopesReader(context, NAME_AND_ARGUMENTS),
          on: { BLOCK_END: { to: CONTENT }, BLOCK_START: { to: BLOCK, hold: 'any' } },
          done: BETWEEN,
        } as const satisfies State,
      }),
      [NAME]: { text: 'name', on: { NAME_END: { to: PARAMETERS, do: ['call-start'] } } },
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
        done: AFTER_OBJECT,
      },
      [AFTER_OBJECT]: {
        text: 'content',
        on: {
          INVOKE_END: { to: BETWEEN, do: ['call-edge'] },
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
    createParameters: parametersAs({ trimsLineBreaks: trimsLineBreaks ?? false }),
  };
}
