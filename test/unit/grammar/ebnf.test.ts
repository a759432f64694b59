import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BadRequestError } from '../../../src/errors.ts';
import { EbnfGrammar } from '../../../worker/grammar/ebnf.ts';
import { factored } from '../../../worker/grammar/ebnf-expression.ts';
import { reads, testModel } from './models.ts';

const model = testModel('tiny');

const accepts = async (grammar: EbnfGrammar, root: string, text: string) =>
  (await reads(model, grammar.toString(root), text)).isAccepted;

describe('literals', () => {
  it('are the text itself, whatever its characters', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc
          .string({ unit: 'binary', minLength: 1, maxLength: 12 })
          .filter((text) => Array.from(text).every((character) => character > '\u0003')),
        fc.string({ minLength: 1, maxLength: 3 }),
        async (text, more) => {
          const grammar = new EbnfGrammar();
          const root = grammar.literal(text);
          expect(await accepts(grammar, root, text), grammar.toString(root)).toBe(true);
          expect(await accepts(grammar, root, text + more)).toBe(false);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('have none of the characters that are signs', () => {
    for (const character of ['\0', '\x01', '\x02', '\x03']) {
      expect(() => new EbnfGrammar().literal(`a${character}`)).toThrow(BadRequestError);
    }
  });
});

describe('alternatives', () => {
  // Few characters, so that many words begin or end alike.
  const words = fc.uniqueArray(
    fc.string({ unit: fc.constantFrom('1', '2', '0'), minLength: 1, maxLength: 4 }),
    {
      minLength: 2,
      maxLength: 12,
    },
  );

  it('are exactly what they say, however they begin and end', async () => {
    await fc.assert(
      fc.asyncProperty(words, words, async (list, others) => {
        const grammar = new EbnfGrammar();
        const end = grammar.rule('end', '"x" | "y"');
        const root = grammar.rule('words', list.map((word) => `${grammar.literal(word)} ${end}`).join(' | '));
        for (const word of list) expect(await accepts(grammar, root, `${word}x`), word).toBe(true);
        for (const word of others) {
          expect(await accepts(grammar, root, `${word}y`), `${list.join()}: ${word}`).toBe(
            list.includes(word),
          );
        }
      }),
      { numRuns: 150 },
    );
  });

  it('that begin alike are written once', () => {
    const parts: string[] = [];
    const define = (body: string) => `part${parts.push(body)}`;
    expect(factored('"ab" x | "ac" | "a" | y z | y | "b"', define)).toBe(
      '"a" ("b" x | "c" | "") | y (z | "") | "b"',
    );
    expect(factored('("ab" | "ac")* "d"', define)).toBe('("a" ("b" | "c"))* "d"');
    expect(factored('"a" [b-c]{1,2} | "a" "b"?', define)).toBe('"a" ([b-c]{1,2} | "b"?)');
    expect(factored('"\\"a" | "\\"b" | "\\u0041" "c"', define)).toBe('"\\"" ("a" | "b") | "\\u0041c"');
    expect(parts).toEqual([]);
  });

  it('of any number and length do not nest too deep', async () => {
    const grammar = new EbnfGrammar();
    const list = Array.from({ length: 150 }, (_, length) => 'a'.repeat(length + 1));
    const root = grammar.rule('words', list.map((word) => grammar.literal(word)).join(' | '));
    expect(await accepts(grammar, root, 'a'.repeat(150))).toBe(true);
    expect(await accepts(grammar, root, 'a'.repeat(151))).toBe(false);
  });
});

describe('a grammar', () => {
  it('shares rules with the same body and leaves out what is not reached', () => {
    const grammar = new EbnfGrammar();
    const digits = grammar.rule('digits', '[0-9]+ | "none"');
    expect(grammar.rule('number', '[0-9]+ | "none"')).toBe(digits);
    grammar.rule('unused', '"x"');
    const text = grammar.toString(`${digits} "-" ${digits}`);
    expect(text).toMatch(/^root ::= /);
    expect(text).not.toContain('unused');
  });

  it('has recursive rules', async () => {
    const grammar = new EbnfGrammar();
    const list = grammar.reserve('list');
    grammar.define(list, `"[" ${list}* "]"`);
    expect(await accepts(grammar, list, '[[][[]]]')).toBe(true);
    expect(await accepts(grammar, list, '[[]')).toBe(false);
  });

  it('that names a rule it does not have is a mistake', () => {
    expect(() => new EbnfGrammar().toString('nothing')).toThrow(/nothing/);
  });

  it('lets no added token through a class that excludes characters', async () => {
    const grammar = new EbnfGrammar(model.engine.vocabulary.markers.keys());
    const root = `${grammar.markup('<think>')} [^x]* ${grammar.markup('</think>')}`;
    const matcher = (await model.engine.compile(grammar.toString(root))).matcher();
    const id = (text: string) => model.engine.vocabulary.markers.get(text)!;
    expect(matcher.accept(id('<think>'))).toBe(true);
    expect(matcher.accept(id('<think>'))).toBe(false);
    expect(matcher.accept(model.engine.vocabulary.find('a')!)).toBe(true);
    expect(matcher.accept(id('</think>'))).toBe(true);
    expect(matcher.accept(model.eosTokenId)).toBe(true);
    matcher.dispose();
  });

  it('refuses several openers that could be missed', () => {
    const openers = ['<a<b>', '<c>'].map((opener) => ({ opener, body: '"x"' }));
    expect(() => new EbnfGrammar().freeText(openers)).toThrow(/reliably/);
  });
});

describe('marks whose beginning comes again in them', () => {
  const CLOSER = ']<]x>';
  const texts = fc
    .tuple(fc.string({ unit: fc.constantFrom(']', '<', 'x', '>', 'é'), maxLength: 7 }), fc.boolean())
    .map(([text, isClosed]) => (isClosed ? text + CLOSER : text));
  const agree = (grammar: EbnfGrammar, root: string, isRight: (text: string) => boolean) =>
    fc.assert(
      fc.asyncProperty(texts, async (text) => {
        expect(await accepts(grammar, root, text), text).toBe(isRight(text));
      }),
      { numRuns: 150, examples: [[`]<${CLOSER}`], [`]<]<${CLOSER}`], [CLOSER], [`<]${CLOSER}`]] },
    );
  /** What stands before the closer, where it stands at the end and nowhere else. */
  const closed = (text: string) => {
    const end = text.indexOf(CLOSER);
    return end >= 0 && end + CLOSER.length === text.length ? text.slice(0, end) : null;
  };

  it('close a text', async () => {
    const grammar = new EbnfGrammar();
    await agree(grammar, grammar.textUntil(CLOSER), (text) => closed(text) !== null);
  });

  it('close a text that is guarded', async () => {
    const grammar = new EbnfGrammar();
    const guard = grammar.guard({
      kind: 'text',
      language: [[{ min: 1, max: 4 }, { notPattern: 'xx' }]],
      closer: CLOSER,
    });
    await agree(grammar, `${guard} ${grammar.textUntil(CLOSER)}`, (text) => {
      const guarded = closed(text);
      return guarded !== null && /^(?!.*xx).{1,4}$/.test(guarded);
    });
  });

  it('leave free text', async () => {
    const grammar = new EbnfGrammar();
    const dispatch = { opener: CLOSER, body: '"é"' };
    const isFollowed = (text: string) =>
      text
        .split(CLOSER)
        .slice(1)
        .every((part) => part.startsWith('é'));
    await agree(grammar, grammar.freeText([dispatch]), isFollowed);
    const once = new EbnfGrammar();
    await agree(once, once.freeText([dispatch], { isOnce: true }), (text) => {
      const [, part, more] = text.split(CLOSER);
      return more === undefined && (part === undefined || part === 'é');
    });
  });
});
