/**
 * A format as data: which markers a family writes, what each means in each state, how arguments are encoded.
 * The machine (`machine.ts`) runs it; nothing in here knows a model.
 */
import type { CallReader, CallReaderContext } from './call-reader.ts';
import type { CreateParameters } from './parameters.ts';
import type { JsonType } from './schema-types.ts';

/** A marker that a format declares. */
export interface Terminal {
  /** Its spelling, or several for one meaning. */
  text: string | readonly string[];
  /**
   * Whether the marker is a token of its own in the family's vocabularies.
   * `required`: always; a vocabulary without it does not belong to this format.
   * `optional`: where the vocabulary has it. `never`: it is spelled out in ordinary tokens. `only`: where the
   * vocabulary has no token for it, it is text in any spelling.
   * A marker that is a token is recognised by its id only, when ids are given: spelled out, it is text.
   */
  token: 'required' | 'optional' | 'never' | 'only';
}

export const spellings = ({ text }: Terminal): readonly string[] =>
  typeof text === 'string' ? [text] : text;

export type Terminals = Readonly<Record<string, Terminal>>;

/** What plain text means in a state. */
export type TextRole =
  | 'content'
  | 'reasoning'
  /** Collected; read by the `call-start` and `key` actions. */
  | 'name'
  /** Characters of the current parameter's value. */
  | 'value'
  /** White space only. Anything else leaves the state by `otherwise`, or releases what is held. */
  | 'layout'
  /** Part of the markup, whatever it is. */
  | 'discard'
  /** Read by the state's call reader, which knows its own quoting. */
  | 'call';

export type Action =
  | 'reasoning-start'
  | 'reasoning-end'
  | 'content-start'
  /** A border of the answer: white space at it is layout. */
  | 'edge'
  /** A border of a run of calls: white space before it is layout. */
  | 'call-edge'
  /** The collected text is the call's name: the call begins (and what was held is committed). */
  | 'call-start'
  /** The call's end was seen. Nothing if no call is open. */
  | 'call-end'
  /** The collected text is a parameter's key. */
  | 'key'
  | 'value-end'
  /** The marker is text of the state it leads to. */
  | 'literal'
  /** The same, unless a call follows: then it is layout. */
  | 'literal-unless-call'
  /** What stands behind the marker counts as the first of the answer. */
  | 'first'
  /** An opener, or a closer, inside a value that is not ours: counted, so that pairs stay together. */
  | 'nest'
  | 'unnest'
  /** An opener that counts once, however often it comes. */
  | 'nest-once'
  /** What was held since the opener is no call, but text. */
  | 'release'
  /** Collected text that is no name goes to the state where it is text. */
  | 'salvage';

export type Guard =
  /** The marker stands at the start of a line or of the output. */
  | 'line-start'
  /** An opener inside the value has not met its closer. */
  | 'nested'
  /** The same, of a second one. */
  | 'nested-twice'
  /** The marker does not stand between backticks, where text speaks about it. */
  | 'unquoted'
  /** Nothing stands before it in the output, or since the reasoning began or ended. */
  | 'start'
  /** Only white space stands before it in the output, or since the reasoning or a call ended. */
  | 'first'
  /** Only white space stands between it and the end of a call. */
  | 'after-call'
  /** The name that is being read has no visible character yet. */
  | 'blank'
  /** The name that is being read is that of a declared function. */
  | 'declared'
  /** The call has no parameter yet. */
  | 'no-parameter';

export interface Transition {
  /** The next state, where needed by the collected text. */
  to: string | ((collected: string) => string);
  do?: readonly Action[];
  when?: Guard | undefined;
  /**
   * From this marker on everything is kept until it is committed (a call starts, a key is read) or released
   * as text of the state before. `declared`: only a declared name or key commits.
   */
  hold?: 'any' | 'declared';
  /**
   * What is held when the marker comes is a whole call, whose closer is missing: it counts, and a new hold begins in
   * this state.
   */
  closesHeld?: string;
  /** Done when the hold is committed, before what commits it. */
  onCommit?: readonly Action[];
  /** What the marker stands for in a parameter's value. */
  writes?: string;
}

