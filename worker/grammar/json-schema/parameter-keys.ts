/** Keys of parameters that the model chooses. */
import type { LanguagePart, LanguageSpec } from '../guard/spec.ts';

const KEY_REST = '[A-Za-z0-9_.-]{0,63}';
/** A key that the model chooses. */
export const KEY: LanguagePart = { pattern: `^[A-Za-z_]${KEY_REST}$` };
const LETTERS = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz');

/** A key that is declared, or what one is that the model chooses, behind its first character where that is given. */
export type Key = string | { start?: string; language: LanguageSpec };

/** Any key but these. Where its first character tells that it is none, a token may end with that. */
export function freeKeys(words: readonly string[]): Key[] {
  const isFirst = (character: string) => words.some((word) => word.startsWith(character));
  const first = LETTERS.filter(isFirst).join('');
  const rest = LETTERS.filter((character) => !isFirst(character)).join('');
  const free: Key = { start: `[${rest}]`, language: [[{ pattern: `^${KEY_REST}$` }]] };
  const held: Key = { language: [[{ pattern: `^[${first}]${KEY_REST}$` }, { not: words }]] };
  return [...(rest === '' ? [] : [free]), ...(first === '' ? [] : [held])];
}

/** A key that is none of these. */
export const freeKey = (keys: readonly string[], key = 'anykey'): string =>
  keys.includes(key) ? freeKey(keys, `${key}_`) : key;
