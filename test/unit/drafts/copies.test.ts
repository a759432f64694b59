import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Copies, longestMatch } from '../../../worker/drafts/copies.ts';

const copiesOf = (ids: readonly number[]) => {
  const copies = new Copies();
  for (const id of ids) copies.add(id);
  return copies;
};

/** By looking at every place. */
function longest(ids: readonly number[]): { at: number; length: number } | null {
  let found: { at: number; length: number } | null = null;
  for (let at = ids.length - 1; at > 0; at--) {
    let length = 0;
    while (length < Math.min(at, longestMatch) && ids[at - 1 - length] === ids[ids.length - 1 - length]) {
      length++;
    }
    if (length > (found?.length ?? 0)) found = { at, length };
  }
  return found;
}

describe('copies', () => {
  it('goes on where the longest text before is the same, of equal ones the latest', () => {
    //                      0  1  2  3  4  5  6  7  8  9
    const copies = copiesOf([1, 2, 3, 4, 2, 3, 5, 1, 2, 3]);
    expect(copies.find()).toEqual({ at: 3, length: 3 });
    expect(copies.at(3)).toBe(4);
    // With a token more, nothing was the same.
    expect(copies.find([6])).toBeNull();
    expect(copies.find([6, 4])).toEqual({ at: 4, length: 1 });
    expect(copies.find([4, 2, 3])).toEqual({ at: 6, length: 6 });
    expect(copies.count).toBe(10);
    copies.add(5);
    expect(copies.find()).toEqual({ at: 7, length: 3 });
  });

  it('finds what looking at every place finds', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(5), { maxLength: 80 }),
        fc.array(fc.nat(5), { maxLength: 4 }),
        (ids, more) => {
          const found = copiesOf(ids).find(more);
          const all = [...ids, ...more];
          const right = longest(all);
          // What is only supposed to follow is no place to copy from.
          fc.pre(right === null || right.at < ids.length);
          const places = all.filter((id, at) => at > 0 && id === all.at(-1) && all[at - 1] === all.at(-2));
          if (places.length <= 16) expect(found).toEqual(right);
          if (!found) return;
          const before = all.slice(found.at - found.length, found.at);
          expect(before).toEqual(all.slice(all.length - found.length));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('does not look across a border, nor behind the end', () => {
    const copies = copiesOf([1, 2, 3]);
    copies.separate();
    for (const id of [9, 2, 3]) copies.add(id);
    // The 2 and 3 before are followed by the border.
    expect(copies.find()).toBeNull();
    copies.separate();
    for (const id of [4, 1, 2]) copies.add(id);
    expect(copies.find()).toEqual({ at: 2, length: 2 });
    expect([copies.at(2), copies.at(3), copies.at(99)]).toEqual([3, null, null]);
  });

  it('looks at the latest places only, and grows', () => {
    const copies = copiesOf([7, 8, 9, 1, 2, 3]);
    for (let index = 0; index < 5000; index++) {
      for (const id of [10 + index, 1, 2, 4]) copies.add(id);
    }
    for (const id of [7, 8, 9, 1, 2]) copies.add(id);
    // Five were the same in the beginning.
    expect(copies.find()).toEqual({ at: 6 + 4 * 4999 + 3, length: 2 });
    expect(copies.count).toBe(6 + 20_000 + 5);
  });
});
