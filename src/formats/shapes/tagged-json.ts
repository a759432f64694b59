/**
 * Calls as JSON behind a marker, one object or a list of them, with or without a closing marker.
 *
 * ```
 * <tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>
 * ^^^^^^^^^^^                            ^                        CONTENT → CALL, held up to here
 *                                               ^                CALL → AFTER
 *                                                ^^^^^^^^^^^^    AFTER → CONTENT
 * ```
 */
import {
  type AnswerWriting,
  type CallWriting,
  CONTENT,
  type State,
  spellings,
  type Terminal,
  type Terminals,
  type ToolFormat,
} from '../../parser/format.ts';
import { type JsonEnvelope, JsonEnvelopeListReader, JsonEnvelopesReader } from '../../parser/json-calls.ts';

export interface TaggedJson {
  name: string;
  start: Terminal;
  /** Absorbed where it stands behind a call. */
  end?: Terminal;
  envelope?: JsonEnvelope;
  /** The start marker ends with the list's bracket. */
  opensList?: boolean;
  /** The markers may begin a call inside reasoning. Default: yes. */
  opensInReasoning?: boolean;
  writing: CallWriting | null;
  /** Markers besides, and what they do in content. */
  terminals?: Terminals;
  openers?: State['on'];
  /** What may stand between two calls. */
  after?: State['on'];
  /** Tags around the answer, which `openers` read. */
  answer?: AnswerWriting;
}

/** The state in which the JSON is read. */
export const CALL = 'CALL';
/** The state behind it, up to the closing marker. */
export const AFTER = 'AFTER';

export const NAME_AND_ARGUMENTS: JsonEnvelope = {
  nameKeys: ['name'],
  argumentKeys: ['arguments', 'parameters'],
};

export function taggedJson({
  name,
  start,
  end,
  envelope = NAME_AND_ARGUMENTS,
  opensList = false,
  opensInReasoning = true,
  writing,
  terminals,
  openers,
  after,
  answer,
}: TaggedJson): ToolFormat {
  const opener = { CALL_START: { to: CALL, hold: 'any' } } as const;
  // A closing brace too many before the closing marker is a slip of the model, not text.
  const repairs = end !== undefined && closes(writing, end);
  return {
    name,
    terminals: {
      CALL_START: start,
      ...(end && { CALL_END: end }),
      ...(repairs && { BRACE_END: { text: '}', token: 'never' } }),
      ...terminals,
    },
    openers: {
      ...opener,
      ...openers,
    },
    openersInReasoning: opensInReasoning ? ['CALL_START'] : [],
    writing,
    ...(answer && { answer }),
    states: {
      [CALL]: {
        text: 'call',
        on: { ...opener, ...(end && { CALL_END: { to: CONTENT } }) },
        createReader: (context) =>
          opensList
            ? new JsonEnvelopeListReader(context, envelope, 'open list')
            : new JsonEnvelopesReader(context, envelope),
        done: AFTER,
      },
      [AFTER]: {
        text: 'content',
        on: {
          ...opener,
          ...(end && { CALL_END: { to: CONTENT, do: ['call-edge'] } }),
          ...(repairs && { BRACE_END: { to: AFTER, do: ['call-edge'] } }),
          ...after,
        },
        otherwise: CONTENT,
      },
    },
  };
}

/** Whether the calls are written with that marker at their end. */
const closes = (writing: CallWriting | null, end: Terminal) =>
  writing !== null &&
  spellings(end).some((text) => writing.callEnd.includes(text) || writing.blockEnd.includes(text));

/** How one object a tag is written. */
export const objectWriting = (start: string, end: string, argumentsKey = 'arguments'): CallWriting => ({
  blockStart: '',
  blockEnd: '',
  separator: '\n',
  callStart: (name) => [`${start}{"name": ${JSON.stringify(name)}, ${JSON.stringify(argumentsKey)}: `],
  callEnd: `}${end}`,
  arguments: 'json',
  trigger: start.trimEnd(),
});

/** How a list of objects in one pair of tags is written. */
export const listWriting = (start: string, end: string, argumentsKey = 'arguments'): CallWriting => ({
  blockStart: `${start}[`,
  blockEnd: `]${end}`,
  separator: ', ',
  callStart: (name) => [`{"name": ${JSON.stringify(name)}, ${JSON.stringify(argumentsKey)}: `],
  callEnd: '}',
  arguments: 'json',
  trigger: start,
});
