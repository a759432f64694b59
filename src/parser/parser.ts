import type { EndOfStream, ParserEvent } from './events.ts';
import type { Owners } from './owners.ts';

/** One piece of a stream: token ids (the usual case) or text without ids (a remote server). */
export type ParserDelta = { ids: ArrayLike<number> } | { text: string };

/** Splits one choice's stream into events. One instance a choice, never shared. */
export interface Parser {
  /** Cost is proportional to the delta, never to the history. */
  feed(delta: ParserDelta): ParserEvent[];
  /** Ends the stream and settles what was held back. Nothing may be fed afterwards. */
  finish(end: EndOfStream): ParserEvent[];
  /** Tokens read in the reasoning state, markers excluded, delivered or not. */
  readonly reasoningTokens: number;
  /** True while the next character would be reasoning. */
  readonly inReasoning: boolean;
  /** Characters read so far by what they became; each has one owner. Complete after `finish`. */
  readonly owners: Readonly<Owners>;
}
