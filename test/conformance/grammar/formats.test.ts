/** For each format: outputs that its grammars let a model write, and outputs that they do not. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readConstraint } from '../../../src/chat/constraint.ts';
import { readTools } from '../../../src/chat/tools.ts';
import type { ChoiceConstraint } from '../../../worker/grammar/constraint.ts';
import { type Mode, promptOf } from '../../agreement/request.ts';
import { type Subject, subjectOf } from '../../agreement/subject.ts';

/** Added tokens are recognised in a text; pieces say it themselves. */
type Output = string | { text: string; special: boolean }[];

interface GrammarCase {
  id: string;
  tools: unknown[];
  /** Other fields of the request. */
  request: Record<string, unknown>;
  /** How the prompt ends. */
  start: Mode['start'];
  accept: Output[];
  reject: Output[];
  why: string;
}

const folder = new URL('./', import.meta.url);
const names = readdirSync(folder).flatMap((file) =>
  file.endsWith('.jsonl') && file !== 'cases.jsonl' ? [file.slice(0, -'.jsonl'.length)] : [],
);
const casesOf = (name: string) =>
  readFileSync(new URL(`${name}.jsonl`, folder), 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as GrammarCase);

describe.each(names)('%s', async (name) => {
  const subject = await subjectOf(name, 'tiny', true);

  it.each(casesOf(name).map((test) => [test.id, test] as const))('%s', async (_id, test) => {
    const make = await prepare(subject, test);
    const accepted = (output: Output) =>
      spellings(subject, output).some((ids) => isAccepted(subject, make(), ids));
    expect({ why: test.why, refused: test.accept.filter((output) => !accepted(output)) }).toEqual({
      why: test.why,
      refused: [],
    });
    expect({ why: test.why, accepted: test.reject.filter(accepted) }).toEqual({
      why: test.why,
      accepted: [],
    });
  });
});

async function prepare(subject: Subject, { tools, request, start }: GrammarCase) {
  const body = { tools, ...request };
  const read = readTools(body);
  const constraint = readConstraint(body, read, request.parallel_tool_calls !== false, {
    format: subject.names,
    toolStrictness: 'auto',
    strictToolCalling: true,
  });
  const make = await subject.constraints.prepare(
    {
      messages: [],
      tools: read.offered,
      templateArguments: {},
      sampling: {},
      maxTokens: null,
      choices: 1,
      constraint,
    },
    promptOf(subject, start),
  );
  if (!make) throw new Error('The request has no constraint.');
  return make;
}

/** The output in tokens as long as possible, and with one for each character: a token may span a border. */
function spellings({ vocabulary }: Subject, output: Output): number[][] {
  const pieces = typeof output === 'string' ? vocabulary.pieces(output) : output;
  return [false, true].map((isFine) =>
    pieces.flatMap(({ text, special }) => {
      if (special) return [vocabulary.added.get(text)!];
      return isFine
        ? [...text].flatMap((character) => vocabulary.encodePlain(character))
        : vocabulary.encodePlain(text);
    }),
  );
}

function isAccepted({ eosTokenIds }: Subject, constraint: ChoiceConstraint, ids: readonly number[]): boolean {
  try {
    return [...ids, eosTokenIds[0]!].every((id) => {
      const mask = constraint.mask();
      const isAllowed = mask === null || ((mask[id >> 5]! >>> (id & 31)) & 1) === 1;
      if (isAllowed) constraint.accept(id);
      return isAllowed;
    });
  } finally {
    constraint.dispose();
  }
}
