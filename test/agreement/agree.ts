/** Random walks through the grammars of a format, each read back by its parser. */
import { BadRequestError, SchemaViolationError } from '../../src/errors.ts';
import { type Disagreement, judge } from './compare.ts';
import { Coverage } from './coverage.ts';
import { Random } from './random.ts';
import { modesOf, requestOf, type WalkRequest } from './request.ts';
import { hasOptionalMarkers, type Subject, subjectOf } from './subject.ts';
import type { BaseName } from './vocabulary.ts';
import { walk } from './walk.ts';

export interface AgreeOptions {
  /** Name of the tool format. */
  format: string;
  /** How many walks are to be compared. */
  walks: number;
  seed: string;
  /** Runs this walk alone. */
  only?: number;
  /** Default: the larger one, and for one walk in eight the small one. */
  vocabulary?: BaseName;
  /** Walks with one request in a row. Default: 4. */
  run?: number;
}

export interface Failure {
  walk: number;
  mode: string;
  disagreements: Disagreement[];
  /** The whole output, added tokens by their texts. */
  output: string;
  request: unknown;
}

export interface AgreeResult {
  passed: number;
  failures: Failure[];
  /** Walks that reached the cap of tokens. */
  capped: number;
  /** Answers that the product itself refused: their schemas are held in part only. */
  unheld: number;
  /** Requests that were refused, by the reason. */
  refused: Map<string, number>;
  tokens: number;
  coverage: Coverage;
}

export async function agree(options: AgreeOptions): Promise<AgreeResult> {
  const { format, walks, seed, only, run = 4 } = options;
  const result: AgreeResult = {
    passed: 0,
    failures: [],
    capped: 0,
    unheld: 0,
    refused: new Map(),
    tokens: 0,
    coverage: new Coverage(),
  };
  const subjects = new Subjects(format, await hasOptionalMarkers(format), options.vocabulary ?? null);
  const walkOne = async (number: number) => {
    const round = Math.floor(number / run);
    await runWalk(await subjects.of(round), { seed, number, round }, result);
  };
  if (only !== undefined) await walkOne(only);
  else {
    // Walks that say nothing are made up for, unless hardly any says something.
    const isEnough = () => result.passed + result.failures.length >= walks;
    for (let number = 0; number < MOST * walks && !isEnough(); number++) await walkOne(number);
  }
  subjects.dispose();
  return result;
}

/** Walks that are tried, per walk that is wanted. */
const MOST = 2;

/** The vocabularies that a request's number chooses from. */
class Subjects {
  readonly #known = new Map<string, Subject>();
  readonly #format: string;
  readonly #hasOptional: boolean;
  readonly #vocabulary: BaseName | null;

  constructor(format: string, hasOptional: boolean, vocabulary: BaseName | null) {
    this.#format = format;
    this.#hasOptional = hasOptional;
    this.#vocabulary = vocabulary;
  }

  async of(round: number): Promise<Subject> {
    const base = this.#vocabulary ?? (round % 8 === 5 ? 'tiny' : 'qwen3');
    const areTokens = !(this.#hasOptional && round % 4 === 2);
    const key = `${base} ${areTokens}`;
    let subject = this.#known.get(key);
    if (!subject) {
      subject = await subjectOf(this.#format, base, areTokens);
      this.#known.set(key, subject);
    }
    return subject;
  }

  dispose(): void {
    for (const { constraints } of this.#known.values()) constraints.dispose();
  }
}

async function runWalk(
  subject: Subject,
  { seed, number, round }: { seed: string; number: number; round: number },
  result: AgreeResult,
): Promise<void> {
  const modes = modesOf(subject);
  // A step without a factor in common with the number of modes goes to all of them, and the first few differ.
  const mode = modes[(round * 5) % modes.length]!;
  const request = requestOf(subject, mode, new Random(`${seed}/${round}`));
  const fail = (disagreements: Disagreement[], ids: readonly number[]) =>
    result.failures.push({
      walk: number,
      mode: `${mode.calls} / ${mode.start}, ${subject.vocabulary.name}${subject.areTokens ? '' : ', markers spelled'}`,
      disagreements,
      output: ids.map((id) => subject.vocabulary.reader.text(id)).join(''),
      request: shown(request),
    });
  const ids: number[] = [];
  try {
    const make = await subject.constraints.prepare(request.job, request.promptIds);
    if (!make) throw new Error('The request has no constraint.');
    // Forced text is spelled by the tokenizer, or in any tokens.
    const constraint = make({ spellsForcedText: number % 3 === 0 });
    try {
      const walked = walk(subject, request, constraint, new Random(`${seed}/${number}/walk`), (id) =>
        ids.push(id),
      );
      result.tokens += ids.length;
      if (!walked) {
        result.capped++;
        return;
      }
      constraint.finish();
    } finally {
      constraint.dispose();
    }
    const { disagreements, choice } = await judge(subject, request, ids);
    if (disagreements.length > 0) fail(disagreements, ids);
    else {
      result.passed++;
      result.coverage.add(request, choice);
    }
  } catch (error) {
    if (error instanceof SchemaViolationError) {
      result.unheld++;
      return;
    }
    if (error instanceof BadRequestError) {
      const reason = `${error.code}: ${error.message}`;
      result.refused.set(reason, (result.refused.get(reason) ?? 0) + 1);
      return;
    }
    const got = error instanceof Error ? `${error.message}\n${error.stack}` : error;
    fail([{ field: 'exception', expected: 'none', got }], ids);
  }
}

const shown = ({ tools, content, named, thinkingTokenBudget }: WalkRequest) => ({
  tools,
  named,
  content,
  thinkingTokenBudget,
});