export interface State {
  text: TextRole;
  /** By terminal name. Of several the first whose guard holds. A terminal without an entry is text. */
  on: Readonly<Record<string, Transition | readonly Transition[]>>;
  /** Done on entering the state from another. */
  onEnter?: readonly Action[];
  /**
   * For `name`: what collected text is that turns out to be no name, because the stream ended or it grew too
   * long: text of another state. Without it, it is markup.
   */
  salvage?: (collected: string) => { to: string; text: string } | null;
  /** The state in which text is read that is more than white space: for `layout`, and `content` behind a call. */
  otherwise?: string;
  /** For `call`: makes what reads its text. */
  createReader?: (context: CallReaderContext) => CallReader;
  /** For `call`: the state after the reader has seen the end of its text. */
  done?: string;
}

export type States = Readonly<Record<string, State>>;

/** Stands in a call's opener for a number that the model chooses. */
export const DIGITS = Symbol('digits');

/** How a parameter is written. */
export interface ParameterWriting {
  /** `kind` is how the value stands there: as its text, or as JSON, whose `type` some families say. */
  open(key: string, kind: 'text' | 'json', type?: JsonType): string;
  /** How a key is spelled there, for families that escape it. Default: as it is. */
  escapeKey?(key: string): string;
  close: string;
  /** Between one parameter's closer and the next one's opener. */
  separator: string;
  /**
   * Texts that end a key where it is read; no key holds one, though `open` may write more behind it. White space at a
   * key's borders is not read.
   */
  keyEnds: readonly string[];
  /** Texts besides the closer that mean something else in a value: none holds them as they are. */
  avoid(): readonly string[];
  /** Those that do so only at the start of a line. */
  avoidAtLineStart?: readonly string[];
  /** Between these a text may stand as it is, with texts that it could not hold otherwise. */
  verbatim?: { start: string; end: string };
  /** A line break at a border of a value is markup: no text begins or ends with one. */
  trimsLineBreaks?: true;
  /** Keys of a parameter that may be read as all arguments in one. */
  wrapperKeys?: readonly string[];
  /** Parameters are elements: values that are lists or objects hold further ones. */
  elements?: {
    /** Name of a list's item. */
    item: string;
    /** Behind `close` the key comes again, and this. */
    closeEnd: string;
  };
}

/** How a family writes an object whose keys are bare, and whose strings stand between delimiters without escapes. */
export interface DelimitedWriting {
  delimiter: string;
}

/**
 * How a family writes a run of calls. The grammar is made from it, of the same strings that the states read.
 *
 * ```
 * lead blockStart callStart(name) arguments callEnd separator callStart(name) arguments callEnd blockEnd
 * ```
 */
export interface CallWriting {
  /** White space before the run, where the family writes some though nothing stands before; layout as any such. */
  lead?: string;
  /** Once around a run of calls; empty where each call stands by itself. */
  blockStart: string;
  blockEnd: string;
  separator: string;
  callStart(name: string): readonly (string | typeof DIGITS)[];
  callEnd: string;
  /** `python`: keywords with Python literals, without the parentheses around them. */
  arguments: 'json' | 'python' | DelimitedWriting | ParameterWriting;
  /**
   * What begins a run of calls in free text: a beginning of its first string that means nothing else. Where only the
   * name tells a call, by the name.
   */
  trigger: string | ((name: string) => string);
}

/**
 * Tags that a family puts around its answers. The text stands between the first two, which it may go without.
 *
 * ```
 * start text end blockStart … blockEnd messageEnd
 * ```
 */
export interface AnswerWriting {
  start: string;
  end: string;
  /** Where the message has an end besides that of the turn. */
  messageEnd?: string;
  /** Calls stand behind an answer also where they must come; otherwise they come instead of one then. */
  precedesCalls?: true;
}

