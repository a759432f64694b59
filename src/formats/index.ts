/** The registry: formats by name, loaded when they are asked for, and the recognition of a model's own. */
import { BadRequestError, ModelLoadError } from '../errors.ts';
import { compose } from '../parser/compose.ts';
import { type MessageFormat, spellings } from '../parser/format.ts';
import type { Family, TemplateFacts } from './family.ts';

export type { TemplateFacts } from './family.ts';

/** One line a family file; the names are those of its formats and their aliases. */
const FAMILIES: readonly {
  reasoning: readonly string[];
  tools: readonly string[];
  load: () => Promise<{ family: Family }>;
}[] = [
  { reasoning: ['qwen3'], tools: [], load: () => import('./qwen3.ts') },
  { reasoning: [], tools: ['hermes'], load: () => import('./hermes.ts') },
  { reasoning: [], tools: ['qwen3_coder', 'qwen3_xml'], load: () => import('./qwen3-coder.ts') },
];

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
  return compose(reasoning?.reasoning?.format ?? null, tools?.tools?.format ?? null);
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

/** The formats of a model, from its chat template and vocabulary. What is unknown or ambiguous is null, with a warning. */
export async function recogniseFormat(model: TemplateFacts): Promise<RecognisedFormat> {
  const families = await Promise.all(FAMILIES.map(async ({ load }) => (await load()).family));
  const matches = (kind: 'reasoning' | 'tools') =>
    families.flatMap((family) => {
      const registered = family[kind];
      return registered?.recognise(model) ? [registered.format.name] : [];
    });
  const reasoning = matches('reasoning');
  const tools = matches('tools');
  const warnings: FormatNames = { reasoning: null, tools: null };
  const { chatTemplate } = model;
  if (reasoning.length > 1 || (reasoning.length === 0 && /think/i.test(chatTemplate))) {
    warnings.reasoning = `Reasoning is not split: ${explain(reasoning)} Set reasoningParser to one of ${formatNames.reasoning.join(', ')}.`;
  }
  if (tools.length > 1 || (tools.length === 0 && /\btools?\b/.test(chatTemplate))) {
    warnings.tools = `Calls are not recognised: ${explain(tools)} Set toolParser to one of ${formatNames.tools.join(', ')}.`;
  }
  return {
    reasoning: reasoning.length === 1 ? reasoning[0]! : null,
    tools: tools.length === 1 ? tools[0]! : null,
    warnings,
    warning: [warnings.reasoning, warnings.tools].filter((text) => text !== null).join(' ') || null,
  };
}

const explain = (names: readonly string[]) =>
  names.length > 1
    ? `the chat template could be that of ${names.join(' or ')}.`
    : 'the chat template is of no known format.';

/**
 * Makes sure that a model can write a format at all.
 * @throws ModelLoadError when the vocabulary lacks a marker that must be a token of its own
 */
export function checkVocabulary(
  format: MessageFormat,
  vocabulary: { idOf(text: string): number | undefined },
): void {
  for (const terminal of Object.values(format.terminals)) {
    if (terminal.token !== 'required') continue;
    const texts = spellings(terminal);
    if (texts.some((text) => vocabulary.idOf(text) !== undefined)) continue;
    const names = [format.reasoning?.name, format.tools?.name].filter(Boolean).join(' and ');
    throw new ModelLoadError(
      `The model's vocabulary has no token ${texts.join(' or ')}, which the format ${names} needs. ` +
        'Choose another reasoningParser or toolParser, or null for none.',
      { code: 'format_mismatch' },
    );
  }
}
