/** Whether the grammar of a request admits an output. */
import { readConstraint } from '../../../src/chat/constraint.ts';
import { readTools } from '../../../src/chat/tools.ts';
import type { ChoiceConstraint } from '../../../worker/grammar/constraint.ts';
import { type Mode, promptOf } from '../../agreement/request.ts';
import type { Subject } from '../../agreement/subject.ts';

/** Added tokens are recognised in a text; pieces say it themselves. */
export type Output = string | { text: string; special: boolean }[];

export interface GrammarRequest {
  tools?: unknown[];
  /** Other fields of the request. */
  request: Record<string, unknown>;
  /** How the prompt ends. */
  start: Mode['start'];
}

/** What makes a fresh constraint of the request, for one output. */
export async function prepare(subject: Subject, { tools, request, start }: GrammarRequest) {
  const body = { ...(tools && { tools }), ...request };
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
export function spellings({ vocabulary }: Subject, output: Output): number[][] {
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

export function isAccepted(
  { eosTokenIds }: Subject,
  constraint: ChoiceConstraint,
  ids: readonly number[],
): boolean {
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