/** Reasoning markers of a family. */
export interface ReasoningFormat {
  name: string;
  terminals: Terminals;
  /** Terminal names. */
  start: string;
  end: string;
  /** Whether the model thinks when the request does not say. */
  thinkingByDefault: boolean;
  /** Without a marker in the prompt's tail, output begins inside the block when thinking. */
  implicitStart: boolean;
  /** A call's opener inside the block ends it. */
  callEndsReasoning: boolean;
  /** With thinking switched off the markers are text. */
  literalWhenOff: boolean;
  /** Whether these template arguments switch thinking on or off, for families with a switch of their own. */
  readSwitch?: (templateArguments: Readonly<Record<string, unknown>>) => boolean | undefined;
  /** Terminal of a line that says what the block is, and is none of its text. */
  label?: string;
  /** Transitions of markers that the family puts around or into its answers; they go before those of `start` and `end`. */
  contentMarkers?: State['on'];
  /** The template argument that makes an answer which stayed blank repeat the reasoning. */
  repeatedWith?: string;
  /** Reasoning stays in the content, behind this text, which the prompt has already. */
  keptAfter?: string;
  /** Tags around the answer, which its own transitions read as edges. */
  answer?: AnswerWriting;
}

/** How a family writes calls. */
export interface ToolFormat {
  name: string;
  terminals: Terminals;
  /** Transitions out of content that open a call. */
  openers: State['on'];
  /** Of these, the terminals that may open a call inside reasoning too. */
  openersInReasoning: readonly string[];
  states: States;
  /** Null where there is no grammar for the calls; then they can't be required. */
  writing: CallWriting | null;
  /** Tags around the answer, which `openers` read as edges. */
  answer?: AnswerWriting;
  /** Makes what turns `key` and `value` text into JSON, for formats that have them. */
  createParameters?: CreateParameters;
  /** Id of a call where the family has ids of its own. `index` counts the conversation's calls from 0. */
  callId?: (header: string, name: string, index: number) => string;
  /** The name in a call's header, `null` if there is none. Default: the header trimmed. */
  readName?: (header: string, isDeclared: (name: string) => boolean) => string | null;
}

/** What may begin calls of these functions in free text. */
export const triggersOf = ({ trigger }: CallWriting, names: readonly string[]): readonly string[] =>
  typeof trigger === 'string' ? [trigger] : names.map(trigger);

/** The names under which the two composed states are known to every tool format. */
export const CONTENT = 'CONTENT';
export const REASONING = 'REASONING';

/** How a family with channels writes its messages, for the grammar. */
export interface ChannelWriting {
  reasoningStart: string;
  preambleStart: string;
  contentStart: string;
  /** Content that is held to a form. */
  constrainedStart: string;
  callStart(name: string): string;
  /** Behind a call's arguments, inside its message. */
  callEnd?: string;
  /** Ends a message after which another follows, and begins that one. */
  end: string;
  next: string;
}

/** A family whose messages name their channel: reasoning, calls and content are not told apart by markers alone. */
export interface ChannelFormat {
  name: string;
  terminals: Terminals;
  states: States;
  /** The state in which a message begins. */
  start: string;
  /** The terminal after which the prompt's last turn begins. */
  turnStart: string;
  readName: NonNullable<ToolFormat['readName']>;
  /** What stands between several blocks of reasoning, and of content. */
  joiner: string;
  writing: ChannelWriting;
}

/** Reasoning and calls of one model in one machine; made by `compose`. */
export interface MessageFormat {
  reasoning: ReasoningFormat | null;
  tools: ToolFormat | null;
  channels: ChannelFormat | null;
  /** Tags around the answer, where the family has some. */
  answer?: AnswerWriting;
  terminals: Terminals;
  /** No white space of the content is layout, but at calls: a grammar asks for what is there. */
  isVerbatim?: boolean;
  /** States with the reasoning markers at work, and without them (thinking switched off). */
  states: { thinking: States; plain: States };
}
