import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEAD } from '../../../worker/grammar/language/automaton.ts';
import { type Language, languageOf } from '../../../worker/grammar/language/language.ts';

/** Whether a text is in the language; null where it went wrong before its end. */
function follow(language: Language, text: string): boolean | null {
  let state = language.start;
  for (const character of text) {
    const code = character.codePointAt(0)!;
    const admitted = state !== DEAD && language.admits(state, code, code);
    const next = state === DEAD ? DEAD : language.step(state, code);
    expect(admitted).toBe(next !== DEAD);
    if (next === DEAD) return null;
    state = next;
  }
  return language.accepts(state);
}

describe('a text of so many characters without another text', () => {
  const texts = fc.string({ unit: fc.constantFrom('<', 'a', '>', '😀'), maxLength: 9 });

  it('is followed without an automaton of all lengths', () => {
    fc.assert(
      fc.property(texts, fc.nat(4), fc.nat(4), fc.boolean(), (text, min, more, isOpen) => {
        const max = isOpen ? null : min + more;
        const language = languageOf([[{ min, max }, { notPattern: '<a>' }]]);
        const length = Array.from(text).length;
        const isWrong = text.includes('<a>') || (max !== null && length > max);
        expect(follow(language, text)).toBe(isWrong ? null : length >= min);
      }),
    );
  });

  it('may be long', () => {
    const language = languageOf([[{ min: 3, max: 100_000 }, { notPattern: '<a>' }]]);
    expect(follow(language, 'a'.repeat(100_000))).toBe(true);
    expect(follow(language, 'a'.repeat(100_001))).toBe(null);
    expect(follow(language, `${'<'.repeat(50_000)}a>`)).toBe(null);
  });

  it('has states alike where no token of a length tells them apart', () => {
    const language = languageOf([[{ min: 0, max: 1000 }, { notPattern: '<a>' }]]);
    const stateBehind = (text: string) =>
      Array.from(text).reduce((state, c) => language.step(state, c.codePointAt(0)!), language.start);
    expect(language.key(stateBehind('aa'), 8)).toBe(language.key(stateBehind('aaaa'), 8));
    expect(language.key(stateBehind('aa'), 8)).not.toBe(language.key(stateBehind('a<'), 8));
    expect(language.key(stateBehind('a'), 8)).not.toBe(language.key(stateBehind('a'.repeat(995)), 8));
  });
});
