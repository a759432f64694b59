/** The registry: formats by name, loaded when they are asked for, and the recognition of a model's own. */
import { BadRequestError, ModelLoadError } from '../errors.ts';
import { compose, composeChannels } from '../parser/compose.ts';
import {
  type ChannelFormat,
  type MessageFormat,
  type ReasoningFormat,
  spellings,
  type ToolFormat,
} from '../parser/format.ts';
import type { Family, Registered, TemplateFacts } from './family.ts';
import { withoutComments } from './template-text.ts';

export type { TemplateFacts } from './family.ts';

/** One line a family file; the names are those of its formats and their aliases. */
const FAMILIES: readonly {
  reasoning: readonly string[];
  tools: readonly string[];
  load: () => Promise<{ family: Family }>;
}[] = [
  { reasoning: ['qwen3', 'mimo', 'think_tags'], tools: [], load: () => import('./qwen3.ts') },
  { reasoning: [], tools: ['hermes'], load: () => import('./hermes.ts') },
  { reasoning: [], tools: ['qwen3_coder', 'qwen3_xml', 'mimo'], load: () => import('./qwen3-coder.ts') },
  { reasoning: ['deepseek_r1'], tools: [], load: () => import('./deepseek-r1.ts') },
  {
    reasoning: ['deepseek_v3'],
    tools: ['deepseek_v3', 'deepseek_v31'],
    load: () => import('./deepseek-v3.ts'),
  },
  {
    reasoning: ['deepseek_v4', 'deepseek_v41'],
    tools: ['deepseek_v32', 'deepseek_v4', 'deepseek_v41'],
    load: () => import('./deepseek-dsml.ts'),
  },
  { reasoning: ['kimi_k2'], tools: ['kimi_k2'], load: () => import('./kimi-k2.ts') },
  {
    reasoning: ['minimax_m2', 'minimax_m2_append_think'],
    tools: ['minimax_m2'],
    load: () => import('./minimax-m2.ts'),
  },
  { reasoning: ['glm45', 'glm47'], tools: ['glm45', 'glm47'], load: () => import('./glm.ts') },
  { reasoning: ['mistral'], tools: ['mistral'], load: () => import('./mistral.ts') },
  { reasoning: [], tools: ['llama3_json'], load: () => import('./llama3-json.ts') },
  { reasoning: [], tools: ['pythonic'], load: () => import('./pythonic.ts') },
  { reasoning: [], tools: ['llama4_json', 'llama4_pythonic'], load: () => import('./llama4.ts') },
  { reasoning: ['granite'], tools: ['granite'], load: () => import('./granite.ts') },
  {
    reasoning: ['granite_thinking', 'granite_thinking_parser'],
    tools: [],
    load: () => import('./granite-thinking.ts'),
  },
  { reasoning: ['nemotron_v3'], tools: [], load: () => import('./nemotron-v3.ts') },
  { reasoning: ['seed_oss'], tools: ['seed_oss'], load: () => import('./seed-oss.ts') },
  { reasoning: ['step3'], tools: ['step3'], load: () => import('./step3.ts') },
  { reasoning: ['step3p5'], tools: ['step3p5'], load: () => import('./step3p5.ts') },
  { reasoning: ['ernie45'], tools: ['ernie45'], load: () => import('./ernie45.ts') },
  { reasoning: ['hunyuan_a13b'], tools: ['hunyuan_a13b'], load: () => import('./hunyuan-a13b.ts') },
  { reasoning: ['hy_v3', 'hy_v4'], tools: ['hy_v3', 'hy_v4'], load: () => import('./hy-v3.ts') },
  { reasoning: ['olmo3'], tools: ['olmo3'], load: () => import('./olmo3.ts') },
  { reasoning: ['gemma4'], tools: ['gemma4'], load: () => import('./gemma4.ts') },
  { reasoning: [], tools: ['functiongemma'], load: () => import('./functiongemma.ts') },
  { reasoning: ['holo2'], tools: [], load: () => import('./holo2.ts') },
  { reasoning: ['ling3'], tools: ['ling3'], load: () => import('./ling3.ts') },
  { reasoning: ['poolside_v1'], tools: ['poolside_v1'], load: () => import('./poolside-v1.ts') },
  { reasoning: ['kimi_k3'], tools: ['kimi_k3'], load: () => import('./kimi-k3.ts') },
  { reasoning: ['minimax_m3'], tools: ['minimax_m3'], load: () => import('./minimax-m3.ts') },
  { reasoning: [], tools: ['longcat'], load: () => import('./longcat.ts') },
  { reasoning: [], tools: ['granite4'], load: () => import('./granite4.ts') },
  { reasoning: [], tools: ['granite-20b-fc'], load: () => import('./granite-20b-fc.ts') },
  { reasoning: [], tools: ['lfm2'], load: () => import('./lfm2.ts') },
  { reasoning: [], tools: ['internlm'], load: () => import('./internlm.ts') },
  { reasoning: [], tools: ['jamba'], load: () => import('./jamba.ts') },
  { reasoning: [], tools: ['phi4_mini_json', 'phi4_mini'], load: () => import('./phi4-mini-json.ts') },
  { reasoning: [], tools: ['xlam'], load: () => import('./xlam.ts') },
  { reasoning: [], tools: ['gigachat3'], load: () => import('./gigachat3.ts') },
  { reasoning: ['gigachat35'], tools: ['gigachat35'], load: () => import('./gigachat35.ts') },
  { reasoning: ['apertus'], tools: ['apertus'], load: () => import('./apertus.ts') },
  { reasoning: [], tools: ['minicpm5'], load: () => import('./minicpm5.ts') },
  {
    reasoning: ['cohere_command3', 'cohere_command4'],
    tools: ['cohere_command3', 'cohere_command4'],
    load: () => import('./cohere.ts'),
  },
  { reasoning: [], tools: ['minimax'], load: () => import('./minimax.ts') },
  { reasoning: ['solar_open2'], tools: ['solar_open2'], load: () => import('./solar-open2.ts') },
  { reasoning: ['k2_horizon'], tools: ['k2_horizon'], load: () => import('./k2-horizon.ts') },
  { reasoning: [], tools: ['dots'], load: () => import('./dots.ts') },
  { reasoning: ['plamo3'], tools: ['plamo3'], load: () => import('./plamo3.ts') },
  { reasoning: ['apriel'], tools: ['apriel'], load: () => import('./apriel.ts') },
  { reasoning: [], tools: ['mirothinker'], load: () => import('./mirothinker.ts') },
  { reasoning: ['inkling'], tools: ['inkling'], load: () => import('./inkling.ts') },
  {
    reasoning: ['gptoss', 'openai_gptoss'],
    tools: ['gptoss', 'openai'],
    load: () => import('./gptoss.ts'),
  },
];

