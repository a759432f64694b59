/**
 * PLaMo 3: tags that are spelled with control tokens around their names, calls as JSON.
 *
 * ```
 * <|plamo:begin_think:plamo|>Look it up.<|plamo:end_think:plamo|>
 * <|plamo:begin_tool_requests:plamo|><|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>f<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>{}<|plamo:end_tool_arguments:plamo|>…
 * ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^                   CONTENT → REQUESTS, held until the name is complete
 *                                                                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^  REQUESTS → NAME
 * ```
 *
 * No tag is a token of its own. Rests on the parsers that servers have for pfnet/plamo-3.
 */
import { CONTENT } from '../parser/format.ts';
import { JsonArgumentsReader } from '../parser/json-calls.ts';
import type { Family, TemplateFacts } from './family.ts';
import { thinkTags } from './shapes/think-tags.ts';

const begin = (tag: string) => `<|plamo:begin_${tag}:plamo|>`;
const end = (tag: string) => `<|plamo:end_${tag}:plamo|>`;
const NAME_START = begin('tool_request') + begin('tool_name');
const ARGUMENTS_START = `${begin('tool_arguments')}<|plamo:constrain|>json<|plamo:msg|>`;

const REQUESTS = 'REQUESTS';
const NAME = 'NAME';
const NAMED = 'NAMED';
const ARGUMENTS = 'ARGUMENTS';
const AFTER = 'AFTER';

const recognise = ({ chatTemplate }: TemplateFacts) => chatTemplate.includes('<|plamo:begin_');

export const family: Family = {
  reasoning: [
    {
      format: thinkTags({
        name: 'plamo3',
        start: begin('think'),
        end: end('think'),
        token: 'never',
        callEndsReasoning: false,
      }),
      recognise,
    },
  ],
  tools: [
    {
      format: {
        name: 'plamo3',
        terminals: {
          REQUESTS_START: { text: begin('tool_requests'), token: 'never' },
          REQUESTS_END: { text: end('tool_requests'), token: 'never' },
          REQUEST_START: { text: begin('tool_request'), token: 'never' },
          REQUEST_END: { text: end('tool_request'), token: 'never' },
          NAME_START: { text: begin('tool_name'), token: 'never' },
          NAME_END: { text: end('tool_name'), token: 'never' },
          ARGUMENTS_START: { text: [ARGUMENTS_START, begin('tool_arguments')], token: 'never' },
          ARGUMENTS_END: { text: end('tool_arguments'), token: 'never' },
        },
        openers: {
          REQUESTS_START: { to: REQUESTS, hold: 'any' },
          REQUEST_START: { to: REQUESTS, when: 'line-start', hold: 'declared' },
        },
        openersInReasoning: [],
        writing: {
          blockStart: begin('tool_requests'),
          blockEnd: end('tool_requests'),
          separator: '',
          callStart: (name) => [`${NAME_START}${name}${end('tool_name')}${ARGUMENTS_START}`],
          callEnd: end('tool_arguments') + end('tool_request'),
          arguments: 'json',
          trigger: begin('tool_requests'),
        },
        states: {
          [REQUESTS]: {
            text: 'layout',
            on: {
              REQUESTS_START: { to: REQUESTS, hold: 'any' },
              REQUEST_START: { to: REQUESTS },
              NAME_START: { to: NAME },
              REQUESTS_END: { to: CONTENT, do: ['release'] },
            },
          },
          [NAME]: { text: 'name', on: { NAME_END: { to: NAMED, do: ['call-start'] } } },
          [NAMED]: {
            text: 'discard',
            on: {
              ARGUMENTS_START: { to: ARGUMENTS },
              REQUEST_START: { to: REQUESTS, hold: 'any', onCommit: ['call-end'] },
              REQUEST_END: { to: AFTER, do: ['call-end'] },
              REQUESTS_END: { to: CONTENT, do: ['call-end'] },
            },
          },
          [ARGUMENTS]: {
            text: 'call',
            createReader: (context) => new JsonArgumentsReader(context),
            on: {
              ARGUMENTS_END: { to: AFTER },
              REQUEST_END: { to: AFTER },
              REQUESTS_END: { to: CONTENT },
              REQUEST_START: { to: REQUESTS, hold: 'any' },
            },
            done: AFTER,
          },
          [AFTER]: {
            text: 'content',
            on: {
              ARGUMENTS_END: { to: AFTER, do: ['call-edge'] },
              REQUEST_END: { to: AFTER, do: ['call-edge'] },
              REQUEST_START: { to: REQUESTS, hold: 'any' },
              REQUESTS_START: { to: REQUESTS, hold: 'any' },
              REQUESTS_END: { to: CONTENT, do: ['call-edge'] },
            },
            otherwise: CONTENT,
          },
        },
      },
      recognise,
    },
  ],
};
