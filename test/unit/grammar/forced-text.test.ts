import { beforeAll, describe, expect, it } from 'vitest';
import { subjectOf } from '../../agreement/subject.ts';
import type { WalkVocabulary } from '../../agreement/vocabulary.ts';
import { prepare } from '../../conformance/grammar/acceptance.ts';

const TOOLS = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      parameters: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
    },
  },
];

describe('text that must come', () => {
  let vocabulary: WalkVocabulary;
  let make: Awaited<ReturnType<typeof prepare>>;

  beforeAll(async () => {
    const subject = await subjectOf('hermes', 'qwen3', true);
    vocabulary = subject.vocabulary;
    make = await prepare(subject, { tools: TOOLS, request: { tool_choice: 'required' }, start: 'closed' });
  });

  it('is taken in the tokens of the tokenizer, up to the one that what follows may lengthen', () => {
    const constraint = make();
    const forced: number[] = [];
    for (let id = constraint.forced(); id !== null; id = constraint.forced()) {
      forced.push(id);
      constraint.accept(id);
    }
    const opened = vocabulary.added.get('<tool_call>')!;
    // Behind the colon a space may come, or none.
    const text = vocabulary.encode('\n{"name": "get_weather", "arguments": {"location":');
    expect(forced).toEqual([opened, ...text.slice(0, -1)]);
    constraint.dispose();
  });

  it('is taken whole before a token that must come', () => {
    const constraint = make();
    const begun = '<tool_call>\n{"name": "get_weather", "arguments": {"location": "Oslo"}';
    for (const id of vocabulary.encode(begun)) constraint.accept(id);
    const forced: number[] = [];
    for (let id = constraint.forced(); id !== null; id = constraint.forced()) {
      forced.push(id);
      constraint.accept(id);
    }
    expect(forced.map((id) => vocabulary.reader.text(id)).join('')).toBe('}\n</tool_call>');
    constraint.dispose();
  });

  it('may be spelled otherwise by a model that is asked for each token', () => {
    const constraint = make({ spellsForcedText: false });
    const opened = vocabulary.added.get('<tool_call>')!;
    expect(constraint.forced()).toBe(opened);
    constraint.accept(opened);
    expect(constraint.forced()).toBe(vocabulary.encode('\n')[0]);
    constraint.accept(vocabulary.encode('\n')[0]!);
    expect(constraint.forced()).toBeNull();
    constraint.dispose();
  });

  it('goes on in another spelling where the model has begun one', () => {
    const constraint = make();
    const start = vocabulary.encode('<tool_call>\n');
    for (const id of [
      ...start,
      ...vocabulary.encode('{'),
      ...vocabulary.encode('"'),
      ...vocabulary.encode('n'),
    ]) {
      constraint.accept(id);
    }
    expect(constraint.forced()).toBe(vocabulary.encode('ame')[0]);
    constraint.dispose();
  });
});