/** A format with its names, for lists of them. */
export interface CataloguedFormat {
  kind: 'reasoning' | 'tools' | 'channels';
  name: string;
  aliases: readonly string[];
  format: ReasoningFormat | ToolFormat | ChannelFormat;
}

/** All formats, in the registry's order. */
export async function catalogue(): Promise<CataloguedFormat[]> {
  const families = await loadAll();
  return families.flatMap(({ reasoning = [], tools = [], channels }) => {
    const entries = (
      kind: CataloguedFormat['kind'],
      formats: readonly Registered<ReasoningFormat | ToolFormat | ChannelFormat>[],
    ) => formats.map(({ format, aliases = [] }) => ({ kind, name: format.name, aliases, format }));
    return [
      ...entries('reasoning', reasoning),
      ...entries('tools', tools),
      ...entries('channels', channels ? [channels] : []),
    ];
  });
}

const loadAll = () => Promise.all(FAMILIES.map(async ({ load }) => (await load()).family));

export interface FormatNames {
  reasoning: string | null;
  tools: string | null;
}

/** Names that `loadFormat` knows, aliases included. */
export const formatNames = {
  reasoning: FAMILIES.flatMap(({ reasoning }) => reasoning),
  tools: FAMILIES.flatMap(({ tools }) => tools),
} as const;

/**
 * The machine for a reasoning format and a tool format; `null` stands for none.
 * @throws BadRequestError for a name that is not known
 */
export async function loadFormat(names: FormatNames): Promise<MessageFormat> {
  const [reasoning, tools] = await Promise.all([
    load('reasoning', names.reasoning),
    load('tools', names.tools),
  ]);
  const channels = reasoning?.channels ?? tools?.channels;
  if (channels) return channelFormat(names, channels, reasoning?.channels, tools?.channels);
  return compose(find(reasoning?.reasoning, names.reasoning), find(tools?.tools, names.tools));
}

/** Channels carry reasoning and calls together: with another family's format they can't be mixed. */
function channelFormat(
  names: FormatNames,
  channels: NonNullable<Family['channels']>,
  reasoning: Family['channels'],
  tools: Family['channels'],
): MessageFormat {
  if (reasoning === tools) return composeChannels(channels.format);
  if (names.reasoning !== null && names.tools !== null) {
    throw new BadRequestError(
      `The format "${channels.format.name}" reads reasoning and calls together; ` +
        `name it for both, or null for one, instead of "${names.reasoning}" with "${names.tools}".`,
      { param: reasoning ? 'toolParser' : 'reasoningParser', code: 'format_mismatch' },
    );
  }
  return composeChannels(
    channels.without({ reasoning: names.reasoning !== null, tools: names.tools !== null }),
  );
}

