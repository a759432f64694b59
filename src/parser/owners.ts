import type { TextRole } from './format.ts';

/** Characters of the input by what they became. */
export interface Owners {
  reasoning: number;
  content: number;
  /** Names, keys, values and the text around them, of calls finished or not. */
  call: number;
  /** Markers, and white space that is layout. */
  markup: number;
}

/** Whose the text of a state is. */
export const OWNERS: Readonly<Record<TextRole, keyof Owners>> = {
  content: 'content',
  reasoning: 'reasoning',
  name: 'call',
  value: 'call',
  call: 'call',
  layout: 'markup',
  discard: 'markup',
};
