import { describe, expect, it } from 'vitest';
import { kindsOf } from './kinds.ts';
import { replay } from './replay.ts';
import { WRITERS } from './writers.ts';

describe.each(WRITERS.map((writer) => [writer.tools, writer] as const))('%s', (_name, writer) => {
  it.each(kindsOf(writer).map((test) => [test.id, test] as const))('%s', async (_id, test) => {
    expect(await replay(test, { cuts: false })).toEqual([]);
  });
});
