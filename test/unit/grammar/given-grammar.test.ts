import { describe, expect, it } from 'vitest';
import { EbnfGrammar } from '../../../worker/grammar/ebnf.ts';
import { givenGrammar } from '../../../worker/grammar/given-grammar.ts';
import { regexRule } from '../../../worker/grammar/rules.ts';
import { reads, testModel } from './models.ts';

const model = testModel('tiny');
const given = (source: string) => {
  const grammar = new EbnfGrammar(model.engine.vocabulary.markers.keys());
  return grammar.toString(givenGrammar(grammar, source, 'structured_outputs.grammar'));
};
const regex = (pattern: string) => {
  const grammar = new EbnfGrammar();
  return grammar.toString(regexRule(grammar, pattern, 'structured_outputs.regex'));
};

describe('a given grammar with a rule that never ends is refused', () => {
  it.each([
    ['itself behind a letter', 'root ::= "a" root', 'root'],
    ['two that name each other', 'root ::= a\na ::= b\nb ::= a', 'root'],
    ['one of two alternatives', 'root ::= "x" | "a" loop\nloop ::= "a" loop', 'root'],
    ['repeated at least once', 'root ::= ("a" root)+ "b"', 'root'],
    ['that may be left out', 'root ::= "x" ("a" loop)?\nloop ::= "b" loop', 'root'],
    ['behind free text', 'root ::= TagDispatch(("<a>", loop), stop_eos=true)\nloop ::= "b" loop', 'root'],
    ['a class of nothing', 'root ::= "x" | [\\ud800-\\udfff]', 'root'],
  ])('%s', (_, source, rule) => {
    expect(() => given(source)).toThrow(
      expect.objectContaining({
        param: 'structured_outputs.grammar',
        code: 'grammar_invalid',
        message: expect.stringContaining(`The rule ${rule} `),
      }),
    );
  });

  it('and so is one that forces more text than anybody wants', () => {
    const doubled = Array.from({ length: 40 }, (_, index) => `r${index + 1} ::= r${index} r${index}`);
    for (const source of [
      `root ::= "x" | r40\nr0 ::= "a"\n${doubled.join('\n')}`,
      'root ::= "x" | "a"{1000000000}',
      'root ::= "x" ("ab"{500}){500}',
    ]) {
      expect(() => given(source)).toThrow(/longer than 20000 characters/);
    }
  });
});

it.each([
  ['root ::= "a" root | "b"', ['b', 'aab'], ['aa']],
  ['root ::= ("a" root)? "c"', ['c', 'acc'], ['ac']],
  ['root ::= a*\na ::= "x" | "(" root ")"', ['', 'x(x)'], ['(']],
  ['root ::= "a"{2,3}\nunused ::= unused', ['aa', 'aaa'], ['a']],
  ['true ::= "y" true | "n"\nroot ::= true', ['n', 'yyn'], ['y']],
])('a given grammar that ends holds: %s', async (source, whole, rest) => {
  const written = given(source);
  for (const text of whole) expect((await reads(model, written, text)).isAccepted, text).toBe(true);
  for (const text of rest) expect((await reads(model, written, text)).isAccepted, text).toBe(false);
});

it.each(['', '"\n'])(
  'parentheses that are too deep are refused before they are followed, behind %j',
  (before) => {
    expect(() => given(`root ::= ${before}${'('.repeat(5000)}"a"${')'.repeat(5000)}`)).toThrow(
      expect.objectContaining({ param: 'structured_outputs.grammar', code: 'grammar_invalid' }),
    );
  },
);

describe('a given regular expression', () => {
  it.each(['[^\\s\\S]', 'a^b', '$a', '[]', '[\\ud800-\\udfff]', 'a[\\ud800]'])(
    'that nothing matches is refused: %s',
    (pattern) => {
      expect(() => regex(pattern)).toThrow(
        expect.objectContaining({ param: 'structured_outputs.regex', code: 'grammar_unsatisfiable' }),
      );
    },
  );

  it.each([
    ['((a{1,99}){1,99}){1,99}b', 'too many ways'],
    ['^(?=a)', 'look-ahead'],
    ['a)|(?:b', 'Unmatched'],
    ['(', 'Unterminated'],
  ])('that can not be held is refused with its reason: %s', (pattern, reason) => {
    expect(() => regex(pattern)).toThrow(
      expect.objectContaining({
        param: 'structured_outputs.regex',
        code: 'grammar_unsupported',
        message: expect.stringContaining(reason),
      }),
    );
  });

  it('does not lead to where only half a character would follow', async () => {
    const source = regex('a[\\ud800]|b');
    expect((await reads(model, source, 'b')).isAccepted).toBe(true);
    expect((await reads(model, source, 'a')).read).toBe('');
  });
});

describe('classes of characters beyond ASCII', () => {
  it.each([
    ['[一-鿿]', null, null],
    ['[\\u0400-\\u04ff]', ['Ж', 'я'], ['a', '中', 'é']],
    ['[a-zäöüß]', ['a', 'ä', 'ß'], ['A', 'é', '中']],
    ['[é]', ['é'], ['e', '中']],
    ['[\\U0001F300-\\U0001F5FF]', ['🌍'], ['a', '中']],
    ['[\\u0080-\\U0010ffff]', ['é', '中', '🌍'], ['a']],
    ['[\\]\\-\\\\é]', [']', '-', '\\', 'é'], ['a', '[']],
    ['[^a-z]', ['A', 'é', '中'], ['a']],
    ['[^\\x80-\\U0010ffffa]', ['b', '\n'], ['a', 'é', '中']],
    ['[^“”]', null, null],
  ])('%s', async (source, accept, reject) => {
    if (accept === null || reject === null) {
      expect(() => given(`root ::= ${source}+`)).toThrow(
        expect.objectContaining({
          param: 'structured_outputs.grammar',
          code: 'grammar_unsupported',
          message: expect.stringContaining('In the rule root of the grammar the class ['),
        }),
      );
      return;
    }
    const written = given(`root ::= "<" ${source}+ ">"`);
    for (const text of accept) expect((await reads(model, written, `<${text}>`)).isAccepted, text).toBe(true);
    for (const text of reject)
      expect((await reads(model, written, `<${text}>`)).isAccepted, text).toBe(false);
  });
});
