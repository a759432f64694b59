/** The recorded outputs of `test/conformance`, from a server that has no parsers: split here as everywhere. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createRemoteEngine } from '../../../src/remote/index.ts';
import { type Case, readCases } from '../../conformance/case.ts';
import { answerOf, isRight, optionsOf, tokenize } from '../../conformance/replay.ts';
import { caseWorker } from './prompt-worker.ts';
import { type Answer, events, ReplayServer } from './replay-server.ts';

const folder = new URL('../../conformance/cases/', import.meta.url);

/** How vLLM streams a completion; without token ids as other servers do. */
function completion(
  pieces: readonly { text: string; ids: number[] }[],
  finish: string,
  withIds: boolean,
): Answer {
  const part = (text: string, ids: number[], end: string | null) => ({
    id: 'cmpl-1',
    object: 'text_completion',
    created: 1_700_000_001,
    model: 'served',
    choices: [
      {
        index: 0,
        text,
        logprobs: null,
        finish_reason: end,
        stop_reason: null,
        ...(withIds && { token_ids: ids }),
      },
    ],
  });
  return events([...pieces.map(({ text, ids }) => part(text, ids, null)), part('', [], finish)]);
}

/** One, two, three and five characters in turn. */
function cut(text: string): string[] {
  const pieces: string[] = [];
  const characters = [...text];
  for (let at = 0, turn = 0; at < characters.length; turn++) {
    const size = [1, 2, 3, 5][turn % 4]!;
    pieces.push(characters.slice(at, at + size).join(''));
    at += size;
  }
  return pieces;
}

async function answerTo(one: Case, withIds: boolean) {
  const tokens = await tokenize(one);
  const { reasoningParser, toolParser, tools, toolChoice, templateArguments, stop, ...more } = optionsOf(one);
  const finish = one.finish === 'length' ? 'length' : 'stop';
  const pieces = withIds
    ? tokens.ids.map((id) => ({ text: '', ids: [id] }))
    : cut(one.output).map((text) => ({ text, ids: [] }));
  const server = await ReplayServer.start(completion(pieces, finish, withIds));
  const engine = await createRemoteEngine({
    baseURL: server.baseURL,
    model: 'served',
    parse: 'client',
    tokenizer: 'tests/case',
    reasoningParser,
    toolParser,
    worker: () => caseWorker(tokens) as unknown as Worker,
  });
  try {
    const { choices } = await engine.chat.completions.create({
      messages: [{ role: 'user', content: 'Hi' }],
      ...(tools?.length && { tools }),
      ...(tools?.length && toolChoice === 'none' && { tool_choice: toolChoice }),
      chat_template_kwargs: templateArguments,
      stop: [...(stop ?? [])],
      parallel_tool_calls: more.parallelToolCalls,
      include_reasoning: more.includeReasoning,
    });
    return answerOf(choices[0]!);
  } finally {
    await engine.close();
    await server.close();
  }
}

for (const file of readdirSync(folder).sort()) {
  describe(file, () => {
    const cases = readCases(readFileSync(new URL(file, folder), 'utf8'));
    for (const [number, one] of cases.entries()) {
      // In turn: that both ways of reading give the same is tested on each case where the parser is.
      const withIds = one.ids_only || number % 2 === 0;
      test(`${one.id}, ${withIds ? 'as token ids' : 'as text'}`, async () => {
        const answer = await answerTo(one, withIds);
        if (!isRight(one, answer)) expect(answer).toEqual(one.expected);
      });
    }
  });
}
