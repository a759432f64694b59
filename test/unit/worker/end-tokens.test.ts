import { describe, expect, it } from 'vitest';
import { EndTokens } from '../../../worker/end-tokens.ts';

const width = 70;
/** Tokens that may come. */
const idsOf = (mask: Uint32Array | null) =>
  mask && Array.from({ length: width }, (_, id) => id).filter((id) => (mask[id >>> 5]! >>> (id & 31)) & 1);
const maskOf = (...ids: number[]) => {
  const mask = new Uint32Array(3);
  for (const id of ids) mask[id >>> 5]! |= 1 << (id & 31);
  return mask;
};

describe('tokens that end a choice', () => {
  it('are those of the model and those of the request', () => {
    const ends = new EndTokens({ eosTokenIds: [1, 69], stopTokenIds: [5] });
    expect([1, 5, 69, 2].map((id) => ends.ends(id))).toEqual([true, true, true, false]);
    expect(ends.mask(null, 0, width)).toBeNull();
  });

  it("are the request's alone where the model's are ignored", () => {
    const ends = new EndTokens({ eosTokenIds: [1], stopTokenIds: [5], ignoreEos: true, minTokens: 1 });
    expect([1, 5].map((id) => ends.ends(id))).toEqual([false, true]);
    expect(idsOf(ends.mask(null, 0, width))).toEqual(
      Array.from({ length: 70 }, (_, id) => id).filter((id) => id !== 5),
    );
  });

  it('may not come before there are enough others', () => {
    const ends = new EndTokens({ eosTokenIds: [1, 69, 400], stopTokenIds: [33], minTokens: 2 });
    const others = Array.from({ length: 70 }, (_, id) => id).filter((id) => ![1, 33, 69].includes(id));
    expect(idsOf(ends.mask(null, 0, width))).toEqual(others);
    expect(ends.mask(null, 2, width)).toBeNull();
    const grammar = maskOf(1, 2, 33, 68, 69);
    expect(idsOf(ends.mask(grammar, 1, width))).toEqual([2, 68]);
    expect(ends.mask(grammar, 2, width)).toBe(grammar);
    expect(idsOf(grammar)).toEqual([1, 2, 33, 68, 69]);
  });

  it('may come early where a grammar lets nothing else come', () => {
    const ends = new EndTokens({ eosTokenIds: [1, 69], minTokens: 5 });
    const over = maskOf(1, 69);
    // Behind the vocabulary: no tokens.
    over[2]! |= 0xffffffc0;
    expect(ends.mask(over, 0, width)).toBe(over);
  });
});
