/**
 * Control characters that mean something between our grammars and the vocabulary that xgrammar is given. The tokens
 * of the model that hold one of them are withheld from it, so no text can imitate a sign.
 */

/**
 * Begins a signal: a token that no model has, by which a grammar tells where it stands. Its text is `SIGNAL`
 * and three digits; with `SIGNAL` twice it only asks.
 */
export const SIGNAL = '\u0001';

/** Encloses the text of an added token, so that its spelling in ordinary tokens is just text, and the other way round. */
export const TOKEN_START = '\u0002';
export const TOKEN_END = '\u0003';

/** Signals that one grammar can have. */
export const SIGNAL_LIMIT = 256;

/** Text of the token that says signal `number` was taken. */
export const signalText = (number: number) => `${SIGNAL}${String(number).padStart(3, '0')}`;

/** Text of the token whose bit in the mask says that signal `number` can be taken later. */
export const questionText = (number: number) => SIGNAL + signalText(number);

/**
 * Several signals taken at once, by which all that one of them leads to goes on: `GROUP_START`, the signals in any
 * order, `GROUP_END`.
 */
export const GROUP_START = `${SIGNAL}(`;
export const GROUP_END = `${SIGNAL})`;
/** Stands in a group for what no guard follows. */
export const PLAIN = `${SIGNAL}-`;
/** Text of the token whose bit in the mask says that what no guard follows can be part of a group. */
export const PLAIN_QUESTION = SIGNAL + PLAIN;
