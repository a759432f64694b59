import type { ChannelFormat, ReasoningFormat, ToolFormat } from '../parser/format.ts';

/** What is known of a model before it has said a word. */
export interface TemplateFacts {
  /** The chat template's source. */
  chatTemplate: string;
  /** Whether the vocabulary has an added token with exactly this text. */
  hasToken(text: string): boolean;
}

/** A format with what the registry needs of it. */
export interface Registered<Format extends ReasoningFormat | ToolFormat | ChannelFormat> {
  format: Format;
  /** Other names under which servers know it. */
  aliases?: readonly string[];
  /** Whether a model's template and vocabulary are this format's, and no other's. */
  recognise(model: TemplateFacts): boolean;
  /** Names of formats whose models can look alike: where both are recognised, it is this one. */
  over?: readonly string[];
}

/** What a family file exports. */
export interface Family {
  reasoning?: readonly Registered<ReasoningFormat>[];
  tools?: readonly Registered<ToolFormat>[];
  /** Reasoning and calls in one; known under both kinds of name. `parts` says which of them are asked for. */
  channels?: Registered<ChannelFormat> & {
    without(parts: { reasoning: boolean; tools: boolean }): ChannelFormat;
  };
}
