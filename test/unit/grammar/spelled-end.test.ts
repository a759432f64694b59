import { describe, expect, it } from 'vitest';
import { subjectOf } from '../../agreement/subject.ts';
import { prepare } from '../../conformance/grammar/acceptance.ts';

const JSON_ANSWER = {
  response_format: {
    type: 'json_schema',
    json_schema: { name: 'a', schema: { type: 'object', properties: { a: { type: 'boolean' } } } },
  },
};

/** Which of the tokens may come behind some text of the model. */
async function allowed(format: string, areTokens: boolean, text: string, tokens: readonly string[]) {
  const subject = await subjectOf(format, 'qwen3', areTokens);
  const make = await prepare(subject, { request: JSON_ANSWER, start: 'opened' });
  const constraint = make();
  const plain = (spelled: string) => subject.vocabulary.encodePlain(spelled);
  for (const id of plain(text)) constraint.accept(id);
  const mask = constraint.mask();
  constraint.dispose();
  return tokens.filter((token) => {
    const [id, ...more] = plain(token);
    expect(more, token).toEqual([]);
    return mask === null || ((mask[id! >> 5]! >>> (id! & 31)) & 1) === 1;
  });
}

describe('an end of the reasoning that is spelled out', () => {
  const tokens = ['>', '>\n', '>\n\n', '>{', '><', '>a', ' x', '`'];

  it('ends with its token, where the answer is led by a grammar', async () => {
    expect(await allowed('hunyuan_a13b', true, 'So.</think', tokens)).toEqual([
      '>',
      '>\n',
      '>\n\n',
      ' x',
      '`',
    ]);
    expect(await allowed('hunyuan_a13b', true, 'So.</thin', tokens)).toEqual(tokens);
  });

  it('leads to the answer, or by a backtick back to the thought, where it was quoted', async () => {
    const behind = ['{', '`', ' x', '<', '",'];
    expect(await allowed('mistral', false, 'So `[/THINK]', behind)).toEqual(['{', '`']);
    expect(await allowed('mistral', false, 'So [/THINK]', behind)).toEqual(['{']);
  });
});
