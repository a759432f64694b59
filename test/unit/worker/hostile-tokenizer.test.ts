import { describe, expect, it } from 'vitest';
import { ModelLoadError } from '../../../src/errors.ts';
import { buildTokenTable } from '../../../worker/prompt/table.ts';
import { PromptTokenizer } from '../../../worker/prompt/tokenizer.ts';
import { tinyFiles } from './models.ts';

const files = tinyFiles();
const load = (changes: Record<string, unknown>) => {
  const json = { ...structuredClone(files.tokenizerJson), ...changes };
  const tokenizer = new PromptTokenizer(json, {});
  return buildTokenTable(tokenizer, json);
};
const withToken = (id: unknown, content: unknown = '<new>') => ({
  added_tokens: [...(files.tokenizerJson.added_tokens as object[]), { id, content, special: true }],
});
const model = files.tokenizerJson.model as { vocab: Record<string, number> };
const withModel = (changes: object) => ({ model: { ...structuredClone(model), ...changes } });
const nested = () => {
  let inner: object = { type: 'ByteLevel' };
  for (let depth = 0; depth < 20_000; depth++) inner = { type: 'Sequence', pretokenizers: [inner] };
  return inner;
};

describe('a tokenizer.json', () => {
  it.each<[string, () => Record<string, unknown>]>([
    ['an id beyond any vocabulary', () => withToken(4e9)],
    ['an id that would take gigabytes', () => withToken(1e8)],
    ['an id below 0', () => withToken(-1)],
    ['an id that is no number', () => withToken('7')],
    ['a content that is no text', () => withToken(2100, 7)],
    ['a token that is none', () => ({ added_tokens: [null] })],
    ['a vocabulary with a huge id', () => withModel({ vocab: { ...model.vocab, zz: 3e9 } })],
    ['a vocabulary with half an id', () => withModel({ vocab: { ...model.vocab, zz: 1.5 } })],
    ['merges that are numbers', () => withModel({ merges: [1, 2] })],
    ['no merges', () => withModel({ merges: undefined })],
    ['no model', () => ({ model: null })],
    [
      'a broken pattern',
      () => ({ pre_tokenizer: { type: 'Split', pattern: { Regex: '(((' }, behavior: 'Isolated' } }),
    ],
    ['a normalizer of its own', () => ({ normalizer: { type: 'Own' } })],
    ['parts in parts without an end', () => ({ pre_tokenizer: nested() })],
  ])('with %s is refused by its name', (_, changes) => {
    const attempt = () => load(changes());
    expect(attempt).toThrow(ModelLoadError);
    expect(attempt).toThrow(/^tokenizer\.json /);
  });

  it('has tokens of any name', () => {
    const names = ['constructor', 'toString', 'hasOwnProperty'];
    const vocab = {
      ...model.vocab,
      ...Object.fromEntries(names.map((name, index) => [name, 2048 + index])),
    };
    expect(load(withModel({ vocab })).flags).toHaveLength(2048 + names.length);
  });
});
