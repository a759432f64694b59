import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StopStrings } from '../../../src/chat/stop-strings.ts';

function run(stops: string[], pieces: string[]): { text: string; matched: boolean } {
  const matcher = new StopStrings(stops);
  let text = '';
  for (const piece of pieces) {
    const result = matcher.push(piece);
    text += result.text;
    if (result.matched !== null) return { text, matched: true };
  }
  return { text: text + matcher.release(), matched: false };
}

/** The plain statement of the rule: the first prefix of the text that ends with a stop string ends it. */
function expected(stops: string[], text: string): { text: string; matched: boolean } {
  for (let end = 1; end <= text.length; end++) {
    const matching = stops.filter((stop) => text.slice(0, end).endsWith(stop));
    const longest = Math.max(0, ...matching.map((stop) => stop.length));
    if (longest > 0) return { text: text.slice(0, end - longest), matched: true };
  }
  return { text, matched: false };
}

describe('StopStrings', () => {
  it('delivers the text before the match and nothing of what is held back', () => {
    const matcher = new StopStrings(['END']);
    expect(matcher.push('all EN')).toEqual({ text: 'all ', matched: null });
    expect(matcher.push('E')).toEqual({ text: 'EN', matched: null });
    expect(matcher.push('ND and more')).toEqual({ text: '', matched: 'END' });
  });

  it('gives out a beginning that came to nothing', () => {
    const matcher = new StopStrings(['END']);
    matcher.push('EN');
    expect(matcher.release()).toBe('EN');
    expect(matcher.release()).toBe('');
  });

  it('does not depend on how the text was cut', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '\n'), maxLength: 14 });
    const stop = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '\n'), minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(
        fc.array(stop, { minLength: 1, maxLength: 4 }),
        letters,
        fc.infiniteStream(fc.nat(3)),
        (stops, text, sizes) => {
          const pieces: string[] = [];
          for (let at = 0; at < text.length; ) {
            const size = 1 + (sizes.next().value ?? 0);
            pieces.push(text.slice(at, at + size));
            at += size;
          }
          expect(run(stops, pieces)).toEqual(expected(stops, text));
        },
      ),
      { numRuns: 2000 },
    );
  });
});
