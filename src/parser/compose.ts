import {
  type ChannelFormat,
  CONTENT,
  type MessageFormat,
  REASONING,
  type ReasoningFormat,
  type State,
  type States,
  spellings,
  type Terminal,
  type Terminals,
  type ToolFormat,
  type Transition,
} from './format.ts';

/**
 * One machine from a reasoning format and a tool format, either of which may be missing.
 *
 * ```
 * <think>Look it up.</think>On it. <tool_call>…</tool_call>
 * ^^^^^^^                                      start: CONTENT → REASONING, absorbed in REASONING
 *                   ^^^^^^^^                   end:   REASONING → CONTENT, absorbed in CONTENT
 *                                  ^^^^^^^^^^^  opener: CONTENT (and REASONING, if the family says so) → tool states
 * ```
 */
export function compose(reasoning: ReasoningFormat | null, tools: ToolFormat | null): MessageFormat {
  const openers = tools?.openers ?? {};
  const terminals = { ...tools?.terminals, ...reasoning?.terminals };
  const answer = reasoning?.answer ?? tools?.answer;
  const plain: States = { ...tools?.states, [CONTENT]: { text: 'content', on: openers } };
  if (!reasoning) {
    return {
      reasoning,
      tools,
      channels: null,
      ...(answer && { answer }),
      terminals,
      states: { thinking: withUnclosed(plain, terminals), plain: withUnclosed(plain, terminals) },
    };
  }
  const { start, end, label } = reasoning;
  // A second end marker is absorbed where it cannot be text of the answer.
  const isToken = reasoning.terminals[end]!.token !== 'never';
  // A grammar behind the reasoning begins at once: what is spelled out ends it even between backticks.
  const endsWhen = isToken ? 'unquoted' : undefined;
  const content: State = {
    text: 'content',
    on: {
      ...openers,
      [start]: { to: REASONING, when: 'unquoted', do: ['reasoning-start'] },
      ...(isToken && { [end]: { to: CONTENT, when: 'unquoted' } }),
      ...reasoning.contentMarkers,
    },
  };
  const openersInReasoning = reasoning.callEndsReasoning
    ? Object.fromEntries((tools?.openersInReasoning ?? []).map((name) => [name, openers[name]!]))
    : {};
  const thinking: State = {
    text: 'reasoning',
    on: {
      ...openersInReasoning,
      ...(label !== undefined && { [label]: { to: REASONING, when: 'start' } }),
      [start]: { to: REASONING, when: 'unquoted' },
      [end]: { to: CONTENT, when: endsWhen, do: ['reasoning-end'] },
    },
  };
  const kept: State = {
    text: 'content',
    on: { ...openersInReasoning, [end]: { to: CONTENT, do: ['literal-unless-call'] } },
  };
  return {
    reasoning,
    tools,
    channels: null,
    ...(answer && { answer }),
    terminals,
    states: {
      thinking: withUnclosed(
        reasoning.keptAfter === undefined
          ? { ...plain, [CONTENT]: content, [REASONING]: thinking }
          : { ...plain, [REASONING]: kept },
        terminals,
      ),
      plain: withUnclosed(plain, terminals),
    },
  };
}

/**
 * With the states of content in an envelope: text came before the envelope was closed, and its closer is markup all
 * the same.
 *
 * ```
 * <tool_call>{"name": "f", "arguments": {}} Done.</tool_call> Bye.
 *                                          ^^^^^^             ^^^^^ text
 * ```
 *
 * `isHeld`: what opens a call in content is known, and nothing else does.
 */
export function withUnclosed(states: States, terminals: Terminals, isHeld = false): States {
  const content = states[CONTENT]!;
  const added: Record<string, State> = {};
  for (const [name, state] of Object.entries(states)) {
    const unclosed = `${name} ${CONTENT}`;
    if (state.otherwise !== CONTENT && state.otherwise !== unclosed) continue;
    const own = Object.entries(state.on).filter(([terminal, entry]) =>
      isOwn(terminals[terminal]!, entry, isHeld),
    );
    added[name] = { ...state, otherwise: unclosed };
    added[unclosed] = {
      text: 'content',
      on: {
        ...content.on,
        ...Object.fromEntries(own.map(([terminal, entry]) => [terminal, unquoted(entry as Transition)])),
      },
    };
  }
  return { ...states, ...added };
}

/** Whether a marker of an envelope means there, between words, what it means in its place: a bracket does not. */
function isOwn(terminal: Terminal, entry: State['on'][string], isHeld: boolean): boolean {
  if (Array.isArray(entry) || !spellings(terminal).every((text) => /\w/.test(text))) return false;
  const opens = (entry as Transition).hold !== undefined;
  return !opens || (!isHeld && terminal.token !== 'never');
}

const unquoted = (transition: Transition): Transition => ({ when: 'unquoted', ...transition });

/** The machine of a family with channels. */
export function composeChannels(channels: ChannelFormat): MessageFormat {
  const { terminals, states } = channels;
  return { reasoning: null, tools: null, channels, terminals, states: { thinking: states, plain: states } };
}

/**
 * Whether the model thinks, by the template's arguments: the family's own switch, else neither `thinking` nor
 * `enable_thinking` given is its default, otherwise either of them being true.
 */
export function isThinking(
  reasoning: ReasoningFormat,
  templateArguments: Readonly<Record<string, unknown>>,
): boolean {
  const switched = reasoning.readSwitch?.(templateArguments);
  if (switched !== undefined) return switched;
  const given = [templateArguments.thinking, templateArguments.enable_thinking].filter(
    (value) => value !== undefined && value !== null,
  );
  return given.length === 0 ? reasoning.thinkingByDefault : given.some(Boolean);
}
