/**
 * Harmony, the format of gpt-oss: messages on channels, calls addressed to a recipient.
 *
 * ```
 * <|channel|>analysis<|message|>Look it up.<|end|><|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>
 * ^^^^^^^^^^^^^^^^^^^                                              HEADER, collected
 *                    ^^^^^^^^^^^                                   HEADER → REASONING, CONTENT, CALL or IGNORED
 *                                          ^^^^^^^                → HEADER
 * ```
 *
 * A message to a function is a call on every channel; `analysis` is reasoning; `final`, and `commentary` to nobody,
 * is content; messages to the built-in tools are nothing of ours. Rests on the harmony format's specification and
 * the chat template of openai/gpt-oss-20b.
 */
import { type ChannelFormat, CONTENT, REASONING, type State, type States } from '../parser/format.ts';
import { JsonArgumentsReader } from '../parser/json-calls.ts';
import type { Family } from './family.ts';

const START = '<|start|>';
const CHANNEL = '<|channel|>';
const CONSTRAIN = '<|constrain|>';
const MESSAGE = '<|message|>';
const END = '<|end|>';

const HEADER = 'HEADER';
const CALL = 'CALL';
const IGNORED = 'IGNORED';

const BUILT_IN = /^(?:browser|python|container)(?:\.|$)/;

function recipient(header: string): string | null {
  return /(?:^|\s|assistant)to=(.+?)(?=\s|<\||$)/s.exec(header)?.[1] ?? null;
}

function functionName(header: string): string | null {
  const to = recipient(header);
  if (to === null || to === 'assistant' || BUILT_IN.test(to)) return null;
  const name = to.startsWith('functions.') ? to.slice('functions.'.length) : to;
  return /^[\w./-]+$/.test(name) ? name : null;
}

const channelOf = (header: string) => /<\|channel\|>\s*([a-z]+)/.exec(header)?.[1] ?? null;

function route(header: string): string {
  if (functionName(header) !== null) return CALL;
  const channel = channelOf(header);
  if (channel === 'analysis') return REASONING;
  return channel === 'final' || (channel === 'commentary' && recipient(header) === null) ? CONTENT : IGNORED;
}

/** Text where a header should be: without the message marker, without any markup, or in none of its forms. */
function salvage(header: string): { to: string; text: string } | null {
  const written = header.replace(/^\s*(?:assistant)?\s*/, '');
  if (/^(?:<\|channel\|>\s*\w*\s*)?$/.test(written)) return null;
  const found = /^<\|channel\|>\s*(final|commentary|analysis)\s+(?!to=|json\b|<\|)(.*)$/s.exec(written);
  if (!found) return { to: CONTENT, text: header };
  return { to: found[1] === 'analysis' ? REASONING : CONTENT, text: found[2]! };
}

const ends = {
  END: { to: HEADER },
  RETURN: { to: HEADER },
  CALL: { to: HEADER },
  START: { to: HEADER },
} as const;
/** Of a message in which the next one begins, its own end is missing. */
const next = { CHANNEL: { to: HEADER, when: 'unquoted', do: ['literal'] } } as const;
const reasoningEnds: State['on'] = {
  ...Object.fromEntries(
    Object.entries(ends).map(([terminal, transition]) => [
      terminal,
      { ...transition, do: ['reasoning-end'] as const },
    ]),
  ),
  CHANNEL: { ...next.CHANNEL, do: ['reasoning-end', 'literal'] },
};

function states(routes: (header: string) => string): States {
  return {
    [HEADER]: {
      text: 'name',
      on: {
        MESSAGE: { to: routes },
        START: { to: HEADER },
        END: { to: HEADER },
        RETURN: { to: HEADER },
        CALL: { to: HEADER },
      },
      salvage,
    },
    [REASONING]: { text: 'reasoning', on: reasoningEnds, onEnter: ['reasoning-start'] },
    [CONTENT]: { text: 'content', on: { ...ends, ...next }, onEnter: ['content-start'] },
    [CALL]: {
      text: 'call',
      on: { ...ends, ...next },
      onEnter: ['call-start'],
      createReader: (context) => new JsonArgumentsReader(context),
      done: IGNORED,
    },
    [IGNORED]: { text: 'discard', on: { ...ends, ...next } },
  };
}

const format = (routes: (header: string) => string): ChannelFormat => ({
  name: 'gptoss',
  terminals: {
    START: { text: START, token: 'required' },
    CHANNEL: { text: CHANNEL, token: 'required' },
    CONSTRAIN: { text: CONSTRAIN, token: 'required' },
    MESSAGE: { text: MESSAGE, token: 'required' },
    END: { text: END, token: 'required' },
    RETURN: { text: '<|return|>', token: 'required' },
    CALL: { text: '<|call|>', token: 'required' },
  },
  states: states(routes),
  start: HEADER,
  turnStart: 'START',
  readName: functionName,
  joiner: '\n',
  writing: {
    reasoningStart: `${CHANNEL}analysis${MESSAGE}`,
    preambleStart: `${CHANNEL}commentary${MESSAGE}`,
    contentStart: `${CHANNEL}final${MESSAGE}`,
    constrainedStart: `${CHANNEL}final ${CONSTRAIN}json${MESSAGE}`,
    callStart: (name) => `${CHANNEL}commentary to=functions.${name} ${CONSTRAIN}json${MESSAGE}`,
    end: END,
    next: `${START}assistant`,
  },
});

export const family: Family = {
  channels: {
    format: format(route),
    aliases: ['openai_gptoss', 'openai'],
    recognise: ({ chatTemplate }) =>
      chatTemplate.includes('<|channel|>') && chatTemplate.includes('<|start|>'),
    without: ({ reasoning, tools }) =>
      format((header) => {
        const to = route(header);
        return (to === REASONING && !reasoning) || (to === CALL && !tools) ? CONTENT : to;
      }),
  },
};
