/** The token at which a grammar begins is the one at which the page's parser leaves the reasoning. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Vocabulary } from '../../src/detokenizer/vocabulary.ts';
import { loadFormat } from '../../src/formats/index.ts';
import { createParser, heldFormat } from '../../src/parser/index.ts';
import { ReasoningGate } from '../../worker/grammar/reasoning-gate.ts';
import { type Case, readCases } from './case.ts';
import { templateArgumentsOf, tokenize } from './replay.ts';

const folder = new URL('./cases/', import.meta.url);
const CHANNELS = ['gptoss', 'openai_gptoss', 'inkling'];

/** Number of tokens after which each side has left the reasoning; null: it never does. */
async function ends(test: Case) {
  const { ids, prompt, table } = await tokenize(test);
  const vocabulary = new Vocabulary(table);
  const format = await loadFormat({ reasoning: test.reasoning_parser, tools: test.tool_parser });
  const templateArguments = templateArgumentsOf(test);
  const parser = createParser({
    format: heldFormat(format, { calls: true, content: false }),
    vocabulary,
    templateArguments,
    prompt: { ids: prompt },
  });
  const gate = new ReasoningGate({ format, vocabulary, templateArguments, promptTokenIds: prompt });
  const found: { gate: number | null; parser: number | null } = {
    gate: gate.isOpen ? 0 : null,
    parser: parser.inReasoning ? null : 0,
  };
  for (const [index, id] of ids.entries()) {
    gate.accept(id);
    parser.feed({ ids: [id] });
    if (gate.isOpen) found.gate ??= index + 1;
    if (!parser.inReasoning) found.parser ??= index + 1;
  }
  return found;
}

describe('over recorded streams', () => {
  const cases = readdirSync(folder)
    .sort()
    .flatMap((file) => readCases(readFileSync(new URL(file, folder), 'utf8')))
    // Channels are led by the grammar from the first token on.
    .filter(({ reasoning_parser }) => reasoning_parser !== null && !CHANNELS.includes(reasoning_parser));
  it.each(cases.map((test) => [test.id, test] as const))('%s', async (_id, test) => {
    const { gate, parser } = await ends(test);
    expect(gate).toBe(parser);
  });
});

describe('a quoted end marker', () => {
  const stream = (output: string): Case => ({
    id: 'quoted',
    format: 'qwen3',
    reasoning_parser: 'qwen3',
    tool_parser: null,
    thinking: null,
    prompt_tail: '<think>',
    tools: null,
    output,
    chunks: null,
    finish: 'stop',
    request: null,
    expected: { reasoning: null, content: null, tool_calls: [], finish_reason: 'stop' },
    compare: 'exact',
  });

  it.each([
    // One token later than the marker, when it is known not to be quoted.
    ['a `</think>b', 5],
    ['a `</think>` b</think>c', 8],
    ['a `</think>`', null],
    ['a</think>`b', 2],
  ])('ends the reasoning of %s after %s tokens', async (output, tokens) => {
    expect(await ends(stream(output))).toEqual({ gate: tokens, parser: tokens });
  });
});
