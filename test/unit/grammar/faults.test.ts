import { describe, expect, it } from 'vitest';
import { BadRequestError } from '../../../src/errors.ts';
import { EbnfGrammar } from '../../../worker/grammar/ebnf.ts';
import { GrammarEngine } from '../../../worker/grammar/engine.ts';
import { jsonRule, type PostCheck } from '../../../worker/grammar/json-schema/index.ts';
import { testModel } from './models.ts';

const { engine: shared, eosTokenId } = testModel('qwen3');
const { table, width } = shared.vocabulary;

/** An engine as the worker has it, with its limit. */
async function freshEngine() {
  const engine = new GrammarEngine({ table, width, eosTokenIds: [eosTokenId] });
  await engine.prepare();
  return engine;
}

const find = (text: string) => shared.vocabulary.find(text)!;

async function writesX(engine: GrammarEngine): Promise<void> {
  const matcher = (await engine.compile('root ::= "x" "y"? "z"?\n')).matcher();
  expect(matcher.accept(find('x'))).toBe(true);
  expect(matcher.accept(find('a'))).toBe(false);
  expect(matcher.accept(eosTokenId)).toBe(true);
  expect(matcher.isTerminated).toBe(true);
  expect(matcher.mask()).toBeNull();
  expect(matcher.forced()).toBeNull();
  matcher.dispose();
  matcher.dispose();
}

async function rejection(engine: GrammarEngine, source: string): Promise<BadRequestError> {
  const error = await engine.compile(source).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(BadRequestError);
  return error as BadRequestError;
}

describe('a grammar that', () => {
  it.each([
    ['is no grammar', 'root ::= "x', 'grammar_invalid'],
    ['names a rule that is not there', 'root ::= other', 'grammar_invalid'],
    ['has no root', 'other ::= "x"', 'grammar_invalid'],
    ['is nested too deep', `root ::= ${'("x" '.repeat(5000)}"y"${')?'.repeat(5000)}`, 'grammar_invalid'],
    ['takes too long', `root ::= ${'[^"\\\\]'.repeat(2000)}`, 'grammar_too_large'],
    ['repeats too often', 'root ::= (([^"]{1,200} "-"){1,100} "+"){1,100}', 'grammar_too_large'],
    ['is too long', `root ::= "${'x'.repeat(5_000_000)}"`, 'grammar_too_large'],
  ])('%s is refused with its reason, and the next one works', async (_, source, code) => {
    const engine = await freshEngine();
    const live = (await engine.compile('root ::= "x" "y"\n')).matcher();
    const start = performance.now();
    const error = await rejection(engine, source);
    // The limit is a second of work; a busy machine takes longer.
    expect(performance.now() - start).toBeLessThan(10_000);
    expect(error).toMatchObject({ code });
    expect(error.message).not.toMatch(/\/Users\/|Aborted|\.cc/);
    await writesX(engine);
    // What runs is not disturbed.
    expect(live.accept(find('x'))).toBe(true);
    expect(live.forced()).toBe(find('y'));
    live.dispose();
    engine.dispose();
  });

  it('failed before fails again, and quickly', async () => {
    const engine = await freshEngine();
    for (let round = 0; round < 3; round++) {
      expect(await rejection(engine, 'root ::= nothing')).toMatchObject({ code: 'grammar_invalid' });
    }
    await writesX(engine);
    engine.dispose();
  });
});

it('says what is wrong with a grammar', async () => {
  const engine = await freshEngine();
  expect((await rejection(engine, 'root ::= "x" | nothing')).message).toMatch(/nothing/);
  engine.dispose();
});

it.each([
  '^(([a-z]{1,50}){1,10}){1,50}$',
  'a.{30}$',
  '^(a|b)*a(a|b){14}$',
  '^(.*.*.*)*x{1,4000}$',
  `^${'(a|b)?'.repeat(3000)}$`,
])('the pattern %.40s is checked afterwards within a second', (pattern) => {
  const checks: PostCheck[] = [];
  const start = performance.now();
  const grammar = new EbnfGrammar();
  jsonRule(grammar, { type: 'string', pattern }, { path: 's', report: (check) => checks.push(check) });
  expect(performance.now() - start).toBeLessThan(10_000);
  expect(checks).toEqual([{ keyword: 'pattern', path: 's.pattern' }]);
});

it('keeps no more compiled grammars than it may', async () => {
  const engine = new GrammarEngine({ table, width, eosTokenIds: [eosTokenId], cacheSize: 100 });
  const source = (word: string) => `root ::= "${word}"\n`.padEnd(60, ' ');
  const first = await engine.compile(source('first'));
  expect(await engine.compile(source('first'))).toBe(first);
  await engine.compile(source('second'));
  const again = await engine.compile(source('first'));
  expect(again).not.toBe(first);
  // What was forgotten still works for who holds it.
  const matcher = first.matcher();
  expect(matcher.forcedText()).toEqual(['first']);
  matcher.dispose();
  engine.dispose();
});

it('refuses ids that are none', async () => {
  const matcher = (await shared.compile('root ::= [a-z]*\n')).matcher();
  for (const id of [-1, Number.NaN, 1.5, width, width + 10_000_000, Number.POSITIVE_INFINITY]) {
    expect(matcher.accept(id)).toBe(false);
  }
  expect(() => matcher.rollback(1)).toThrow(RangeError);
  matcher.dispose();
});

it('is stuck, not at random, where no token can follow', async () => {
  const matcher = (await shared.compile('root ::= "x" never\nnever ::= "\\u0001\\u0003\\u0001"\n')).matcher();
  expect(matcher.accept(find('x'))).toBe(true);
  expect(matcher.isStuck).toBe(true);
  expect(matcher.forced()).toBeNull();
  matcher.dispose();
});
