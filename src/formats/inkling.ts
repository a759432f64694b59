/**
 * Inkling: messages whose kind a token says.
 *
 * ```
 * <|message_model|><|content_thinking|>Look it up.<|end_message|><|message_model|>f<|content_invoke_tool_json|>{"name": "f", "args": {}}<|end_message|>
 * ^^^^^^^^^^^^^^^^^                                 HEADER, collected: at most a name
 *                  ^^^^^^^^^^^^^^^^^^^^             HEADER → REASONING, CONTENT or INVOKED
 *                                                  ^^^^^^^^^^^^^^^  → HEADER
 * ```
 *
 * Calls as text and errors of tools are shown as content. Rests on vLLM's parser of this name, for
 * thinkingmachines/Inkling.
 */
import { type ChannelFormat, CONTENT, REASONING, type State, type States } from '../parser/format.ts';
import { JsonEnvelopeReader } from '../parser/json-calls.ts';
import type { Family } from './family.ts';

const MESSAGE = '<|message_model|>';
const THINKING = '<|content_thinking|>';
const TEXT = '<|content_text|>';
const INVOKE = '<|content_invoke_tool_json|>';
const END = '<|end_message|>';

const HEADER = 'HEADER';
const INVOKED = 'INVOKED';
const CALL = 'CALL';
const CALLED = 'CALLED';

/** Where the kinds of a message lead. */
interface Kinds {
  thinking: string;
  call: string;
}

function states({ thinking, call }: Kinds): States {
  const kinds: State['on'] = {
    THINKING: { to: thinking },
    TEXT: { to: CONTENT },
    INVOKE: { to: call },
    MESSAGE: { to: HEADER },
  };
  const ends: State['on'] = { ...kinds, END: { to: HEADER } };
  return {
    [HEADER]: {
      text: 'name',
      on: { ...kinds, END: { to: HEADER, do: ['salvage'] } },
      salvage: (header) => (header.trim() === '' ? null : { to: CONTENT, text: header }),
    },
    [REASONING]: {
      text: 'reasoning',
      onEnter: ['reasoning-start'],
      on: {
        THINKING: { to: REASONING },
        INVOKE: { to: call, do: ['reasoning-end'] },
        MESSAGE: { to: HEADER, do: ['reasoning-end'] },
        TEXT: { to: CONTENT, do: ['reasoning-end'] },
        END: { to: HEADER, do: ['reasoning-end'] },
      },
    },
    [CONTENT]: { text: 'content', onEnter: ['content-start'], on: ends },
    // A message that turns out to hold no call is text.
    [INVOKED]: {
      text: 'content',
      onEnter: ['content-start'],
      on: { ...ends, BRACE: { to: CALL, when: 'first', hold: 'any', do: ['literal'] } },
    },
    [CALL]: {
      text: 'call',
      createReader: (context) =>
        new JsonEnvelopeReader(context, { nameKeys: ['name'], argumentKeys: ['args'] }),
      on: ends,
      done: CALLED,
    },
    [CALLED]: { text: 'discard', on: ends },
  };
}

const format = (kinds: Kinds): ChannelFormat => ({
  name: 'inkling',
  terminals: {
    MESSAGE: { text: MESSAGE, token: 'required' },
    THINKING: { text: THINKING, token: 'required' },
    TEXT: {
      text: [TEXT, '<|content_invoke_tool_text|>', '<|content_tool_error|>'],
      token: 'required',
    },
    INVOKE: { text: INVOKE, token: 'required' },
    END: { text: [END, '<|content_model_end_sampling|>'], token: 'required' },
    BRACE: { text: '{', token: 'never' },
  },
  states: states(kinds),
  start: HEADER,
  turnStart: 'MESSAGE',
  readName: (header) => header.trim() || null,
  joiner: '\n',
  writing: {
    reasoningStart: THINKING,
    preambleStart: TEXT,
    contentStart: TEXT,
    constrainedStart: TEXT,
    callStart: (name) => `${name}${INVOKE}{"name": ${JSON.stringify(name)}, "args": `,
    callEnd: '}',
    end: END,
    next: MESSAGE,
  },
});

export const family: Family = {
  channels: {
    format: format({ thinking: REASONING, call: INVOKED }),
    recognise: ({ chatTemplate }) => chatTemplate.includes(THINKING),
    without: ({ reasoning, tools }) =>
      format({ thinking: reasoning ? REASONING : CONTENT, call: tools ? INVOKED : CONTENT }),
  },
};
