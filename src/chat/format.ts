import type { Vocabulary } from '../detokenizer/vocabulary.ts';
import { checkVocabulary, loadFormat, recogniseFormat } from '../formats/index.ts';
import { compose, createParser, type HeldAnswer, heldFormat } from '../parser/index.ts';
import type { Parser } from '../parser/parser.ts';
import { continuedText, type PromptEnd } from '../protocol.ts';
import type { DeclaredTool } from './tools.ts';

export interface FormatOptions {
  /** Name of the reasoning format; `null` for none; unset: recognised from the chat template. */
  reasoningParser?: string | null;
  /** Name of the tool format; `null` for none: call markup stays text. Unset: recognised. */
  toolParser?: string | null;
  /** `false`: tools are not offered to the model, and call markup stays text. Default `true`. */
  toolCalling?: boolean;
}

/** Which format splits the model's output, and how it was found. */
export interface FormatReport {
  reasoning: string | null;
  tools: string | null;
  /** `option`: at least one name was given. `template`: recognised. `none`: neither. */
  source: 'option' | 'template' | 'none';
  /** What could not be recognised, for people. */
  warning: string | null;
}

/** What a request brings to its parsers. */
export interface ParserRequest {
  tools: readonly DeclaredTool[];
  templateArguments: Record<string, unknown>;
  callsInHistory: number;
  /** Tokens that end the answer. */
  stopTokenIds?: readonly number[];
  showsControlTokens?: boolean;
  promptTokenIds: Uint32Array;
  promptEnd?: PromptEnd;
  /** The answer is text, whatever it looks like. */
  isText?: boolean;
  /** Set when a grammar leads the answer behind its reasoning. */
  grammar: HeldAnswer | null;
}

export interface ChosenFormat {
  report: FormatReport;
  /** Why tools cannot be used; `null` where they can. */
  toolsUnavailable: string | null;
  createParser: (request: ParserRequest) => Parser;
}

const text = compose(null, null);

/** Checks explicit names before anything is downloaded. Throws a `BadRequestError` that lists the known ones. */
export async function checkFormatNames({ reasoningParser, toolParser }: FormatOptions): Promise<void> {
  if (!reasoningParser && !toolParser) return;
  await loadFormat({ reasoning: reasoningParser ?? null, tools: toolParser ?? null });
}

/**
 * Chooses the format of a loaded model: explicit names, else what its chat template shows. Throws a
 * `ModelLoadError` where the vocabulary lacks a marker that the format needs.
 */
export async function chooseFormat(
  options: FormatOptions,
  model: { chatTemplate: string; vocabulary: Vocabulary },
): Promise<ChosenFormat> {
  const { reasoningParser, toolParser, toolCalling = true } = options;
  const { vocabulary } = model;
  const recognised = await recogniseFormat({
    chatTemplate: model.chatTemplate,
    hasToken: (text) => vocabulary.idOf(text) !== undefined,
  });
  const recognisesTools = toolCalling && toolParser === undefined;
  const reasoning = reasoningParser === undefined ? recognised.reasoning : reasoningParser;
  const tools = recognisesTools ? recognised.tools : toolCalling ? (toolParser ?? null) : null;
  const warnings = [
    reasoningParser === undefined ? recognised.warnings.reasoning : null,
    recognisesTools ? recognised.warnings.tools : null,
  ];
  const format = await loadFormat({ reasoning, tools });
  checkVocabulary(format, vocabulary);
  const named = reasoningParser !== undefined || toolParser !== undefined;
  const report: FormatReport = {
    reasoning,
    tools,
    source: named ? 'option' : reasoning || tools ? 'template' : 'none',
    warning: warnings.filter((text) => text !== null).join(' ') || null,
  };
  return {
    report,
    toolsUnavailable:
      tools === null && toolParser === undefined
        ? "The chat template of this model shows no known format for tool calls. Remove 'tools', or name the " +
          'format with createEngine({ toolParser }); toolParser: null offers them and leaves calls as text.'
        : null,
    createParser: (request) =>
      createParser({
        format: request.isText
          ? text
          : request.grammar
            ? heldFormat(
                format,
                request.grammar,
                request.tools.map(({ name }) => name),
              )
            : format,
        tools: request.tools,
        vocabulary,
        templateArguments: request.templateArguments,
        prompt: { ids: request.promptTokenIds },
        callsInHistory: request.callsInHistory,
        continues: continuedText(request.promptEnd),
        stopTokenIds: request.stopTokenIds,
        showsControlTokens: request.showsControlTokens,
      }),
  };
}
