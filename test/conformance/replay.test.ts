import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readCases } from './case.ts';
import { replay } from './replay.ts';

const folder = new URL('./cases/', import.meta.url);

for (const file of readdirSync(folder).sort()) {
  describe(file, () => {
    for (const test of readCases(readFileSync(new URL(file, folder), 'utf8'))) {
      it(`${test.id}: ${test.note ?? ''}`, async () => expect(await replay(test)).toEqual([]));
    }
  });
}
