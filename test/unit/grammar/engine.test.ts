import { describe, expect, it } from 'vitest';
import { EbnfGrammar } from '../../../worker/grammar/ebnf.ts';
import { reads, readsNaturally, testModel } from './models.ts';

const STRING_BODY = '"\\"" | [^"\\\\\\u0000-\\u001f] body | "\\\\" [nt"\\\\] body';

describe.each(['tiny', 'qwen3'] as const)('with the vocabulary of %s', (name) => {
  const model = testModel(name);
  const grammar = () => new EbnfGrammar(model.engine.vocabulary.markers.keys());
  const accepted = async (source: string, texts: string[]) => {
    const readings = await Promise.all(texts.map((text) => readsNaturally(model, source, text)));
    return texts.filter((_, index) => readings[index]);
  };

  it('takes an added token only as itself', async () => {
    const g = grammar();
    const source = g.toString(
      `${g.markup('<tool_call>x')} ${g.literal('<tool_call>')} ${g.markup('</tool_call>')}`,
    );
    const { isAccepted } = await reads(model, source, '<tool_call>x<tool_call></tool_call>');
    expect(isAccepted).toBe(true);
    const matcher = (await model.engine.compile(source)).matcher();
    const id = model.tokenizer.added.ids.get('<tool_call>')!;
    expect(matcher.accept(model.engine.vocabulary.find('<')!)).toBe(false);
    expect(matcher.forced()).toBe(id);
    expect(matcher.forcedText()).toEqual([id, 'x<tool_call>', model.tokenizer.added.ids.get('</tool_call>')]);
    expect(matcher.accept(id)).toBe(true);
    expect(matcher.accept(model.engine.vocabulary.find('x')!)).toBe(true);
    expect(matcher.accept(id)).toBe(false);
    matcher.dispose();
  });

  it('tells added tokens apart that begin alike', async () => {
    const g = grammar();
    const either = g.rule('either', `${g.markup('<tool_call>')} "1" | ${g.markup('<tool_response>')} "2"`);
    const source = g.toString(`${either}*`);
    const texts = ['', '<tool_call>1', '<tool_response>2', '<tool_response>2<tool_call>1'];
    const wrong = ['<tool_call>2', '<tool_response>1', '<tool_call>1<tool_response>1', '<tool_'];
    expect(await accepted(source, [...texts, ...wrong])).toEqual(texts);
    const h = grammar();
    const free = h.toString(
      h.freeText([
        { opener: '<tool_call>', body: '"1"' },
        { opener: '<tool_response>', body: '"2"' },
      ]),
    );
    expect(
      await accepted(free, ['a<tool_call>1b', 'a<tool_response>2b', 'a<tool_call>2', '<think>']),
    ).toEqual(['a<tool_call>1b', 'a<tool_response>2b']);
  });

  it('leaves free text by openers only, tokens and texts', async () => {
    const g = grammar();
    const call = `"1" ${g.markup('</tool_call>')}`;
    const source = g.toString(
      g.freeText([
        { opener: '<tool_call>', body: call },
        { opener: '[call]', body: '"2"' },
      ]),
    );
    expect(
      await accepted(source, [
        '',
        'some [text]',
        'a<tool_call>1</tool_call>b',
        'a<tool_call>2</tool_call>b',
        '<tool_call>1',
        'a[call]2b[call]2',
        'a[call]3',
        '<think>a',
        'a</tool_call>',
      ]),
    ).toEqual(['', 'some [text]', 'a<tool_call>1</tool_call>b', 'a[call]2b[call]2']);
    const once = g.toString(g.freeText([{ opener: '<tool_call>', body: call }], { isOnce: true }));
    expect(await accepted(once, ['a', 'a<tool_call>1</tool_call>', 'a<tool_call>1</tool_call>b'])).toEqual([
      'a',
      'a<tool_call>1</tool_call>',
    ]);
  });

  it('reads text up to a closer, a token or a text', async () => {
    const g = grammar();
    const token = g.toString(`"(" ${g.textUntil('</think>')} ")"`);
    expect(
      await accepted(token, ['(</think>)', '(a\n"<b</think>)', '(a</think>', '(a<think></think>)']),
    ).toEqual(['(</think>)', '(a\n"<b</think>)']);
    const text = g.toString(`"(" ${g.textUntil('\n</value>')} ")"`);
    expect(
      await accepted(text, [
        '(\n</value>)',
        '(a\n\n</value>)',
        '(a</value>\n</value>)',
        '(a</value>)',
        '(a\n</value>',
      ]),
    ).toEqual(['(\n</value>)', '(a\n\n</value>)', '(a</value>\n</value>)']);
  });

  it('follows guarded strings', async () => {
    const g = grammar();
    g.define('body', STRING_BODY);
    const string = (parts: object[]) =>
      g.rule('s', `"\\"" ${g.guard({ kind: 'string', language: [parts as never] })} body`);
    const source = g.toString(
      `"{\\"a\\": " ${string([{ pattern: '^[a-zé]+-\\d$' }])} ", \\"b\\":" " "? ${string([{ min: 2, max: 4 }])} "}"`,
    );
    const make = (a: string, b: string) => `{"a": ${JSON.stringify(a)}, "b": ${JSON.stringify(b)}}`;
    expect(await accepted(source, [make('été-1', 'abcd'), make('x-2', 'é\n')])).toHaveLength(2);
    expect(
      await accepted(source, [
        make('x-', 'abc'),
        make('x-12', 'abc'),
        make('-1', 'abc'),
        make('x-1', 'a'),
        make('x-1', 'abcde'),
        make('x-1', ''),
      ]),
    ).toEqual([]);
  });

  it('rolls back over signals', async () => {
    const g = grammar();
    g.define('body', STRING_BODY);
    const guarded = `"\\"" ${g.guard({ kind: 'string', language: [[{ min: 1, max: 3 }]] })} body`;
    const grammarOf = await model.engine.compile(g.toString(`"[" ${guarded} ("," ${guarded})* "]"`));
    const ids = model.tokenizer.encode('["abc","d","ef"]');
    const reference = grammarOf.matcher();
    const masks: Uint32Array[] = [];
    const taken: number[] = [];
    for (const id of ids) {
      const mask = reference.mask()!.slice();
      if (!reference.accept(id)) break;
      masks.push(mask);
      taken.push(id);
    }
    reference.dispose();
    const matcher = grammarOf.matcher();
    for (const id of taken) matcher.accept(id);
    for (let back = 1; back <= taken.length; back++) {
      matcher.rollback(back);
      expect(matcher.mask()).toEqual(masks[taken.length - back]);
      for (const id of taken.slice(taken.length - back)) expect(matcher.accept(id)).toBe(true);
    }
    matcher.dispose();
  });
});
