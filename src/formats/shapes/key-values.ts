/**
 * Calls as pairs of keys and values in tags.
 *
 * ```
 * <tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>
 * ^^^^^^^^^^^                                              CONTENT → NAME, held until the name is complete
 *              ^^^^^^^^^                                   NAME → KEY: the call begins
 *                       ^^^^^^^^^^                        KEY → KEYED
 *                                   ^^^^^^^^^^^            KEYED → VALUE
 *                                               ^^^^^^^^^^^^  VALUE → PAIRS
 * ```
 */
import { CONTENT, type State, type Terminals, type ToolFormat } from '../../parser/format.ts';
import { JsonEnvelopeReader } from '../../parser/json-calls.ts';
import { parametersAs } from '../../parser/parameters.ts';
import { NAME_AND_ARGUMENTS } from './tagged-json.ts';

const BLOCK = 'BLOCK';
const NAME = 'NAME';
const PAIRS = 'PAIRS';
const KEY = 'KEY';
const KEYED = 'KEYED';
const VALUE = 'VALUE';
const CALL = 'CALL';
const AFTER = 'AFTER';

export interface KeyValueTags {
  name: string;
  /** Names of the tags. */
  call: string;
  key: string;
  value: string;
  /** How the opener and the closer of a tag are spelled. No closer for a key: its value's opener ends it. Default: `<x>`, `</x>`. */
  spelling?: (tag: string) => { open: string; close: string | null };
  /** Around a run of calls. */
  block?: string;
  /** Between the name and the pairs. */
  separator?: string;
  /** What the name of a tag may end with, the usual form first. */
  suffixes?: readonly string[];
  /** What the model writes between the parts of a call. */
  line: string;
  /** Whether a call's own tags are tokens. Default: `required`. */
  token?: 'required' | 'optional';
  /** The tags of a call may hold it as JSON instead. */
  orJson?: boolean;
}

export function keyValues(tags: KeyValueTags): ToolFormat {
  const {
    name,
    call,
    key,
    value,
    block,
    separator,
    suffixes = [''],
    line,
    orJson,
    token = 'required',
    spelling = (tag) => ({ open: `<${tag}>`, close: `</${tag}>` }),
  } = tags;
  const opener = (tag: string) => suffixes.map((suffix) => spelling(tag + suffix).open);
  const closer = (tag: string) => suffixes.flatMap((suffix) => spelling(tag + suffix).close ?? []);
  const usual = (spelled: readonly string[]) => spelled[0]!;
  const start = usual(opener(call));
  const keyEnd = closer(key);
  const ended = block ? AFTER : CONTENT;
  const ends: State['on'] = {
    TOOL_END: { to: ended, do: ['call-end'] },
    TOOL_START: { to: NAME, hold: 'any', onCommit: ['call-end'] },
    ...(block && { BLOCK_END: { to: CONTENT, do: ['call-end'] } }),
  };
  const others: Terminals = {
    ...(block && {
      BLOCK_START: { text: opener(block), token },
      BLOCK_END: { text: closer(block), token },
    }),
    ...(separator && { SEPARATOR: { text: opener(separator), token: 'optional' } }),
    ...(orJson && { BRACE: { text: '{', token: 'never' } }),
  };
  return {
    name,
    terminals: {
      TOOL_START: { text: opener(call), token },
      TOOL_END: { text: closer(call), token },
      KEY_START: { text: opener(key), token: 'optional' },
      ...(keyEnd.length > 0 && { KEY_END: { text: keyEnd, token: 'optional' } }),
      VALUE_START: { text: opener(value), token: 'optional' },
      VALUE_END: { text: closer(value), token: 'optional' },
      ...others,
    },
    openers: {
      TOOL_START: { to: NAME, hold: 'any' },
      ...(block && { BLOCK_START: { to: BLOCK, hold: 'any' } }),
    },
    openersInReasoning: block ? ['BLOCK_START', 'TOOL_START'] : ['TOOL_START'],
    writing: {
      blockStart: block ? `${usual(opener(block))}${line}` : '',
      blockEnd: block ? `${line}${usual(closer(block))}` : '',
      separator: line,
      callStart: (called) => [`${start}${called}${separator ? usual(opener(separator)) : ''}${line}`],
      callEnd: usual(closer(call)),
      arguments: {
        open: (called) =>
          usual(opener(key)) +
          called +
          keyEnd
            .slice(0, 1)
            .map((end) => end + line)
            .join('') +
          usual(opener(value)),
        close: `${usual(closer(value))}${line}`,
        separator: '',
        keyEnds: [...keyEnd, ...opener(value)],
        avoid: () => [closer(call), closer(value)].flat().filter((text) => text !== usual(closer(value))),
        avoidAtLineStart: opener(key),
      },
      trigger: block ? usual(opener(block)) : start,
    },
    states: {
      ...(block && {
        [BLOCK]: {
          text: 'layout',
          on: {
            TOOL_START: { to: NAME },
            BLOCK_START: { to: BLOCK, hold: 'any' },
            BLOCK_END: { to: CONTENT, do: ['release'] },
          },
        },
      }),
      [NAME]: {
        text: 'name',
        on: {
          KEY_START: { to: KEY, do: ['call-start'] },
          TOOL_END: { to: ended, do: ['call-start', 'call-end'] },
          TOOL_START: [
            { to: NAME, hold: 'any', when: 'declared', closesHeld: ended },
            { to: NAME, hold: 'any' },
          ],
          ...(block && { BLOCK_END: { to: CONTENT, when: 'declared', do: ['call-start', 'call-end'] } }),
          ...(separator && { SEPARATOR: { to: PAIRS, do: ['call-start'] } }),
          ...(orJson && { BRACE: { to: CALL, when: 'blank', do: ['literal'] } }),
        },
      },
      ...(orJson && {
        [CALL]: {
          text: 'call',
          createReader: (context) => new JsonEnvelopeReader(context, NAME_AND_ARGUMENTS),
          on: {
            TOOL_END: { to: ended },
            TOOL_START: { to: NAME, hold: 'any' },
            ...(block && { BLOCK_END: { to: CONTENT } }),
          },
          done: AFTER,
        },
      }),
      ...((block || orJson) && {
        [AFTER]: {
          text: 'content',
          on: {
            TOOL_START: { to: NAME, hold: 'any' },
            TOOL_END: { to: ended, do: ['call-edge'] },
            ...(block && {
              BLOCK_START: { to: BLOCK, hold: 'any' },
              BLOCK_END: { to: CONTENT, do: ['call-edge'] },
            }),
          },
          otherwise: CONTENT,
        },
      }),
      [PAIRS]: { text: 'discard', on: { KEY_START: { to: KEY }, ...ends } },
      [KEY]: {
        text: 'name',
        on: {
          ...(keyEnd.length > 0 && { KEY_END: { to: KEYED, do: ['key'] } }),
          VALUE_START: { to: VALUE, do: ['key'] },
        },
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
            { to: ended, do: ['value-end', 'call-end'] },
          ],
        },
      },
    },
    createParameters: parametersAs({ trimsLineBreaks: false }),
  };
}
