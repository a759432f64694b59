/**
 * Calls as bare JSON objects, where a marker may stand before them.
 *
 * ```
 * <|python_tag|>{"name": "f", "parameters": {"a": 1}}; {"name": "g", "parameters": {}}
 * ^^^^^^^^^^^^^^                                       CONTENT → TAGGED, held
 *               ^                                      TAGGED → CALL; from CONTENT at the start of a line, held
 *                                                    ^  CALL → AFTER
 * ```
 *
 * An object is a call only with a name and arguments; at the start of a later line only with a declared name.
 */
import { CONTENT, type Terminal, type ToolFormat } from '../../parser/format.ts';
import { JsonEnvelopeReader } from '../../parser/json-calls.ts';

const TAGGED = 'TAGGED';
const CALL = 'CALL';

/** `tag` may begin a run of calls, `tagEnd` may end it. */
export const bareJson = (name: string, tag: Terminal, tagEnd?: Terminal): ToolFormat => ({
  name,
  terminals: {
    TAG: tag,
    ...(tagEnd && { TAG_END: tagEnd }),
    BRACE: { text: '{', token: 'never' },
    SEMICOLON: { text: ';', token: 'never' },
  },
  openers: {
    TAG: { to: TAGGED, hold: 'any' },
    BRACE: [
      { to: CALL, when: 'start', hold: 'any', do: ['literal'] },
      { to: CALL, when: 'after-call', hold: 'any', do: ['literal'] },
      { to: CALL, when: 'line-start', hold: 'declared', do: ['literal'] },
    ],
    SEMICOLON: { to: CONTENT, when: 'after-call', do: ['literal-unless-call'] },
    ...(tagEnd && { TAG_END: { to: CONTENT, when: 'after-call' } }),
  },
  openersInReasoning: ['TAG'],
  writing: {
    blockStart: '',
    blockEnd: '',
    separator: '; ',
    callStart: (called) => [`{"name": ${JSON.stringify(called)}, "parameters": `],
    callEnd: '}',
    arguments: 'json',
    trigger: '{"name": "',
  },
  states: {
    [TAGGED]: {
      text: 'layout',
      on: { BRACE: { to: CALL, do: ['literal'] }, TAG: { to: TAGGED, hold: 'any' } },
    },
    [CALL]: {
      text: 'call',
      createReader: (context) =>
        new JsonEnvelopeReader(context, {
          nameKeys: ['name'],
          argumentKeys: ['parameters', 'arguments'],
          needsArguments: true,
        }),
      on: { TAG: { to: TAGGED, hold: 'any' }, ...(tagEnd && { TAG_END: { to: CONTENT } }) },
      done: CONTENT,
    },
  },
});
