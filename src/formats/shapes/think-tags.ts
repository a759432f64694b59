import type { ReasoningFormat } from '../../parser/format.ts';

type Tags = Pick<ReasoningFormat, 'name'> &
  Partial<Omit<ReasoningFormat, 'terminals' | 'start' | 'end'>> & {
    start?: string | readonly string[];
    end?: string | readonly string[];
    token?: 'required' | 'optional' | 'never';
    /** Terminals of the family's other markers. */
    others?: ReasoningFormat['terminals'];
  };

/**
 * Reasoning between two tags. What is not said: `<think>` and `</think>`, tokens of their own; the model thinks
 * unless it is told not to, beginning inside the block; a call's opener ends it; switched off, tags are text.
 */
export function thinkTags(tags: Tags): ReasoningFormat {
  const { start = '<think>', end = '</think>', token = 'required', others, ...facts } = tags;
  return {
    thinkingByDefault: true,
    implicitStart: true,
    callEndsReasoning: true,
    literalWhenOff: true,
    ...facts,
    terminals: { THINK_START: { text: start, token }, THINK_END: { text: end, token }, ...others },
    start: 'THINK_START',
    end: 'THINK_END',
  };
}
