// biome-ignore lint/suspicious/noControlCharactersInRegex: a JSON string may not hold them as they are
const NEEDS_ESCAPE = /["\\\u0000-\u001f]/g;

/**
 * Text as the inside of a JSON string. Unlike `JSON.stringify` it leaves half a character as it is: the other half
 * may come with the next piece.
 */
export const jsonCharacters = (text: string): string =>
  text.replace(NEEDS_ESCAPE, (character) => JSON.stringify(character).slice(1, -1));
