import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Guard } from '../../../worker/grammar/guard/guard.ts';
import { Marks } from '../../../worker/grammar/guard/marks.ts';
import type { LanguagePart } from '../../../worker/grammar/guard/spec.ts';
import { Outcome, Walker } from '../../../worker/grammar/guard/walker.ts';
import { languageOf } from '../../../worker/grammar/language/language.ts';
import { testModel } from './models.ts';

const { vocabulary } = testModel('tiny').engine;
const ids = Array.from({ length: vocabulary.width }, (_, id) => id).filter(
  (id) => vocabulary.bytes(id).length > 0,
);

const PARTS: Record<string, LanguagePart[]> = {
  anything: [],
  'a short text': [{ min: 2, max: 9 }],
  'a long text': [{ min: 0, max: 300 }],
  'a long text without a space at its end': [{ min: 1, max: 300 }, { notPattern: '\\s$' }],
  'no closing tag': [{ notPattern: '</p>' }],
  'no closing tag, short': [{ notPattern: '\\n<p=a>' }, { notPattern: '</' }, { min: 1, max: 12 }],
  'a pattern': [{ pattern: '^[a-z<\\n ]*$' }],
  words: [{ words: ['one', 'two\n', 'é😀'] }],
};

describe.each(Object.entries(PARTS))('%s', (_, parts) => {
  it.each(['\n</p>', '</p>', '\n\n</'])('lets the tokens come that lead on, up to %j', (closer) => {
    const guard = new Guard({ kind: 'text', language: [parts], closer }, vocabulary);
    const walker = new Walker(
      languageOf([parts]),
      { quote: '', escapesHalves: true, closer, isClosedByToken: false, avoid: null },
      64,
    );
    const leadsOn = (place: Int32Array, id: number) => {
      walker.set(0, place);
      for (const [row, byte] of vocabulary.bytes(id).entries()) {
        const outcome = walker.step(row, byte);
        if (outcome !== Outcome.alive) return outcome === Outcome.finished;
      }
      return true;
    };
    const choices = fc.array(fc.nat(), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(choices, (numbers) => {
        let place: Int32Array | null = guard.start();
        for (const [count, number] of numbers.entries()) {
          const mask = guard.mask(place);
          const allowed = ids.filter((id) => ((mask[id >> 5]! >>> (id & 31)) & 1) === 1);
          expect(allowed).toEqual(ids.filter((id) => leadsOn(place!, id)));
          // Every other time something that may be part of the closer.
          const near = allowed.filter((id) => /^[\n<]/.test(String.fromCharCode(...vocabulary.bytes(id))));
          const among = count % 2 === 0 && near.length > 0 ? near : allowed;
          if (among.length === 0) return;
          place = guard.accept(place, among[number % among.length]!);
          if (!place) return;
        }
      }),
      { numRuns: 15, seed: 11 },
    );
  });
});

it('a string goes on with all tokens but those that complete what it avoids', () => {
  const avoid = ['</p>', '<｜b', '&lt;'];
  const guard = new Guard({ kind: 'string', language: [[]], avoid }, vocabulary);
  const spelling = { quote: '"', escapesHalves: true, closer: '', isClosedByToken: false };
  const walker = new Walker(languageOf([[]]), { ...spelling, avoid: new Marks(avoid) }, 64);
  const written = (text: string) => {
    let place = guard.start();
    for (const byte of new TextEncoder().encode(text)) {
      walker.set(0, place);
      if (walker.step(0, byte) !== Outcome.alive) return null;
      place = walker.get(1);
    }
    return place;
  };
  for (const text of ['', '<', 'x</', '</p', '<</p', '<｜', '<<｜', '&lt', '&&l', '<\\/p', '</\\u0070']) {
    const mask = guard.mask(written(text)!);
    const wrong = ids.filter((id) => {
      const bytes = vocabulary.bytes(id);
      const isAllowed = ((mask[id >> 5]! >>> (id & 31)) & 1) === 1;
      walker.set(0, written(text)!);
      const end = [...bytes]
        .map((byte, row) => row >= 0 && walker.step(row, byte))
        .find((one) => one !== Outcome.alive);
      return isAllowed !== (end === undefined || end === Outcome.finished);
    });
    expect(wrong, text).toEqual([]);
  }
  for (const text of ['</p>', 'x<</p>', '<｜b', '&amp;&lt;']) expect(written(text), text).toBeNull();
  for (const text of ['<p>', '</p >', '<\\/p>', '\\u003c/p>', '</\\u0070>', '&lt', '<｜a'])
    expect(written(text), text).not.toBeNull();
});

it('a text with a bound has room for its end, whatever comes', () => {
  const language = [[{ min: 0, max: 70 }, { notPattern: '\\s$' }, { notPattern: '^.*[^x]y$' }]];
  const guard = new Guard({ kind: 'text', language, closer: '</p>' }, vocabulary);
  const spaces = ids.filter((id) => /^ +$/.test(String.fromCharCode(...vocabulary.bytes(id))));
  fc.assert(
    fc.property(fc.array(fc.nat(), { minLength: 300, maxLength: 300 }), (numbers) => {
      let place: Int32Array | null = guard.start();
      for (const number of numbers) {
        const mask = guard.mask(place);
        const isAllowed = (id: number) => ((mask[id >> 5]! >>> (id & 31)) & 1) === 1;
        const among = [spaces, ids].map((some) => some.filter(isAllowed)).filter((some) => some.length > 0);
        expect(among.length).toBeGreaterThan(0);
        const some = among[number % among.length]!;
        place = guard.accept(place, some[(number >> 1) % some.length]!);
        if (!place) return;
      }
    }),
    { numRuns: 30, seed: 5 },
  );
});
