import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Guard } from '../../../worker/grammar/guard/guard.ts';
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
