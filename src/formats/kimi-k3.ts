/**
 * Kimi K3: XTML, markup whose tags are each spelled with three special tokens.
 *
 * ```
 * <|open|>think<|sep|>…<|close|>think<|sep|><|open|>response<|sep|>…<|close|>response<|sep|>
 * <|open|>tools<|sep|><|open|>call tool="f" index="1"<|sep|><|open|>argument key="a" type="string"<|sep|>x<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>
 * ^^^^^^^^^^^^^^^^^^^^                                        CONTENT → BLOCK, held until a name is complete
 *                     ^^^^^^^^^^^^^^^                         BLOCK → NAME
 *                                           ^^^^^^^           NAME → PARAMETERS: the call begins
 * ```
 *
 * Attributes escape `&` and `"`. A value of type `string` is its text, any other is JSON: `number`, `boolean`,
 * `null`, `array` or `object`. One `json` element may hold all arguments instead; the grammar writes none. Rests on
 * the chat template of moonshotai/Kimi-K3.
 */
import { type AnswerWriting, CONTENT, DIGITS, type State, type Terminals } from '../parser/format.ts';
import { JsonArgumentsReader } from '../parser/json-calls.ts';
import { parametersAs } from '../parser/parameters.ts';
import type { JsonType } from '../parser/schema-types.ts';
import type { Family, TemplateFacts } from './family.ts';
import { thinkTags } from './shapes/think-tags.ts';

const SEP = '<|sep|>';
const open = (tag: string) => `<|open|>${tag}${SEP}`;
const close = (tag: string) => `<|close|>${tag}${SEP}`;
const CALL = '<|open|>call tool="';
const ARGUMENT = '<|open|>argument key="';
const OBJECT_START = open('json type="object"');

const BLOCK = 'BLOCK';
const NAME = 'NAME';
const PARAMETERS = 'PARAMETERS';
const KEY = 'KEY';
const VALUE = 'VALUE';
const OBJECT = 'OBJECT';
const AFTER = 'AFTER';

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
const unescaped = (text: string) => text.replaceAll('&quot;', '"').replaceAll('&amp;', '&');
/** An attribute's value at the start of what follows its opening quote. */
const attribute = (text: string) => unescaped(/^[^"]*/.exec(text)![0]).trim();

function argumentStart(key: string, kind: 'text' | 'json', type: JsonType = 'object'): string {
  const json = type === 'integer' ? 'number' : type;
  return `${ARGUMENT}${key}" type="${kind === 'text' ? 'string' : json}"${SEP}`;
}

/** Tags around and behind the answer. */
const answerTags: Terminals = {
  RESPONSE_START: { text: open('response'), token: 'never' },
  RESPONSE_END: { text: [close('response'), close('message')], token: 'never' },
};
const answer: AnswerWriting = {
  start: open('response'),
  end: close('response'),
  messageEnd: close('message'),
  precedesCalls: true,
};
const answerEdges: State['on'] = {
  RESPONSE_START: { to: CONTENT, do: ['edge'] },
  RESPONSE_END: { to: CONTENT, do: ['edge'] },
};

const recognise = ({ chatTemplate }: TemplateFacts) =>
  chatTemplate.includes('<|open|>') && chatTemplate.includes(SEP);

export const family: Family = {
  reasoning: [
    {
      format: thinkTags({
        name: 'kimi_k3',
        start: open('think'),
        // An answer that begins ends the thought too.
        end: [close('think'), open('response')],
        token: 'never',
        literalWhenOff: false,
        others: answerTags,
        answer,
        // Of control tokens too: a second one is no text.
        contentMarkers: { ...answerEdges, THINK_END: { to: CONTENT, do: ['edge'] } },
      }),
      recognise,
    },
  ],
  tools: [
    {
      format: {
        name: 'kimi_k3',
        terminals: {
          BLOCK_START: { text: open('tools'), token: 'never' },
          BLOCK_END: { text: close('tools'), token: 'never' },
          CALL_START: { text: CALL, token: 'never' },
          CALL_END: { text: close('call'), token: 'never' },
          ARGUMENT_START: { text: ARGUMENT, token: 'never' },
          ARGUMENT_END: { text: close('argument'), token: 'never' },
          OBJECT_START: { text: OBJECT_START, token: 'never' },
          OBJECT_END: { text: close('json'), token: 'never' },
          SEP: { text: SEP, token: 'never' },
          ...answerTags,
        },
        openers: {
          BLOCK_START: { to: BLOCK, hold: 'any' },
          CALL_START: { to: NAME, when: 'line-start', hold: 'declared' },
          ...answerEdges,
        },
        openersInReasoning: ['BLOCK_START'],
        answer,
        writing: {
          blockStart: open('tools'),
          blockEnd: close('tools'),
          separator: '',
          callStart: (name) => [`${CALL}${escaped(name)}" index="`, DIGITS, `"${SEP}`],
          callEnd: close('call'),
          arguments: {
            open: argumentStart,
            escapeKey: escaped,
            keyEnds: ['"', SEP],
            close: close('argument'),
            separator: '',
            avoid: () => [close('call'), close('tools'), ARGUMENT],
          },
          trigger: open('tools'),
        },
        states: {
          [BLOCK]: {
            text: 'layout',
            on: {
              CALL_START: { to: NAME },
              BLOCK_START: { to: BLOCK, hold: 'any' },
              BLOCK_END: { to: CONTENT, do: ['release'] },
            },
          },
          [NAME]: { text: 'name', on: { SEP: { to: PARAMETERS, do: ['call-start'] } } },
          [PARAMETERS]: {
            text: 'discard',
            on: {
              ARGUMENT_START: { to: KEY },
              OBJECT_START: { to: OBJECT, when: 'no-parameter' },
              CALL_END: { to: AFTER, do: ['call-end'] },
              BLOCK_END: { to: CONTENT, do: ['call-end'] },
              CALL_START: { to: NAME, hold: 'any', onCommit: ['call-end'] },
            },
          },
          [OBJECT]: {
            text: 'call',
            createReader: (context) => new JsonArgumentsReader(context),
            on: {
              OBJECT_END: { to: AFTER },
              CALL_END: { to: AFTER },
              BLOCK_END: { to: CONTENT },
            },
            done: AFTER,
          },
          [AFTER]: {
            text: 'content',
            on: {
              CALL_START: { to: NAME, hold: 'any' },
              OBJECT_END: { to: AFTER, do: ['call-edge'] },
              CALL_END: { to: AFTER, do: ['call-edge'] },
              BLOCK_START: { to: BLOCK, hold: 'any' },
              BLOCK_END: { to: CONTENT, do: ['call-edge'] },
            },
            otherwise: CONTENT,
          },
          [KEY]: { text: 'name', on: { SEP: { to: VALUE, do: ['key'] } } },
          [VALUE]: {
            text: 'value',
            on: {
              ARGUMENT_END: { to: PARAMETERS, do: ['value-end'] },
              ARGUMENT_START: { to: KEY, hold: 'declared', onCommit: ['value-end'] },
              CALL_END: { to: AFTER, do: ['value-end', 'call-end'] },
              BLOCK_END: { to: CONTENT, do: ['value-end', 'call-end'] },
            },
          },
        },
        createParameters: parametersAs({
          trimsLineBreaks: false,
          readHeader: (text) => ({
            key: attribute(text),
            kind: /\btype="(?!string")/.test(text) ? 'json' : 'text',
          }),
        }),
        readName: (header) => attribute(header) || null,
        callId: (_header, name, index) => `functions.${name}:${index}`,
      },
      recognise,
    },
  ],
};
