/**
 * MiniCPM5: calls as XML elements without anything around them.
 *
 * ```
 * <function name="f"><param name="a">1</param><param name="b"><![CDATA[x < y]]></param></function>
 * ^^^^^^^^^^^^^^^^                                   CONTENT → NAME, held until a declared name is complete
 *                  ^^                                NAME → PARAMETERS: the call begins
 * ```
 *
 * Text with markup stands in CDATA; elsewhere the five entities count. The space before an attribute is sometimes
 * lost. Rests on the model card and the parser of openbmb/MiniCPM5-1B.
 */
import { CONTENT, type State } from '../parser/format.ts';
import { parametersAs } from '../parser/parameters.ts';
import type { Family } from './family.ts';

const FUNCTION = '<function name="';
const FUNCTION_END = '</function>';
const PARAMETER = '<param name="';
const PARAMETER_END = '</param>';

const NAME = 'NAME';
const PARAMETERS = 'PARAMETERS';
const KEY = 'KEY';
const VALUE = 'VALUE';
const CDATA = 'CDATA';

const ENTITIES = { LESS: '<', GREATER: '>', AMPERSAND: '&', QUOTE: '"', APOSTROPHE: "'" } as const;

const entities: State['on'] = Object.fromEntries(
  Object.entries(ENTITIES).map(([terminal, writes]) => [terminal, { to: VALUE, writes }]),
);

export const family: Family = {
  tools: [
    {
      format: {
        name: 'minicpm5',
        terminals: {
          FUNCTION_START: {
            text: [FUNCTION, "<function name='", '<functionname="', "<functionname='"],
            token: 'never',
          },
          FUNCTION_END: { text: FUNCTION_END, token: 'never' },
          PARAMETER_START: {
            text: [PARAMETER, "<param name='", '<paramname="', "<paramname='"],
            token: 'never',
          },
          PARAMETER_END: { text: PARAMETER_END, token: 'never' },
          NAME_END: { text: ['">', "'>"], token: 'never' },
          CDATA_START: { text: '<![CDATA[', token: 'never' },
          CDATA_END: { text: ']]>', token: 'never' },
          LESS: { text: '&lt;', token: 'never' },
          GREATER: { text: '&gt;', token: 'never' },
          AMPERSAND: { text: '&amp;', token: 'never' },
          QUOTE: { text: '&quot;', token: 'never' },
          APOSTROPHE: { text: '&apos;', token: 'never' },
        },
        openers: { FUNCTION_START: { to: NAME, hold: 'declared' } },
        openersInReasoning: [],
        writing: null,
        states: {
          [NAME]: { text: 'name', on: { NAME_END: { to: PARAMETERS, do: ['call-start'] } } },
          [PARAMETERS]: {
            text: 'discard',
            on: {
              PARAMETER_START: { to: KEY },
              FUNCTION_END: { to: CONTENT, do: ['call-end'] },
              FUNCTION_START: { to: NAME, hold: 'declared', onCommit: ['call-end'] },
            },
          },
          [KEY]: { text: 'name', on: { NAME_END: { to: VALUE, do: ['key'] } } },
          [VALUE]: {
            text: 'value',
            on: {
              PARAMETER_END: { to: PARAMETERS, do: ['value-end'] },
              PARAMETER_START: { to: KEY, when: 'line-start', hold: 'declared', onCommit: ['value-end'] },
              FUNCTION_END: { to: CONTENT, do: ['value-end', 'call-end'] },
              CDATA_START: { to: CDATA },
              ...entities,
            },
          },
          [CDATA]: { text: 'value', on: { CDATA_END: { to: VALUE } } },
        },
        createParameters: parametersAs({ trimsLineBreaks: true, wrapperKeys: ['properties', 'arguments'] }),
      },
      recognise: ({ chatTemplate }) =>
        chatTemplate.includes('<function name=') && chatTemplate.includes('<param name='),
    },
  ],
};
