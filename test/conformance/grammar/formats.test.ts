/** For each format: outputs that its grammars let a model write, and outputs that they do not. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { subjectOf } from '../../agreement/subject.ts';
import { type GrammarRequest, isAccepted, type Output, prepare, spellings } from './acceptance.ts';

interface GrammarCase extends GrammarRequest {
  id: string;
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
