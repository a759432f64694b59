import { describe, expect, it } from 'vitest';
import { spellings } from '../../../src/parser/format.ts';
import { createParser } from '../../../src/parser/index.ts';
import { promptOf } from '../../agreement/request.ts';
import { type Subject, subjectOf } from '../../agreement/subject.ts';
import { prepare } from '../../conformance/grammar/acceptance.ts';

const tool = { type: 'function', function: { name: 'f', strict: true, parameters: { type: 'object' } } };
const MODES: Record<string, { request: object; tools?: object[] }> = {
  free: { request: {} },
  'with tools': { request: { tool_choice: 'auto' }, tools: [tool] },
};

function opener({ format, vocabulary }: Subject): number[] {
  if (format.channels) return vocabulary.encode(format.channels.writing.reasoningStart);
  const { terminals, start } = format.reasoning!;
  return vocabulary.encode(spellings(terminals[start]!)[0]!);
}

/** Tokens of reasoning that a model writes which wants nothing but to think. */
async function reasoning(subject: Subject, mode: string, budget: number): Promise<number> {
  const { request, tools } = MODES[mode]!;
  const start = subject.format.channels ? 'free' : 'opened';
  const make = await prepare(subject, {
    ...(tools && { tools }),
    request: { ...request, thinking_token_budget: budget },
    start,
  });
  const constraint = make();
  const { vocabulary, eosTokenIds } = subject;
  const parser = createParser({
    format: subject.format,
    vocabulary: vocabulary.reader,
    prompt: { ids: promptOf(subject, start) },
  });
  const wanted = opener(subject);
  const [word] = vocabulary.encodePlain(' so');
  const every = Array.from({ length: vocabulary.width }, (_, id) => id);
  let reopening = 0;
  for (let count = 0; count < 60; count++) {
    const mask = constraint.mask();
    const isAllowed = (id: number) => mask === null || ((mask[id >> 5]! >>> (id & 31)) & 1) === 1;
    const forced = constraint.forced();
    let id = forced ?? wanted[reopening]!;
    if (forced === null) {
      if (parser.inReasoning || !isAllowed(id)) id = [word!, ...eosTokenIds, ...every].find(isAllowed)!;
      else reopening = (reopening + 1) % wanted.length;
    }
    expect(isAllowed(id), vocabulary.reader.text(id)).toBe(true);
    if (eosTokenIds.includes(id)) break;
    constraint.accept(id);
    parser.feed({ ids: [id] });
  }
  constraint.dispose();
  return parser.reasoningTokens;
}

describe.each(['hermes', 'glm45', 'minimax_m2', 'deepseek_v31', 'mistral', 'gptoss', 'inkling'])(
  'a budget of reasoning for %s',
  (format) => {
    it.each(Object.keys(MODES).flatMap((mode) => [0, 1, 5].map((budget) => [mode, budget] as const)))(
      'is not exceeded, however often the model begins anew: %s, %d tokens',
      async (mode, budget) => {
        const subject = await subjectOf(format, 'qwen3', true);
        expect(await reasoning(subject, mode, budget)).toBeLessThanOrEqual(budget);
      },
    );
  },
);