function find<Format extends ReasoningFormat | ToolFormat>(
  formats: readonly Registered<Format>[] | undefined,
  name: string | null,
): Format | null {
  const found = formats?.find(({ format, aliases }) => format.name === name || aliases?.includes(name ?? ''));
  return found?.format ?? null;
}

async function load(kind: 'reasoning' | 'tools', name: string | null): Promise<Family | null> {
  if (name === null) return null;
  const entry = FAMILIES.find((family) => family[kind].includes(name));
  if (entry) return (await entry.load()).family;
  const param = kind === 'reasoning' ? 'reasoningParser' : 'toolParser';
  throw new BadRequestError(`Unknown ${param} "${name}". Known are: ${formatNames[kind].join(', ')}.`, {
    param,
    code: 'unknown_format',
  });
}

/** What was recognised, and for each kind why it was not. */
export interface RecognisedFormat extends FormatNames {
  warnings: FormatNames;
  /** Both warnings in one text. */
  warning: string | null;
}

/**
 * The formats of a model, from its chat template and vocabulary. What is unknown or ambiguous is null, with a warning;
 * so is a format that the template shows, but whose markers the vocabulary lacks.
 */
export async function recogniseFormat(model: TemplateFacts): Promise<RecognisedFormat> {
  const families = await loadAll();
  const facts = { ...model, chatTemplate: withoutComments(model.chatTemplate) };
  const recognise = (kind: 'reasoning' | 'tools') => {
    const found = families.flatMap((family) => {
      const formats: readonly Registered<ReasoningFormat | ToolFormat | ChannelFormat>[] = [
        ...(family[kind] ?? []),
        ...(family.channels ? [family.channels] : []),
      ];
      return formats.filter((registered) => registered.recognise(facts));
    });
    const passedOver = new Set(found.flatMap(({ over = [] }) => over));
    const shown = found.map(({ format }) => format).filter(({ name }) => !passedOver.has(name));
    const lacking = shown.flatMap((format) =>
      missingTokens(format, facts.hasToken)
        .slice(0, 1)
        .map((texts) => ({ format, texts })),
    );
    const names = shown
      .filter((format) => !lacking.some((other) => other.format === format))
      .map(({ name }) => name);
    const reason =
      names.length > 1
        ? `the chat template could be that of ${names.join(' or ')}.`
        : lacking.length > 0
          ? lacking.map(({ format, texts }) => withoutToken(format.name, texts)).join(' ')
          : 'the chat template is of no known format.';
    return { names, isShown: shown.length > 0, reason };
  };
  const reasoning = recognise('reasoning');
  const tools = recognise('tools');
  const warnings: FormatNames = { reasoning: null, tools: null };
  const { chatTemplate } = model;
  if (reasoning.names.length !== 1 && (reasoning.isShown || /think/i.test(chatTemplate))) {
    warnings.reasoning = `Reasoning is not split: ${reasoning.reason} Set reasoningParser to one of ${formatNames.reasoning.join(', ')}.`;
  }
  if (tools.names.length !== 1 && (tools.isShown || /\btools?\b/.test(chatTemplate))) {
    warnings.tools = `Calls are not recognised: ${tools.reason} Set toolParser to one of ${formatNames.tools.join(', ')}.`;
  }
  return {
    reasoning: reasoning.names.length === 1 ? reasoning.names[0]! : null,
    tools: tools.names.length === 1 ? tools.names[0]! : null,
    warnings,
    warning: [warnings.reasoning, warnings.tools].filter((text) => text !== null).join(' ') || null,
  };
}

type Marked = Pick<MessageFormat, 'terminals'>;

/** Spellings of each marker that must be a token and is none. */
const missingTokens = ({ terminals }: Marked, hasToken: (text: string) => boolean) =>
  Object.values(terminals)
    .filter(({ token }) => token === 'required')
    .map(spellings)
    .filter((texts) => !texts.some(hasToken));

const withoutToken = (format: string, texts: readonly string[]) =>
  `the chat template looks like that of ${format}, but the vocabulary has no token ${texts.join(' or ')}.`;

/**
 * Makes sure that a model can write a format at all.
 * @throws ModelLoadError when the vocabulary lacks a marker that must be a token of its own
 */
export function checkVocabulary(
  format: MessageFormat,
  vocabulary: { idOf(text: string): number | undefined },
): void {
  const [texts] = missingTokens(format, (text) => vocabulary.idOf(text) !== undefined);
  if (!texts) return;
  const names = [format.channels?.name, format.reasoning?.name, format.tools?.name]
    .filter(Boolean)
    .join(' and ');
  throw new ModelLoadError(
    `The model's vocabulary has no token ${texts.join(' or ')}, which the format ${names} needs. ` +
      'Choose another reasoningParser or toolParser, or null for none.',
    { code: 'format_mismatch' },
  );
}
