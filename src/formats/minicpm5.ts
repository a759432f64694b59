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
const PARAMETERS_START = [PARAMETER, "<param name='", '<paramname="', "<paramname='"];
const NAME_END = '">';
const NAME_ENDS = [NAME_END, "'>"];
const CDATA_START = '<![CDATA[';
const CDATA_END = ']]>';

const NAME = 'NAME';
const PARAMETERS = 'PARAMETERS';
const KEY = 'KEY';
const VALUE = 'VALUE';
const CDATA = 'CDATA';

/** Keys of a parameter that may hold all arguments. */
const WRAPPERS = ['properties', 'arguments'];

/** Each a terminal by its spelling. */
const ENTITIES = { '&lt;': '<', '&gt;': '>', '&amp;': '&', '&quot;': '"', '&apos;': "'" } as const;

const entities: State['on'] = Object.fromEntries(
  Object.entries(ENTITIES).map(([entity, writes]) => [entity, { to: VALUE, writes }]),
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
          PARAMETER_START: { text: PARAMETERS_START, token: 'never' },
          PARAMETER_END: { text: PARAMETER_END, token: 'never' },
          NAME_END: { text: NAME_ENDS, token: 'never' },
          CDATA_START: { text: CDATA_START, token: 'never' },
          CDATA_END: { text: CDATA_END, token: 'never' },
          ...Object.fromEntries(
            Object.keys(ENTITIES).map((entity) => [entity, { text: entity, token: 'never' } as const]),
          ),
        },
        openers: { FUNCTION_START: { to: NAME, hold: 'declared' } },
        openersInReasoning: [],
        writing: {
          blockStart: '',
          blockEnd: '',
          separator: '\n',
          callStart: (called) => [`${FUNCTION}${called}${NAME_END}`],
          callEnd: FUNCTION_END,
          arguments: {
            open: (key) => `${PARAMETER}${key}${NAME_END}`,
            close: PARAMETER_END,
            separator: '',
            keyEnds: NAME_ENDS,
            avoid: () => [FUNCTION_END, CDATA_START, ...Object.keys(ENTITIES)],
            avoidAtLineStart: PARAMETERS_START,
            verbatim: { start: CDATA_START, end: CDATA_END },
            trimsLineBreaks: true,
            wrapperKeys: WRAPPERS,
          },
          trigger: FUNCTION,
        },
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
        createParameters: parametersAs({ trimsLineBreaks: true, wrapperKeys: WRAPPERS }),
      },
      recognise: ({ chatTemplate }) =>
        chatTemplate.includes('<function name=') && chatTemplate.includes('<param name='),
    },
  ],
};
