import {
  type ChannelFormat,
  CONTENT,
  type MessageFormat,
  REASONING,
  type ReasoningFormat,
  type State,
  type States,
  type ToolFormat,
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
  const plain: States = { ...tools?.states, [CONTENT]: { text: 'content', on: openers } };
  if (!reasoning) {
    return {
      reasoning,
      tools,
      channels: null,
      terminals: { ...tools?.terminals },
      states: { thinking: plain, plain },
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
      ...reasoning.contentMarkers,
      [start]: { to: REASONING, when: 'unquoted', do: ['reasoning-start'] },
      ...(isToken && { [end]: { to: CONTENT, when: 'unquoted' } }),
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
    terminals: { ...tools?.terminals, ...reasoning.terminals },
    states: {
      thinking:
        reasoning.keptAfter === undefined
          ? { ...plain, [CONTENT]: content, [REASONING]: thinking }
          : { ...plain, [REASONING]: kept },
      plain,
    },
  };
}

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
