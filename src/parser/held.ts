/**
 * The machine of an answer that a grammar leads: what begins a call there is known to the letter, nothing is broken,
 * and whatever else looks like markup is text.
 *
 * ```
 * See <function=f> and {"name": 1}. <tool_call>…</tool_call>
 *     ^^^^^^^^^^^^     ^               text, which without a grammar might begin a call
 *                                   ^^^^^^^^^^^  the only opener
 * ```
 *
 * Tags around the answer stay what they are: free text may have them, and a form where the grammar writes them.
 */
import { withUnclosed } from './compose.ts';
import {
  CONTENT,
  type MessageFormat,
  REASONING,
  type State,
  type States,
  spellings,
  type Terminals,
  type ToolFormat,
  type Transition,
  triggersOf,
} from './format.ts';

/** Terminal of an opener that is longer than what otherwise begins a call. */
const TRIGGER = 'TRIGGER';

/** What a grammar writes behind the reasoning. */
export interface HeldAnswer {
  calls: boolean;
  /** Content in a form of its own; calls come instead of it, not in it. */
  content: boolean;
  /** White space at the borders of the content is of that form, not layout. */
  isVerbatim?: boolean;
}

/** @param names of the functions that may be called */
export function heldFormat(
  format: MessageFormat,
  { calls, content: hasForm, isVerbatim = false }: HeldAnswer,
  names: readonly string[] = [],
): MessageFormat {
  // A message on a channel says what it is.
  if (format.channels) return { ...format, isVerbatim };
  const opener = calls && format.tools ? openerOf(format.tools, names, hasForm) : null;
  const hasTags = format.answer !== undefined || (calls && !hasForm);
  const tags = format.answer ? edgesOf(format.states.thinking[CONTENT]!) : {};
  const terminals = { ...format.terminals, ...asTokens(format.terminals, tags), ...opener?.terminals };
  const states = (all: States): States => {
    const edges = hasTags ? edgesOf(all[CONTENT]!) : {};
    const content: State = { ...all[CONTENT]!, on: { ...edges, ...opener?.on } };
    const reasoning = all[REASONING];
    return withUnclosed(
      {
        ...all,
        [CONTENT]: content,
        ...(reasoning && { [REASONING]: { ...reasoning, on: withoutOpeners(reasoning.on, format.tools) } }),
      },
      terminals,
      true,
    );
  };
  return {
    ...format,
    isVerbatim,
    terminals,
    states: { thinking: states(format.states.thinking), plain: states(format.states.plain) },
  };
}

/** The grammar writes the tags around the answer as tokens only: spelled, they are text. */
function asTokens(terminals: Terminals, tags: State['on']): Terminals {
  const names = Object.keys(tags).filter((name) => terminals[name]!.token === 'optional');
  return Object.fromEntries(names.map((name) => [name, { ...terminals[name]!, token: 'only' as const }]));
}

/** Transitions of the tags around the answer. */
function edgesOf({ on }: State): State['on'] {
  const isEdge = (entry: State['on'][string]) =>
    transitionsOf(entry).some(({ do: actions }) => actions?.includes('edge'));
  return Object.fromEntries(Object.entries(on).filter(([, entry]) => isEdge(entry)));
}

/** How the grammar's trigger leads to the states of a call, and what may stand between calls. */
function openerOf(
  { writing, openers, terminals }: ToolFormat,
  names: readonly string[],
  isFirst: boolean,
): { on: State['on']; terminals: Terminals } | null {
  if (!writing) return null;
  const triggers = triggersOf(writing, names);
  const [trigger] = triggers;
  if (trigger === undefined) return null;
  const begins = (name: string) => spellings(terminals[name]!).some((text) => trigger.startsWith(text));
  const name = Object.keys(openers).find(begins);
  if (name === undefined) throw new Error(`No opener begins the trigger ${trigger}.`);
  const terminal = { ...terminals[name]!, text: triggers };
  const isWhole = spellings(terminals[name]!).includes(trigger);
  const [first] = transitionsOf(openers[name]!);
  const { when: _, ...transition } = first!;
  const separators = Object.entries(openers).filter(([, entry]) =>
    transitionsOf(entry).some(({ do: actions }) => actions?.includes('literal-unless-call')),
  );
  const own = isWhole ? name : TRIGGER;
  return {
    on: {
      ...Object.fromEntries(separators),
      [own]: { ...transition, hold: 'any', ...(isFirst && { when: 'first' }) },
    },
    terminals: { [own]: terminal },
  };
}

const transitionsOf = (entry: State['on'][string]): readonly Transition[] =>
  Array.isArray(entry) ? entry : [entry as Transition];

/** The grammar begins behind the reasoning: no call can come before. */
function withoutOpeners(on: State['on'], tools: ToolFormat | null): State['on'] {
  return Object.fromEntries(Object.entries(on).filter(([name]) => !tools?.openersInReasoning.includes(name)));
}
