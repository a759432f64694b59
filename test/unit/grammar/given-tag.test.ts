import { describe, expect, it } from 'vitest';
import { BadRequestError } from '../../../src/errors.ts';
import { EbnfGrammar } from '../../../worker/grammar/ebnf.ts';
import { givenTag } from '../../../worker/grammar/given-tag.ts';
import { reads, testModel } from './models.ts';

const model = testModel('tiny');
const PATH = 'structured_outputs.structural_tag';

const sourceOf = (format: unknown) => {
  const grammar = new EbnfGrammar(model.engine.vocabulary.markers.keys());
  return grammar.toString(givenTag(grammar, { type: 'structural_tag', format }, PATH));
};

const accepted = async (format: unknown, texts: readonly string[]) => {
  const source = sourceOf(format);
  const readings = await Promise.all(texts.map((text) => reads(model, source, text)));
  return texts.filter((_, index) => readings[index]!.isAccepted);
};

const number = {
  type: 'tag',
  begin: '<n>',
  content: { type: 'json_schema', json_schema: { enum: [7, 8] } },
  end: '</n>',
};

describe('formats of a given structural tag', () => {
  it.each([
    [{ type: 'optional', content: { type: 'const_string', value: 'ab' } }, ['', 'ab'], ['a', 'abab']],
    [{ type: 'star', content: number }, ['', '<n>7</n>', '<n>7</n><n>8</n>'], ['<n>9</n>', '<n>7</n><n>']],
    [{ type: 'plus', content: number }, ['<n>7</n>', '<n>7</n><n>8</n>'], ['', '<n>7</n>8']],
    [
      {
        type: 'sequence',
        elements: [{ type: 'optional', content: { type: 'const_string', value: 'x' } }, number],
      },
      ['x<n>7</n>', '<n>8</n>'],
      ['x', 'xx<n>7</n>'],
    ],
    [
      { type: 'any_text', excludes: ['cat', 'a.b'] },
      ['', 'a dog', 'ca t', 'axb'],
      ['a cat', 'a.b', 'concatenate'],
    ],
    [{ type: 'any_text', excludes: ['<tool_call>'] }, ['text'], []],
    [
      { type: 'tag', begin: '[', content: { type: 'any_text', excludes: ['cat'] }, end: '>' },
      ['[a dog>', '[>', '[ca>'],
      ['[a cat>', '[a dog', '[cat>'],
    ],
    [
      { type: 'triggered_tags', triggers: ['<n>'], tags: [number], excludes: ['<tool_call>'] },
      ['a<n>7</n>b', 'a'],
      ['a<n>9</n>'],
    ],
    [
      { type: 'tags_with_separator', tags: [number], separator: ', ', at_least_one: true },
      ['<n>7</n>', '<n>7</n>, <n>8</n>'],
      ['', '<n>7</n><n>8</n>', '<n>7</n>, '],
    ],
    [
      {
        type: 'or',
        elements: [
          number,
          { type: 'json_schema', json_schema: { const: 1 }, style: 'json', any_order: false },
        ],
      },
      ['<n>7</n>', '1'],
      ['2'],
    ],
  ])('%j', async (format, accept, reject) => {
    expect(await accepted(format, accept)).toEqual(accept);
    expect(await accepted(format, reject)).toEqual([]);
  });

  it.each([
    [{ type: 'any_text', exclude: ['x'] }, 'format.exclude'],
    [{ type: 'any_text', excludes: 'x' }, 'format.excludes'],
    [{ type: 'any_text', excludes: [''] }, 'format.excludes[0]'],
    [{ type: 'any_text', max_tokens: 5 }, 'format.max_tokens'],
    [{ type: 'regex', pattern: 'a', excludes: ['a'] }, 'format.excludes'],
    [{ type: 'nothing' }, 'format.type'],
    [{ type: 'constructor' }, 'format.type'],
    [{ type: 'json_schema', json_schema: true, style: 'qwen_xml' }, 'format.style'],
    [{ type: 'json_schema', json_schema: true, any_order: true }, 'format.any_order'],
    [{ type: 'json_schema', json_schema: true, any_order: 'no' }, 'format.any_order'],
    [{ type: 'star', content: { type: 'any_text' } }, 'format.content'],
    [{ type: 'plus', content: { type: 'optional', content: { type: 'any_text' } } }, 'format.content'],
    [
      { type: 'sequence', elements: [{ type: 'optional', content: { type: 'any_text' } }, number] },
      'format.elements[0]',
    ],
    [{ type: 'triggered_tags', triggers: ['<n>'], tags: [number], excludes: ['dog'] }, 'format.excludes'],
    [{ type: 'triggered_tags', triggers: ['<n>'], tags: [number], at_least_one: 1 }, 'format.at_least_one'],
    [{ type: 'triggered_tags', triggers: ['<m>'], tags: [number] }, 'format.tags[0].begin'],
    [
      { type: 'triggered_tags', triggers: ['<n>'], tags: [{ ...number, ends: ['x'] }] },
      'format.tags[0].ends',
    ],
    [{ ...number, content: { type: 'any_text', excluded: [] } }, 'format.content.excluded'],
  ])('%j is refused at its place', (format, place) => {
    let error: unknown;
    try {
      sourceOf(format);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ param: `${PATH}.${place}` });
  });

  it('refuses a field beside the format', () => {
    const grammar = new EbnfGrammar([]);
    const tag = { type: 'structural_tag', format: number, triggers: ['<n>'] };
    expect(() => givenTag(grammar, tag, PATH)).toThrow(
      expect.objectContaining({ param: `${PATH}.triggers` }),
    );
  });
});
